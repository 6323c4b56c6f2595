// Each fault of the script language is used by at least one script in tests/scripts. A fault that
// is added here or to the language needs a script.
#include "runtime/simulation/script/parser.hpp"
#include "tests/support/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace fault_coverage_test {

using namespace hearth;
using namespace hearth::script;

namespace {

struct fault {
  const char* name;
  std::function<bool(const statement&)> is;
};

template <class T, class Is>
fault of(const char* name, Is is) {
  return {name, [is](const statement& one) {
            const auto* what = std::get_if<T>(&one.what);
            return what && is(*what);
          }};
}

// The fault that a statement of the language causes. Switches without a default give the names: the
// compiler reports a new enumerator without a name, and the test looks for each name in the
// scripts.

using redis_kind = simulation::redis_behavior::kind;
using compiler_outcome = simulation::compiler_rule::outcome;

const char* name_of(redis_kind what) {
  switch (what) {
  case redis_kind::well: return "the remote is well again";
  case redis_kind::refuses: return "the remote refuses";
  case redis_kind::untrusted: return "the remote shows a wrong certificate";
  case redis_kind::stalls: return "the remote stalls";
  case redis_kind::slow: return "the remote is slow";
  case redis_kind::cuts: return "the remote cuts off";
  case redis_kind::garbles: return "the remote answers garbage";
  case redis_kind::errors: return "the remote answers errors";
  }
  return nullptr;
}

const char* name_of(remote_change what) {
  switch (what) {
  case remote_change::forget: return "the remote forgets an entry";
  case remote_change::forget_all: return "the remote starts empty";
  case remote_change::flip: return "an entry of the remote is flipped";
  case remote_change::swap: return "an entry of the remote is another's";
  case remote_change::list: return "an entry of the remote has the wrong type";
  case remote_change::lease: return "a lease of the remote has no expiry";
  case remote_change::keep: return "an entry of the remote is somebody else's";
  case remote_change::save: return "the remote saves what it has";
  case remote_change::restart: return "the remote starts with what it saved";
  }
  return nullptr;
}

const char* name_of(cluster_event what) {
  switch (what) {
  case cluster_event::fail_over: return "a replica leads";
  case cluster_event::move: return "slots move";
  case cluster_event::split: return "a cluster is split";
  case cluster_event::stop_minority: return "a master that is apart stops";
  case cluster_event::join: return "a split ends";
  }
  return nullptr;
}

const char* name_of(disk_trouble what) {
  switch (what) {
  case disk_trouble::fails: return "calls of the disk fail";
  case disk_trouble::heals: return "the disk is well again";
  case disk_trouble::fills: return "the disk is full";
  case disk_trouble::short_writes: return "short writes";
  case disk_trouble::loses_writes: return "lost writes";
  case disk_trouble::lies: return "a disk that lies about syncs";
  case disk_trouble::is_honest: return "a disk that is honest again";
  }
  return nullptr;
}

const char* name_of(file_damage what) {
  switch (what) {
  case file_damage::damage: return "an entry on disk is damaged";
  case file_damage::flip: return "a file is flipped";
  case file_damage::cut: return "a file is cut";
  case file_damage::remove: return "a file is removed";
  }
  return nullptr;
}

const char* name_of(compiler_outcome how) {
  switch (how) {
  case compiler_outcome::makes: return "a compiler makes its output";
  case compiler_outcome::fails: return "a compiler fails";
  case compiler_outcome::crashes: return "a compiler crashes";
  case compiler_outcome::hangs: return "a compiler hangs";
  case compiler_outcome::forgets: return "a compiler writes nothing";
  case compiler_outcome::missing: return "a compiler cannot be started";
  }
  return nullptr;
}

const char* name_of(trial_status status) {
  switch (status) {
  case trial_status::good: return "a kernel is good";
  case trial_status::wrong: return "a kernel is wrong";
  case trial_status::crashed: return "a kernel crashes";
  case trial_status::hung: return "a kernel hangs";
  case trial_status::unfit: return "a kernel cannot be tried";
  case trial_status::not_run: return "a trial cannot be run";
  }
  return nullptr;
}

const char* name_of(lifecycle_event what) {
  switch (what) {
  case lifecycle_event::crash: return "a client, process or host dies";
  case lifecycle_event::start: return "a process is started again";
  case lifecycle_event::stop: return "a process is shut down";
  case lifecycle_event::lose_power: return "the power is lost";
  case lifecycle_event::flush: return "a store is flushed";
  }
  return nullptr;
}

// Adds one fault for each enumerator; `matches` tells whether a T causes it.
template <class T, class Enum, class Matches>
void add_each(std::vector<fault>& all, Matches matches) {
  static_assert(std::is_same_v<std::underlying_type_t<Enum>, std::uint8_t>);
  for (unsigned number = 0; name_of(static_cast<Enum>(number)); ++number) {
    const auto one = static_cast<Enum>(number);
    all.push_back(of<T>(name_of(one), [=](const T& what) { return matches(what, one); }));
  }
}

fault disk_error(const char* name, std::set<int> errors) {
  return of<trouble_disk>(name, [errors](const auto& one) {
    return one.what == disk_trouble::fails && errors.contains(one.fault.error);
  });
}

std::vector<fault> all_faults() {
  std::vector<fault> all{
      disk_error("no room for a call", {ENOSPC}),
      disk_error("the quota is used up", {EDQUOT}),
      disk_error("the disk is read-only", {EROFS}),
      disk_error("no permission", {EACCES, EPERM}),
      disk_error("an I/O error", {EIO}),
      disk_error("too many files", {EMFILE, ENFILE}),
      disk_error("a file system without locks", {ENOLCK}),
      of<process_fault>("an actor dies",
                        [](const auto& one) {
                          return one.what == lifecycle_event::crash && one.actor.has_value();
                        }),
      of<stall>("an actor is slow", [](const auto&) { return true; }),
  };
  const auto does = [](const auto& one, auto what) { return one.what == what; };
  add_each<trouble_disk, disk_trouble>(all, does);
  add_each<file_fault, file_damage>(all, does);
  add_each<change_remote, remote_change>(all, does);
  add_each<change_cluster, cluster_event>(all, does);
  add_each<process_fault, lifecycle_event>(
      all, [](const auto& one, auto what) { return one.what == what && !one.actor; });
  // Each also by one node of a cluster alone.
  for (const bool is_of_node : {false, true})
    add_each<behave_remote, redis_kind>(all, [is_of_node](const auto& one, auto what) {
      return one.behavior.what == what && one.node.has_value() == is_of_node;
    });
  all.push_back(of<change_remote>("a node starts empty", [](const auto& one) {
    return one.what == remote_change::forget_all && one.node.has_value();
  }));
  all.push_back(of<change_cluster>("a replica leads that lacks what is recent",
                                   [](const auto& one) { return one.loses_what_is_recent; }));
  add_each<instruct_compiler, compiler_outcome>(all, [](const auto& one, auto how) {
    const auto* rule = std::get_if<simulation::compiler_rule>(&one.rule);
    return rule && rule->how == how;
  });
  add_each<instruct_compiler, trial_status>(all, [](const auto& one, auto status) {
    const auto* rule = std::get_if<simulation::trial_rule>(&one.rule);
    return rule && rule->result.status == status;
  });
  return all;
}

std::vector<statement> statements_of_all_scripts() {
  std::vector<statement> all;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(HEARTH_SOURCE_DIR) / "tests" / "scripts")) {
    const auto parsed = parse(entry.path().filename(), test::file_text(entry.path()));
    REQUIRE_MESSAGE(parsed, parsed.error().text());
    for (const auto& one : parsed->statements) {
      all.push_back(one);
      if (const auto* perhaps = std::get_if<maybe>(&one.what)) all.push_back(*perhaps->what);
    }
  }
  return all;
}

} // namespace

TEST_CASE("every fault that a script can cause is caused by some script") {
  const auto statements = statements_of_all_scripts();
  const auto faults = all_faults();
  CHECK(faults.size() > 40);
  for (const auto& one : faults) {
    CAPTURE(std::string(one.name));
    CHECK(std::any_of(statements.begin(), statements.end(), one.is));
  }
}

} // namespace fault_coverage_test
