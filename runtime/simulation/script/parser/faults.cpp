#include "runtime/simulation/script/parser/arguments.hpp"
#include "runtime/simulation/script/parser/parts.hpp"
#include "runtime/simulation/script/remote_options.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <utility>

namespace hearth::script {
namespace {

const std::map<std::string, int, std::less<>>& error_numbers() {
  static const std::map<std::string, int, std::less<>> numbers{
      {"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EROFS", EROFS},   {"EACCES", EACCES},
      {"EPERM", EPERM},   {"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"EDQUOT", EDQUOT},
      {"ENOMEM", ENOMEM}, {"ENOLCK", ENOLCK}, {"EINTR", EINTR},   {"ENOENT", ENOENT}};
  return numbers;
}

void parse_disk_fault(line_reader& in, trouble_disk& made) {
  made.what = disk_trouble::fails;
  const auto call = storage::disk_call_named(in.peek_word());
  if (!call) in.fail("open, read, write, allocate, sync, map, rename, remove or lock");
  made.call = *call;
  in.take_word("");
  const auto number = error_numbers().find(in.peek_word());
  if (number == error_numbers().end()) in.fail("an errno, as ENOSPC or EIO");
  made.fault.error = number->second;
  in.take_word("");
  if (in.accept("after")) made.fault.after = in.take_number("a number of calls");
  if (in.accept("times")) made.fault.times = in.take_number("a number of calls");
}

statement_body parse_file_fault(line_reader& in, scope& names, file_damage what,
                                std::string_view number) {
  file_fault made{what, names.take_host(in), {}, {}, 0};
  made.path = in.take_string("a path below the store, as \"v1/shards/00/head\"");
  if (!number.empty()) made.at = in.take_size(number);
  return made;
}

void parse_kept_entry(line_reader& in, change_remote& made) {
  made.what = remote_change::keep;
  made.is_forged = in.accept("forged");
  if (made.is_forged || in.accept("signed"))
    made.signer = in.take_name("the id of a signing key");
  else
    in.expect_word("unsigned");
  made.key = take_key(in);
  made.bytes = in.take_string("the entry's bytes");
}

statement_body parse_remote_change(line_reader& in, const std::string& name,
                                   std::optional<std::size_t> node) {
  const auto column = in.column();
  change_remote made{name, node, remote_change::forget, {}, {}, {}, false, {}};
  if (in.accept("loses")) {
    in.expect_word("all");
    made.what = remote_change::forget_all;
  } else if (in.accept("saves")) {
    made.what = remote_change::save;
  } else if (in.accept("restarts")) {
    made.what = remote_change::restart;
  } else if (in.accept("forgets")) {
    made.key = take_key(in);
  } else if (in.accept("flips")) {
    made.what = remote_change::flip;
    made.key = take_key(in);
  } else if (in.accept("swaps")) {
    made.what = remote_change::swap;
    made.key = take_key(in);
    made.other = take_key(in);
  } else if (in.accept("lists")) {
    made.what = remote_change::list;
    made.key = take_key(in);
  } else if (in.accept("leases")) {
    made.what = remote_change::lease;
    made.key = take_key(in);
  } else if (in.accept("keeps")) {
    parse_kept_entry(in, made);
  } else {
    in.fail("heals, refuses, distrusts, stalls, slow, cuts, garbles, errors, loses, saves, "
            "restarts, forgets, flips, swaps, lists, leases or keeps");
  }
  if (node && !is_of_server(made.what))
    in.fail_at(column, "expected the cluster without a node: an entry is where its slot is");
  return made;
}

std::size_t take_group(line_reader& in, const scope& names, const std::string& cluster) {
  const auto column = in.column();
  const auto groups = names.clusters.at(cluster) / simulation::simulated_cluster::nodes_of_group;
  const auto group = in.take_number("the number of a group");
  if (group >= groups)
    in.fail_at(column, "expected one of the groups 0 to " + std::to_string(groups - 1) + " of " +
                           cluster + ", got " + std::to_string(group));
  return group;
}

statement_body parse_new_cluster(line_reader& in, scope& names) {
  add_cluster made;
  made.name = names.take_new(in, "a name for the cluster");
  const auto column = in.column();
  if (!in.at_end()) {
    const auto word = in.take_word("groups=N");
    const auto groups = word.starts_with("groups=") ? size_of(word.substr(7)) : std::nullopt;
    if (!groups || *groups == 0 || *groups > simulation::simulated_cluster::parts)
      in.fail_at(column, "expected groups=N (1 to 16), got '" + word + "'");
    made.groups = *groups;
  }
  names.clusters[made.name] = made.groups * simulation::simulated_cluster::nodes_of_group;
  return made;
}

template <class Outcome, std::size_t N>
Outcome take_outcome(line_reader& in,
                     const std::array<std::pair<std::string_view, Outcome>, N>& words,
                     std::string_view what) {
  const auto* found = std::find_if(words.begin(), words.end(),
                                   [&](const auto& one) { return in.accept(one.first); });
  if (found == words.end()) in.fail(what);
  return found->second;
}

// Parses how a host's disk handles syncs.
statement_body parse_host_disk(line_reader& in) {
  trouble_disk made{};
  made.name = in.take_word("");
  if (in.accept("lies")) {
    made.what = disk_trouble::lies;
  } else if (in.accept("is")) {
    in.expect_word("honest");
    made.what = disk_trouble::is_honest;
  } else {
    in.fail("lies or is honest");
  }
  return made;
}

} // namespace

statement_body parse_crash(line_reader& in, scope& names) {
  process_fault made{lifecycle_event::crash, {}, std::nullopt};
  const auto word = in.peek_word();
  const auto name = std::string(word);
  if (word.find('.') != std::string_view::npos) {
    actor_kind kind{};
    made.actor = names.take_actor(in, kind);
    if (!made.actor->index) made.actor->index = 0;
  } else if (names.hosts.contains(name) || names.processes.contains(name) ||
             names.clients.contains(name)) {
    made.name = in.take_word("");
  } else {
    in.fail("the name of a host, process, client or actor");
  }
  return made;
}

statement_body parse_start(line_reader& in, scope& names) {
  return process_fault{lifecycle_event::start, names.take_process(in), std::nullopt};
}

statement_body parse_stop(line_reader& in, scope& names) {
  return process_fault{lifecycle_event::stop, names.take_process(in), std::nullopt};
}

statement_body parse_flush(line_reader& in, scope& names) {
  return process_fault{lifecycle_event::flush, names.take_process(in), std::nullopt};
}

statement_body parse_power(line_reader& in, scope& names) {
  in.expect_word("loss");
  return process_fault{lifecycle_event::lose_power, names.take_host(in), std::nullopt};
}

statement_body parse_disk(line_reader& in, scope& names) {
  if (names.hosts.contains(std::string(in.peek_word()))) return parse_host_disk(in);
  trouble_disk made{};
  made.name = names.take_process(in);
  if (in.accept("heals")) {
    made.what = disk_trouble::heals;
  } else if (in.accept("fills")) {
    made.what = disk_trouble::fills;
  } else if (in.accept("writes")) {
    in.expect_word("short");
    made.what = disk_trouble::short_writes;
    made.count = in.take_number("a number of bytes");
  } else if (in.accept("loses")) {
    made.what = disk_trouble::loses_writes;
    made.count = in.take_number("a number of writes");
  } else if (in.accept("fails")) {
    parse_disk_fault(in, made);
  } else {
    in.fail("fails, fills, heals, writes short or loses");
  }
  return made;
}

statement_body parse_damage(line_reader& in, scope& names) {
  file_fault made{file_damage::damage, names.take_host(in), {}, {}, 0};
  made.key = take_key(in);
  return made;
}

statement_body parse_flip(line_reader& in, scope& names) {
  return parse_file_fault(in, names, file_damage::flip, "the offset of a byte");
}

statement_body parse_cut(line_reader& in, scope& names) {
  return parse_file_fault(in, names, file_damage::cut, "a length in bytes");
}

statement_body parse_remove(line_reader& in, scope& names) {
  return parse_file_fault(in, names, file_damage::remove, "");
}

statement_body parse_remote(line_reader& in, scope& names) {
  auto name = std::string(in.peek_word());
  if (name.find('[') == std::string::npos && !names.has_server(name)) {
    names.remotes.insert(names.take_new(in, "a name for the remote server"));
    return add_remote{name};
  }
  const auto column = in.column();
  in.take_word("");
  const auto node = names.take_node(in, column, name);
  if (const auto behavior = accept_behavior(in)) return behave_remote{name, node, *behavior};
  return parse_remote_change(in, name, node);
}

statement_body parse_cluster(line_reader& in, scope& names) {
  const auto name = std::string(in.peek_word());
  if (!names.clusters.contains(name)) return parse_new_cluster(in, names);
  in.take_word("");
  change_cluster made{name, cluster_event::join, 0, false, {}, {}};
  if (in.accept("fails")) {
    in.expect_word("over");
    made.what = cluster_event::fail_over;
    made.group = take_group(in, names, name);
    if (in.accept("losing")) {
      in.expect_word("recent");
      made.loses_what_is_recent = true;
    }
  } else if (in.accept("moves")) {
    made.what = cluster_event::move;
    made.key = take_key(in);
    in.expect_word("to");
    made.group = take_group(in, names, name);
  } else if (in.accept("splits")) {
    made.what = cluster_event::split;
    made.group = take_group(in, names, name);
    if (in.accept("with"))
      while (!in.at_end())
        made.processes.push_back(names.take_process(in));
  } else if (in.accept("stops")) {
    in.expect_word("minority");
    made.what = cluster_event::stop_minority;
  } else if (!in.accept("joins")) {
    in.fail("fails over, moves, splits, stops minority or joins");
  }
  return made;
}

statement_body parse_compiler(line_reader& in, scope& names) {
  instruct_compiler made;
  made.process = names.take_process(in);
  simulation::compiler_rule rule;
  rule.label = in.take_string("a pattern over labels, as \"matmul*\"");
  using how = simulation::compiler_rule::outcome;
  const std::array<std::pair<std::string_view, how>, 6> outcomes{{{"makes", how::makes},
                                                                  {"fails", how::fails},
                                                                  {"crashes", how::crashes},
                                                                  {"hangs", how::hangs},
                                                                  {"forgets", how::forgets},
                                                                  {"missing", how::missing}}};
  rule.how = take_outcome(in, outcomes, "makes, fails, crashes, hangs, forgets or missing");
  if (in.at_string()) rule.text = in.take_string("");
  if (in.accept("in"))
    rule.takes =
        std::chrono::duration_cast<std::chrono::milliseconds>(in.take_duration("a time, as 50ms"));
  made.rule = std::move(rule);
  return made;
}

statement_body parse_trial(line_reader& in, scope& names) {
  instruct_compiler made;
  made.process = names.take_process(in);
  simulation::trial_rule rule;
  rule.library = in.take_string("a pattern over shared objects, as \"object of matmul*\"");
  const std::array<std::pair<std::string_view, trial_status>, 6> outcomes{
      {{"good", trial_status::good},
       {"wrong", trial_status::wrong},
       {"crashed", trial_status::crashed},
       {"hung", trial_status::hung},
       {"unfit", trial_status::unfit},
       {"not_run", trial_status::not_run}}};
  rule.result.status = take_outcome(in, outcomes, "good, wrong, crashed, hung, unfit or not_run");
  if (rule.result.status == trial_status::good)
    rule.result.time_ns = in.take_duration("the time of one call, as 5us").count();
  else
    rule.result.reason = in.take_string("the reason");
  made.rule = std::move(rule);
  return made;
}

} // namespace hearth::script
