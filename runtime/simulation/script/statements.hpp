// The statements of a script. Plain values; docs/scripts.md describes the language.
#pragma once

#include "runtime/simulation/message_table.hpp"
#include "runtime/simulation/process_files.hpp"
#include "runtime/simulation/simulated_compiler.hpp"
#include "runtime/simulation/simulated_process.hpp"
#include "runtime/simulation/simulated_redis.hpp"
#include "runtime/simulation/world.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hearth::script {

using simulation::actor_kind;
using simulation::parameter;

/// The time limit of the statement `settle` when it names none.
constexpr std::chrono::seconds max_idle_wait{60};

/// A duration, or a range of which the seed chooses one.
struct time_range {
  std::chrono::nanoseconds least{};
  std::chrono::nanoseconds most{};
};

/// A part of a process, a host or a server: `a.memory[0]`, `a.store`.
struct place {
  std::string owner;
  std::string part; ///< "memory", "store", "log", ...
  std::optional<std::size_t> index;
  std::optional<std::size_t> node{}; ///< of a cluster: `fleet[2].server`
};

struct key_name {
  std::string cache;
  std::string version = "0";
  key k = key("");
};

// The arguments of a message, as far as they are known before the script runs.
struct answer_number {
  std::string answer; ///< the answer that returned the lease or number
};
struct epoch_number {
  bool is_stale = false; ///< an earlier epoch than the present one of the key's disk shard
};
struct answer_notes {
  std::string answer; ///< the answer that returned the session
};
struct tuning_place {
  key_name local;
  std::optional<key_name> remote;
};
struct cache_name {
  std::string name;
};
struct tuning {
  key_name key;
  tune_mode mode = tune_mode::full;
  std::optional<answer_notes> notes;
  std::string guard;
  hints sizes;
  std::vector<std::string> configs; ///< "TILE=16"
};
using key_names = std::vector<key_name>;
using spoken_argument = std::variant<simulation::argument, key_name, answer_number, answer_notes,
                                     epoch_number, tuning_place, cache_name, tuning, key_names>;

// --- setup
struct add_host {
  std::string name;
};
struct add_process {
  std::string name, host;
  simulation::process_options options;
};
struct add_client {
  std::string name, process;
};
struct use_cache {
  std::string name, version;
  simulation::cache_use use;
};
struct add_remote {
  std::string name;
};
struct add_cluster {
  std::string name;
  std::size_t groups = 3;
};

// --- messages
struct send_message {
  std::string client;
  const simulation::message_row* row;
  place to;
  std::vector<spoken_argument> arguments;
  std::string label; ///< the name of its answer
};

// --- steps
struct deliver {
  std::uint64_t count; ///< ~0: all
  std::optional<place> to;
  std::string until; ///< name of an answer, or empty
};
struct run_until_idle {
  std::chrono::nanoseconds within;
};
/// Whether every sent message is followed by an implicit `run_until_idle`.
struct set_auto_run {
  bool always;
};
struct pass_time {
  time_range time;
  bool delivers; ///< run: messages are delivered meanwhile; advance: they are not
};
struct stall {
  place who; ///< without a part: the whole process
  time_range time;
};
struct set_order {
  bool open;
};
struct set_limit {
  std::uint64_t steps;           ///< 0: unchanged
  std::chrono::nanoseconds time; ///< 0: unchanged
};
struct forget_trace {};

// --- faults
enum class lifecycle_event : std::uint8_t { crash, start, stop, lose_power, flush };
struct process_fault {
  lifecycle_event what;
  std::string name;
  std::optional<place> actor; ///< crash: one actor
};
enum class disk_trouble : std::uint8_t {
  fails,
  heals,
  fills,
  short_writes,
  loses_writes,
  lies,
  is_honest
};
struct trouble_disk {
  std::string name; ///< a process; lies, is_honest: a host
  disk_trouble what;
  simulation::disk_call call{};
  simulation::disk_fault fault;
  std::uint64_t count = 0;
};
enum class file_damage : std::uint8_t { damage, flip, cut, remove };
struct file_fault {
  file_damage what;
  std::string host;
  std::string path; ///< a pattern; empty for damage
  key_name key;     ///< only for damage
  std::uint64_t at = 0;
};
struct behave_remote {
  std::string name;
  std::optional<std::size_t> node; ///< of a cluster; none: each
  simulation::redis_behavior behavior;
};
enum class remote_change : std::uint8_t {
  forget,
  forget_all,
  flip,
  swap,
  list,
  keep,
  lease,
  save,   ///< to its disk
  restart ///< with what it saved last
};
/// Whether a node of a cluster may be named.
constexpr bool is_of_server(remote_change what) {
  return what == remote_change::forget_all || what == remote_change::save ||
         what == remote_change::restart;
}
/// A change to what a remote server has; to one entry by another machine.
struct change_remote {
  std::string name;
  std::optional<std::size_t> node; ///< of a cluster, where that may be named; none: each
  remote_change what;
  key_name key, other;               ///< swap uses both
  std::optional<std::string> signer; ///< keep: the id of its signing key; none: unsigned
  bool is_forged = false;            ///< keep: signed with that id and a wrong secret
  std::string bytes;                 ///< keep: the payload
};
enum class cluster_event : std::uint8_t { fail_over, move, split, stop_minority, join };
struct change_cluster {
  std::string name;
  cluster_event what;
  std::size_t group = 0;              ///< fail_over, move, split
  bool loses_what_is_recent = false;  ///< fail_over
  key_name key;                       ///< move
  std::vector<std::string> processes; ///< split: with the group's master
};
struct instruct_compiler {
  std::string process;
  std::variant<simulation::compiler_rule, simulation::trial_rule> rule;
};

// --- expectations
struct expect_answer {
  std::string label;
  std::vector<std::string> patterns; ///< one of them has to match
};
struct expect_figure {
  place of;
  std::string figure;
  std::string relation; ///< =, !=, <, <=, >, >=
  std::uint64_t number;
};
struct expect_trace {
  std::vector<std::string> patterns;
  bool forbidden = false; ///< none of them may match
};
struct expect_log {
  std::string process;
  std::string pattern;
  bool forbidden = false;
};
struct expect_all_answered {};
struct expect_intact {
  std::string process;
};

struct statement;
/// A statement that is carried out or not, depending on the seed.
struct maybe {
  std::shared_ptr<const statement> what;
};

struct statement {
  int line = 0;
  std::string source; ///< the line's text, for messages
  std::variant<add_host, add_remote, add_cluster, add_process, add_client, use_cache, send_message,
               deliver, run_until_idle, set_auto_run, pass_time, stall, set_order, set_limit,
               forget_trace, process_fault, trouble_disk, file_fault, behave_remote, change_remote,
               change_cluster, instruct_compiler, expect_answer, expect_figure, expect_trace,
               expect_log, expect_all_answered, expect_intact, maybe>
      what;
};

/// A whole script.
struct program {
  std::string file;
  std::vector<statement> statements;
};

} // namespace hearth::script
