// One simulated run: the world of a seed, its clients' random work, its faults, and the checks.
//
// One thread. run.cpp sets the world up and lets its time pass; plain_work.cpp and compile_work.cpp
// have the work of clients; faults.cpp has the faults, remote.cpp the server that hosts share,
// tree_work.cpp the nested trees, bundle_work.cpp the bundles of tunings, kernel_work.cpp the
// kernels, recorder_work.cpp the recordings, file_work.cpp compiles that read files, leases.cpp the
// leases of clients, purges.cpp what hosts replace and remove on each other; checks.cpp has the
// checks during the run and at its end.
#pragma once

#include "messages/recording.hpp"
#include "runtime/simulation/guarded_history.hpp"
#include "runtime/simulation/history.hpp"
#include "runtime/simulation/member_history.hpp"
#include "runtime/simulation/simulated_files.hpp"
#include "runtime/simulation/simulator/simulator.hpp"
#include "runtime/simulation/world.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::simulation {

/// The name of the server, or the cluster, that hosts share.
inline constexpr const char* shared_server = "redis";
inline constexpr const char* farther_server = "farther"; // behind it

/// How a server in trouble behaves.
redis_behavior any_behavior(random_source& random);

inline constexpr std::uint64_t max_steps = 2'000'000;
/// How long clients wait for a lease whose holder never ends.
inline constexpr std::chrono::seconds patience_of_processes{20};
/// The time of a lease of the fleet.
inline constexpr std::chrono::milliseconds lease_time{10'000};
inline constexpr std::int64_t max_m = 8; ///< largest value of the symbol in guards

/// How a seed uses the keys. In a tight world entries are evicted, so that a miss is no violation.
struct key_state {
  cache_key key;
  bool is_mutable = false; ///< the key is put and erased; others are only inserted
};

/// What a client noted in a recording, and the check of what the recorder answers.
struct recording_model {
  std::uint64_t number = 0;
  recording_limits limits;
  /// By type and key: the values, in order.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> noted;
  std::uint64_t bytes = 0; ///< of all values and their keys

  bool may_leave_out() const;
  std::string judge(const recording& ended) const;
};

/// The state of one client.
struct worker_state {
  std::string name, process, host;
  client* self = nullptr;
  std::uint64_t life = 0; ///< increased when it dies, so that late answers are ignored
  bool waits = false;     ///< whether it waits for an answer
  /// Whether its last request was from a thread: threads die only with their process.
  bool is_thread = false;
  virtual_time wake{};
  lease_id lease = 0;
  std::size_t leased_key = 0;
  bool hangs = false;                         ///< it never ends its lease
  std::uint64_t session = 0;                  ///< of tunings; 0: none
  std::size_t bundle = 0;                     ///< of the session, or of the last one
  std::map<std::size_t, std::string> noted{}; ///< by the session: times by tuning
  std::vector<std::string> found{};           ///< in the bundle: times of all tunings; empty: none
  std::optional<recording_model> recording{}; ///< the open one
};

/// A write of a key that is put and erased, as the fleet sees it.
struct fleet_write {
  std::string host;
  std::string process; ///< empty: it died before the write reached the server
  std::string bytes;   ///< empty for an erase
  bool is_purge;       ///< a put or an erase
  history::moment start;
  history::moment end = history::never;     ///< acknowledged
  history::moment reached = history::never; ///< when the server certainly had it
};

/// A purge by another host that a process is carrying out: an erase in its host's history.
struct heard_purge {
  std::string process, host;
  std::size_t k, write;
};

/// A lease that a client holds.
struct lease_hold {
  std::string client, process;
  virtual_time since;
  history::moment step;
  bool was_long_awaited; // by this client: for as long as the patience of processes
};

/// The fuser's kernels that clients of a process know, while it lives.
struct kernel_table {
  std::map<std::int64_t, std::string> specs;      // by number
  std::map<std::size_t, std::int64_t> first_of{}; // by graph: the number that look-ups find
};

/// The answer to a look-up of a kernel: its number, or -1, and its spec.
using found_kernel = std::pair<std::int64_t, lookup>;

/// A client's question for the compile of its host's files.
struct file_question {
  history::moment begun = 0;
  int looks = 0;
  std::optional<member_set> told;   ///< observations that the actor has told of
  std::string seen;                 ///< digest of the observations that are known
  std::vector<std::string> holding; ///< the observations that hold
};
using file_question_ptr = std::shared_ptr<file_question>;

// The place of a process that held the lease of its host for a key, or waited for it, and ended.
struct left_place {
  virtual_time silent_from;
  virtual_time silent_until;
};

struct host_state {
  std::string name;
  std::vector<std::string> processes;
  std::map<std::size_t, history> histories;       // by key
  std::map<std::size_t, guarded_history> guarded; // by guarded key
  std::map<std::size_t, history> tunings;         // by autotune key; bytes are the record's time
  std::map<std::size_t, unsigned> inserted; // number of acknowledgements, for keys never erased
  std::map<std::size_t, std::vector<lease_hold>> lease_holders; // by key: clients that have it
  std::map<std::pair<std::string, std::size_t>, virtual_time> first_acquires; // by process and key
  std::map<std::size_t, std::vector<left_place>> left_places;                 // by key
  virtual_time last_pause{-1}; // until then a process of it is stopped
  std::map<std::string, std::pair<virtual_time, virtual_time>> pauses; // the last, by process
  std::uint64_t last_faulty_step = 0; // the last step at which the disk failed, or may have
  std::uint64_t last_end = 0;         // the last step at which a process or a client ended
  std::set<std::size_t> saved_graphs; // of which a client has saved a kernel
  std::set<std::string> faulty;       // processes whose disk fails
  std::map<std::string, virtual_time> last_faults; // the last end of such a time, by process
  std::unique_ptr<simulated_files> files;
  // What they held, from which step on.
  std::vector<std::pair<history::moment, std::string>> file_states;
  std::map<std::string, std::unique_ptr<fingerprints::file_source>> sources; // by process
  bool had_faults = false; // whether a disk ever failed
  bool was_torn = false;   // a disk failed in the middle of a write, or power was lost
};

class random_run {
public:
  random_run(std::uint64_t seed, const simulation_options& options);
  random_run(const random_run&) = delete;
  random_run& operator=(const random_run&) = delete;
  ~random_run();

  simulation_result run();

private:
  using moment = history::moment;
  moment now() { return world_.system().steps(); }
  void violate(std::string text);

  // --- the world
  void set_up();
  void make_keys();
  void set_up_host(const std::string& name, const process_options& process);
  static void set_up_compiler(simulated_compiler& compiler);

  // --- time and steps
  void work_until(virtual_time end);
  void pass_time(virtual_time end);
  bool wake_somebody();
  void rest(worker_state& worker);

  // --- requests and plain work
  // Returns a callback that passes the answer to `next`, if the client still lives by then.
  template <class T>
  std::function<void(expected<T>)> taker(worker_state& worker,
                                         std::function<void(expected<T>)> next);
  // Sends a request as an actor does.
  template <class T, class Handle, class... Parts>
  void request(worker_state& worker, const Handle& to, std::function<void(expected<T>)> next,
               const Parts&... parts);
  // Sends a request as an actor or as a plain thread, chosen at random.
  template <class T, class Handle, class... Parts>
  void ask(worker_state& worker, const Handle& to, std::function<void(expected<T>)> next,
           const Parts&... parts);
  const memory_shard_actor& owner_of(const worker_state& worker, std::size_t k);
  history& history_of(const worker_state& worker, std::size_t k);
  void act(worker_state& worker);
  std::string new_value(std::size_t k);
  void get(worker_state& worker, std::size_t k);
  void judge(const worker_state& worker, std::size_t k, moment begun, const expected<lookup>& found,
             bool waited = false);
  moment begin_question(const worker_state& worker);
  bool has_unpersisted(const host_state& host);
  bool may_miss_since(const host_state& host, moment begun) const;
  void check_error(const host_state& host, moment begun, const error& why);
  void insert(worker_state& worker, std::size_t k);
  void end_insert(const worker_state& worker, std::size_t k, std::size_t write, moment begun,
                  const expected<insert_outcome>& outcome);
  void put(worker_state& worker, std::size_t k);
  void erase(worker_state& worker, std::size_t k);

  // --- leases
  void acquire(worker_state& worker, std::size_t k);
  bool may_take_held(const worker_state& worker, std::size_t k, const lease_hold& mine,
                     const lease_hold& held);
  bool was_passed_over(const host_state& host, const std::string& process, std::size_t k,
                       virtual_time until) const;
  void leave_places(host_state& host, const std::string& process);
  bool has_left_its_place(const host_state& host, std::size_t k, const lease_hold& held) const;
  void take_lease(worker_state& worker, std::size_t k, lease_id id, virtual_time asked);
  void drop_lease(worker_state& worker);
  void end_lease(worker_state& worker);

  // --- guarded entries, tunings, compiles
  template <class Handle>
  Handle actor_of(const worker_state& worker, actor_kind kind);
  void compile_something(worker_state& worker);
  std::string any_guard(const worker_state& worker);
  static bool holds(const std::string& guard, std::int64_t m);
  void add_variant(worker_state& worker, std::size_t k);
  void find_variant(worker_state& worker, std::size_t k, std::int64_t m);
  std::string judge_variant(const worker_state& worker, std::size_t k, std::int64_t m, moment begun,
                            const guarded_reply& reply);
  void save_tuning(worker_state& worker, std::size_t k);
  autotune_address tuning_address(std::size_t k) const;
  bool may_be_foreign_tuning(const worker_state& worker, std::size_t k, moment begun,
                             std::string_view time);
  static autotune_record record_of(std::int64_t time_ns);
  void best_tuning(worker_state& worker, std::size_t k);
  static action_request action_of(const std::string& label);
  void run_compiler(worker_state& worker);
  void try_out(worker_state& worker);
  tune_request_ptr tuning_of(std::size_t k);
  void tune(worker_state& worker, std::size_t k);

  // --- nested trees
  void work_on_tree(worker_state& worker);
  std::uint64_t unanswered_by_fleet(const std::string& process);
  void set_in_tree(worker_state& worker, std::size_t tree, std::size_t path);
  void find_in_tree(worker_state& worker, std::size_t tree, std::size_t path);
  void find_tree(worker_state& worker, std::size_t tree);
  void judge_in_tree(const worker_state& worker, std::size_t tree, std::size_t path, moment begun,
                     const value* found);
  bool has_unwritten_members(const host_state& host);
  std::vector<worker_state*> one_of_each_process();
  void spread_trees();
  void check_trees();

  // --- bundles of tunings
  member_history& bundled(std::size_t bundle, std::size_t k);
  named_cache_ptr tunings_cache(const worker_state& worker, std::size_t bundle);
  void work_in_session(worker_state& worker);
  void begin_session(worker_state& worker, std::size_t bundle);
  void read_bundled(worker_state& worker, moment begun, std::uint64_t entries);
  void judge_session(const worker_state& worker, moment begun, std::uint64_t entries);
  std::string judge_bundled(const worker_state& worker, std::size_t k, moment begun);
  void note_tuning(worker_state& worker, std::size_t k, const autotune_record& record);
  static tuning_notes notes_of(const worker_state& worker);
  void finish_session(worker_state& worker);
  void abandon_session(worker_state& worker);
  void end_sessions();
  void check_bundles();

  // --- the fuser's kernels
  std::string graph_text(std::size_t graph);
  void work_on_kernel(worker_state& worker);
  void save_kernel(worker_state& worker, std::size_t graph);
  void find_kernel(worker_state& worker, std::size_t graph);
  std::string judge_kernel(const worker_state& worker, std::size_t graph, moment begun,
                           const found_kernel& answer);
  void get_kernel(worker_state& worker);
  void count_kernels(worker_state& worker);
  void check_kernels();

  // --- recordings
  void work_in_recording(worker_state& worker);
  void begin_recording(worker_state& worker);
  void record_something(worker_state& worker);
  static void note_artifact(worker_state& worker, const std::string& type, const cache_key& key,
                            std::string bytes);
  void count_recorded(worker_state& worker);
  void finish_recording(worker_state& worker);
  void end_recordings();

  // --- compiles that read files
  void set_up_files(host_state& host);
  void work_with_files(worker_state& worker);
  void change_files(host_state& host, worker_state& worker);
  cache_key compile_of_files();
  void look_for_compiled(worker_state& worker, const file_question_ptr& question);
  void check_observations(worker_state& worker, const file_question_ptr& question,
                          const member_set& known);
  void take_compiled(worker_state& worker, const file_question_ptr& question, std::size_t next);
  void compile_files(worker_state& worker, const file_question_ptr& question);
  void judge_compiled(const worker_state& worker, const file_question& question,
                      const action_result& result);

  // --- faults
  void plan_fault();
  void die(worker_state& worker);
  void workers_die(const std::string& process);
  host_state& any_host();
  void inject_fault();
  void revive(host_state& host, simulated_process& process);
  void kill(host_state& host, simulated_process& process);
  void restart(host_state& host, simulated_process& process);
  void stall(const simulated_process& process);
  void pause(host_state& host, const simulated_process& process);
  void resume_all();
  void let_clients_go_on();
  void damage_disk(host_state& host, simulated_process& process);
  void heal(host_state& host, simulated_process& process);
  void flush(host_state& host, simulated_process& process);
  void lose_power(host_state& host);

  // --- purges by other hosts
  void watch_purges();
  void note_purge(caf::actor_id shard, const cache_key& key);
  void end_purges();
  std::size_t begin_fleet_write(const worker_state& worker, std::size_t k, std::string bytes,
                                bool is_purge);
  void end_fleet_write(std::size_t k, std::size_t write);
  void reach_fleet(const std::string& process);
  void purges_die(const std::string& process);
  void purges_lose_power(const std::string& host, moment durable);
  std::string judge_undone(const worker_state& worker, std::size_t k, moment begun,
                           std::string_view bytes) const;
  void check_purges();
  bool was_put(std::size_t k, std::string_view bytes) const;
  void judge_purged(const worker_state& worker, std::size_t k, std::string_view bytes);

  // --- the remote server
  void set_up_remote(process_options& process);
  bool may_be_foreign(const worker_state& worker, std::size_t k, moment begun,
                      std::string_view bytes);
  bool is_of_any_host(std::size_t k, std::string_view guard, std::string_view bytes);
  void note_what_reached_the_fleet();
  void check_fleet();
  void trouble_remote();
  void doubt_leases_until(virtual_time when);
  void take_lease_for_ever();
  void damage_remote();
  std::string name_of(const cache_key& key) const;
  simulated_redis& any_server();
  simulated_redis& server_of(std::string_view name);
  bool has_kept_all_of(std::string_view part) const;
  void lose_some_of_remote();
  void part_from_remote();
  void end_trouble();
  void check_remote();
  void let_remote_recover();
  std::string what_is_not_well();

  // --- a cluster in its place
  void trouble_cluster();
  void worsen_cluster();
  void split_cluster();
  void let_replica_lead();

  // --- checks
  void check_bounds();
  void check_mailboxes();
  void end_faults();
  /// Delivers a message, or moves the clock to the next event, not past `end`; false when it can do
  /// neither.
  bool step(virtual_time end);
  void answer_all();
  void deliver_all();
  void store_all();
  void check_at_rest();
  void let_work_end();
  void check_end();
  void check_idle(const simulated_process& process);
  std::size_t tiers() const { return has_farther_ ? 2 : 1; } // the servers of a process
  void check_store(host_state& host, const simulated_process& process);

  simulation_options options_;
  random_source random_;
  simulation_result result_;
  bool is_tight_ = false;
  bool has_remote_ = false;
  bool is_cluster_ = false;      // the server is a cluster
  bool has_farther_ = false;     // another server behind it
  std::size_t ill_group_ = 0;    // of the cluster: in trouble, or apart
  bool is_split_ = false;        // the cluster
  bool may_be_replaced_ = false; // the replica of the ill group may come to lead
  bool has_hanging_clients_ = false;
  bool has_hung_ = false;      // a client keeps a lease for ever
  bool splits_guards_ = false; // each host has its own guard: some sizes need the other host's
  std::uint64_t max_value_bytes_ = 200;
  std::vector<key_state> keys_;
  std::vector<cache_key> guarded_keys_, autotune_keys_, tune_keys_, tree_keys_, bundle_keys_;
  std::vector<cache_key> fleet_tuning_keys_; // in worlds with a server
  moment next_check_ = 0;
  std::map<std::string, host_state> hosts_;
  std::vector<worker_state> workers_;
  std::map<std::string, moment> flushed_;
  virtual_time next_fault_{};
  std::uint64_t writes_ = 0;
  std::map<std::size_t, std::set<std::string, std::less<>>> written_; // by key: all clients' bytes
  std::map<std::size_t, std::vector<fleet_write>> fleet_writes_;      // by key
  // Of each process, those that may not have reached the server: keys and places.
  std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>> open_fleet_writes_;
  std::vector<heard_purge> heard_;                                      // being carried out
  std::map<std::pair<std::size_t, std::size_t>, member_history> trees_; // by tree and path
  std::string last_tree_; // what the last look-up of a whole tree found
  std::map<std::pair<std::size_t, std::size_t>, member_history> bundled_; // by bundle and tuning
  std::map<std::size_t, member_history> kernels_;                         // by graph
  std::map<std::string, kernel_table> kernel_tables_;                     // by process
  std::uint64_t max_kernels_ = 0; // in a process; 0: no bound
  bool is_kernel_final_ = false;  // every host has to find what reached the server
  bool is_at_end_ = false;        // all sessions of clients have ended
  bool is_bundle_final_ = false;  // every host has to find what reached the server
  bool is_tree_final_ = false;    // every host has to find what reached the server
  bool remote_has_trouble_ = false;
  bool server_lost_writes_ = false; // all or the recent ones, or writes were given up
  // The names of entries that the server has evicted or that were damaged there.
  std::set<std::string, std::less<>> gone_, damaged_;
  bool is_fleet_whole_ = false;       // every host has to find what reached the server
  virtual_time leases_are_certain_{}; // from then on no two hosts may hold the same lease
  world world_;                       // destroyed first: until then it writes the trace and answers
};

template <class T>
std::function<void(expected<T>)> random_run::taker(worker_state& worker,
                                                   std::function<void(expected<T>)> next) {
  ++result_.questions;
  worker.waits = true;
  return [this, &worker, life = worker.life, next](expected<T> result) {
    if (worker.life != life) return;
    rest(worker);
    next(std::move(result));
  };
}

template <class T, class Handle, class... Parts>
void random_run::request(worker_state& worker, const Handle& to,
                         std::function<void(expected<T>)> next, const Parts&... parts) {
  worker.is_thread = false;
  const auto taken = taker<T>(worker, std::move(next));
  worker.self->sender()
      .request(to, caf::infinite, parts...)
      .then([taken](const T& result) { taken(result); },
            [taken](const caf::error& why) { taken(fail(from_caf(why))); });
}

template <class T, class Handle, class... Parts>
void random_run::ask(worker_state& worker, const Handle& to, std::function<void(expected<T>)> next,
                     const Parts&... parts) {
  if (random_.one_in(2)) return request<T>(worker, to, std::move(next), parts...);
  worker.is_thread = true;
  auto state = std::make_shared<completion_state<T>>();
  state->then(taker<T>(worker, std::move(next)));
  worker.self->sender().send(to, parts..., completion<T>(std::move(state)));
}

template <class Handle>
Handle random_run::actor_of(const worker_state& worker, actor_kind kind) {
  return caf::actor_cast<Handle>(world_.process(worker.process)->actors_of(kind).front());
}

} // namespace hearth::simulation
