// Carries out one script: a world of simulated processes, and what the statements did to it. Its
// member functions are in one file for each kind of statement. Used on one thread.
#pragma once

#include "runtime/simulation/script/interpreter.hpp"
#include "runtime/simulation/text.hpp"
#include "runtime/simulation/wildcards.hpp"
#include "runtime/simulation/world.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::script {

/// Thrown by a statement that cannot be carried out or does not hold; `interpreter::run` reports
/// it.
struct failed {
  std::string expected;
  std::string got;
};

class interpreter {
public:
  interpreter(const program& script, const run_options& options);
  /// Carries out all statements, until one fails.
  run_result run();

private:
  struct question {
    std::string label, client;
    simulation::answer_ptr slot;
    bool is_expected = false; ///< whether an expectation was about the answer
  };

  void carry_out(const statement& one);
  std::string report(const statement& one, const failed& why) const;

  // setup.cpp
  simulation::simulated_process& process(const std::string& name);
  simulation::simulated_process& running(const std::string& name);
  void run(const add_host& what);
  void run(const add_remote& what);
  void run(const add_cluster& what);
  void run(const add_process& what);
  void run(const add_client& what);
  void run(const use_cache& what);
  cache_key key_of(const key_name& name);
  key_list keys_of(const key_names& names);

  // messages.cpp
  simulation::argument resolve(const spoken_argument& spoken, const cache_key* before,
                               simulation::simulated_process& of);
  tuning_notes notes_of(const answer_notes& what);
  static std::string text_of_key(const key& k);
  autotune_address address_of(const tuning_place& where);
  tune_request_ptr tune_request_of(const tuning& what);
  simulation::answer_slot& answer(const std::string& label);
  void run(const send_message& what);
  static void begin_promotion(simulation::simulated_process& to, const cache_key& key);
  caf::actor actor_of(const place& where, simulation::simulated_process& of, const cache_key* key);

  // steps.cpp
  void check_limits();
  bool deliver_one();
  void deliver_in_time();
  void lag();
  bool pass_to_next_event(std::chrono::nanoseconds until);
  void run(const deliver& what);
  bool deliver_to(const place& where);
  bool all_answered() const;
  void run(const run_until_idle& what);
  void run(const set_auto_run& what);
  void run(const pass_time& what);
  std::chrono::nanoseconds chosen(const time_range& range);
  void run(const stall& what);
  void run(const set_order& what);
  void run(const set_limit& what);
  void run(const forget_trace&);
  void run(const maybe& what);

  // faults.cpp
  void run(const process_fault& what);
  void start(simulation::simulated_process& one);
  void forget_questions_of(const std::string& client);
  void forget_dead_clients_of(const std::string& name);
  void forget_dead_clients_of_host(const std::string& host);
  void crash(const process_fault& what);
  void run(const trouble_disk& what);
  void run(const file_fault& what);
  static void change(const simulation::inode& file, const file_fault& what);
  static void damage(simulation::virtual_disk& disk, const cache_key& key);
  void run(const behave_remote& what);
  void run(const change_remote& what);
  static void change(simulation::simulated_redis& server, remote_change what);
  void run(const change_cluster& what);
  std::string& stored(const std::string& server, const key_name& name);
  static void flip(std::string& bytes);
  static std::string kept_bytes(const cache_key& key, const change_remote& what);
  void run(const instruct_compiler& what);

  // expectations.cpp
  void run(const expect_answer& what);
  void expect_no_other_errors() const;
  std::uint64_t figure_of(const expect_figure& what);
  std::uint64_t host_figure(const expect_figure& what);
  static std::uint64_t process_figure(const expect_figure& what, simulation::simulated_process& of);
  std::uint64_t server_figure(const expect_figure& what);
  std::uint64_t disk_figure(const expect_figure& what);
  void run(const expect_figure& what);
  static std::string_view event_of(std::string_view line);
  void run(const expect_trace& what);
  void run(const expect_log& what);
  void run(const expect_all_answered&);
  void run(const expect_intact& what);

  const program& script_;
  simulation::random_source random_;
  const bool is_seeded_;
  bool is_open_ = true;
  bool runs_until_idle_ = false;
  std::vector<std::string> trace_; // before the world, which writes to it until its end
  simulation::world world_;
  std::map<std::string, simulation::answer_ptr> answers_;
  std::vector<question> asked_; // questions of living clients
  std::size_t trace_from_ = 0;
  std::uint64_t max_steps_ = 200'000;
  std::chrono::nanoseconds max_time_ = std::chrono::minutes(60);
};

} // namespace hearth::script
