// Each fault that a script can bring about, of those in the table of what goes wrong, has a script
// that brings it about: a fault that is added here or to the language needs one.
#include "runtime/simulation/script/parser.hpp"
#include "tests/support/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
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

fault remote(const char* name, simulation::redis_behavior::kind kind) {
  return of<behave_remote>(name, [kind](const auto& one) { return one.behavior.what == kind; });
}

fault disk_error(const char* name, std::set<int> errors) {
  return of<trouble_disk>(name, [errors](const auto& one) {
    return one.what == disk_trouble::fails && errors.contains(one.fault.error);
  });
}

fault disk(const char* name, disk_trouble what) {
  return of<trouble_disk>(name, [what](const auto& one) { return one.what == what; });
}

fault file(const char* name, file_damage what) {
  return of<file_fault>(name, [what](const auto& one) { return one.what == what; });
}

fault entry(const char* name, remote_change what) {
  return of<change_remote>(name, [what](const auto& one) { return one.what == what; });
}

fault compiler(const char* name, simulation::compiler_rule::outcome how) {
  return of<instruct_compiler>(name, [how](const auto& one) {
    const auto* rule = std::get_if<simulation::compiler_rule>(&one.rule);
    return rule && rule->how == how;
  });
}

fault trial(const char* name, trial_status status) {
  return of<instruct_compiler>(name, [status](const auto& one) {
    const auto* rule = std::get_if<simulation::trial_rule>(&one.rule);
    return rule && rule->result.status == status;
  });
}

fault process_faulted(const char* name, lifecycle_event what) {
  return of<process_fault>(name,
                           [what](const auto& one) { return one.what == what && !one.actor; });
}

std::vector<fault> all_faults() {
  using kind = simulation::redis_behavior::kind;
  using outcome = simulation::compiler_rule::outcome;
  return {
      remote("the remote refuses", kind::refuses),
      remote("the remote stalls", kind::stalls),
      remote("the remote is slow", kind::slow),
      remote("the remote cuts off", kind::cuts),
      remote("the remote answers garbage", kind::garbles),
      remote("the remote shows a wrong certificate", kind::untrusted),
      remote("the remote answers errors", kind::errors),
      entry("the remote forgets an entry", remote_change::forget),
      entry("the remote starts empty", remote_change::forget_all),
      entry("an entry of the remote is flipped", remote_change::flip),
      entry("an entry of the remote is another's", remote_change::swap),
      entry("an entry of the remote has the wrong type", remote_change::list),
      entry("an entry of the remote is somebody else's", remote_change::keep),
      disk("the disk is full", disk_trouble::fills),
      disk_error("no room for a call", {ENOSPC}),
      disk_error("the quota is used up", {EDQUOT}),
      disk_error("the disk is read-only", {EROFS}),
      disk_error("no permission", {EACCES, EPERM}),
      disk_error("an I/O error", {EIO}),
      disk_error("too many files", {EMFILE, ENFILE}),
      disk("short writes", disk_trouble::short_writes),
      disk("lost writes", disk_trouble::loses_writes),
      disk("a disk that lies about syncs", disk_trouble::lies),
      file("an entry on disk is damaged", file_damage::damage),
      file("a file is flipped", file_damage::flip),
      file("a file is cut", file_damage::cut),
      file("a file is removed", file_damage::remove),
      disk_error("a file system without locks", {ENOLCK}),
      compiler("a compiler fails", outcome::fails),
      compiler("a compiler crashes", outcome::crashes),
      compiler("a compiler hangs", outcome::hangs),
      compiler("a compiler writes nothing", outcome::forgets),
      compiler("a compiler cannot be started", outcome::missing),
      trial("a kernel is wrong", trial_status::wrong),
      trial("a kernel crashes", trial_status::crashed),
      trial("a kernel hangs", trial_status::hung),
      process_faulted("a client, process or host dies", lifecycle_event::crash),
      of<process_fault>("an actor dies",
                        [](const auto& one) {
                          return one.what == lifecycle_event::crash && one.actor.has_value();
                        }),
      process_faulted("the power is lost", lifecycle_event::lose_power),
      process_faulted("a process is shut down", lifecycle_event::stop),
      of<stall>("an actor is slow", [](const auto&) { return true; }),
  };
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

TEST_CASE("every fault that a script can bring about is brought about by some script") {
  const auto statements = statements_of_all_scripts();
  for (const auto& one : all_faults()) {
    CAPTURE(std::string(one.name));
    CHECK(std::any_of(statements.begin(), statements.end(), one.is));
  }
}

} // namespace fault_coverage_test
