#include "runtime/simulation/simulator.hpp"

#include "messages/guard.hpp"
#include "messages/hash.hpp"
#include "runtime/simulation/guarded_history.hpp"
#include "runtime/simulation/history.hpp"
#include "runtime/simulation/text.hpp"
#include "runtime/simulation/world.hpp"
#include "storage/memory/graveyard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

namespace hearth::simulation {
namespace {

using std::chrono::milliseconds;

// Clients wake at multiples of it, so that they often ask at the same time.
constexpr milliseconds tick{100};
constexpr std::uint64_t steps_between_checks = 32;
constexpr std::chrono::seconds patience{120}; // after the faults ended, for every answer
constexpr std::uint64_t max_steps = 2'000'000;
constexpr std::size_t most_waiting_a_client = 64;

// Labels of compiler runs, and how they end.
constexpr std::array<std::string_view, 5> labels{"good", "slow", "bad", "crashing", "hanging"};
constexpr std::array<std::string_view, 4> guards{"m > 4", "m % 2 == 0", "m <= 4", "True"};
constexpr std::int64_t most_m = 8;
constexpr milliseconds compile_deadline{700};

/// How a seed uses the keys. In a tight world entries are evicted, so that a miss is no violation.
struct key_state {
  cache_key key;
  bool is_mutable = false; ///< put and erased; others are only inserted
};

/// What one client is doing.
struct worker_state {
  std::string name, process, host;
  client* self = nullptr;
  std::uint64_t life = 0; ///< moves when it dies: answers to a former life are nobody's
  bool waits = false;     ///< for an answer
  bool is_thread = false; ///< asked so last: threads die with their process alone
  virtual_time wake{};
  lease_id lease = 0;
  std::size_t leased_key = 0;
};

struct host_state {
  std::string name;
  std::vector<std::string> processes;
  std::map<std::size_t, history> histories;         // by key
  std::map<std::size_t, guarded_history> guarded;   // by guarded key
  std::map<std::size_t, history> tunings;           // by autotune key; bytes are the record's time
  std::map<std::size_t, unsigned> inserted;         // acknowledgements, of keys never erased
  std::map<std::size_t, std::string> lease_holders; // by key: the client
  std::uint64_t last_faulty_step = 0;               // the disk failed, or may have, until then
  std::set<std::string> faulty;                     // processes whose disk fails
  std::set<std::string> were_ill;                   // processes whose disk failed since they began
  bool has_lost_power = false;
  bool was_torn = false; // a disk failed in the middle of something, or power was lost
};

class simulator {
public:
  simulator(std::uint64_t seed, const simulation_options& options)
      : options_(options)
      , random_(seed) {
    world_.system().set_trace([this](std::string line) {
      result_.trace_hash = fast_hash(line, result_.trace_hash);
      if (options_.keep_trace) result_.trace.push_back(std::move(line));
    });
    world_.system().choose_by(&random_);
  }

  simulator(const simulator&) = delete;
  simulator& operator=(const simulator&) = delete;
  ~simulator() {
    for (auto& worker : workers_)
      ++worker.life; // nobody is told what comes now
  }

  simulation_result run() {
    set_up();
    work_until(options_.duration);
    end_faults();
    answer_all();
    if (result_.violation.empty()) check_at_rest();
    if (result_.violation.empty()) check_end();
    result_.messages = world_.system().steps();
    return std::move(result_);
  }

private:
  using moment = history::moment;
  moment now() { return world_.system().steps(); }

  void violate(std::string text) {
    if (!result_.violation.empty()) return;
    result_.violation = text_of(world_.system().now()) + ": " + std::move(text);
    world_.system().note("VIOLATION " + result_.violation);
  }

  // --- the world -------------------------------------------------------------------------------

  void set_up() {
    is_tight_ = random_.one_in(4);
    process_options process;
    process.memory_shards = static_cast<unsigned>(random_.between(1, 2));
    process.disk_shards = static_cast<unsigned>(random_.between(1, 2));
    process.memory_bytes = is_tight_ ? 128u << 10 : 4u << 20;
    process.disk_bytes = is_tight_ ? 1u << 20 : 64u << 20;
    process.segment_bytes = 64u << 10;
    max_value_bytes_ = is_tight_ ? 40'000 : random_.one_in(4) ? 20'000 : 200;
    process.workers = static_cast<unsigned>(random_.between(1, 2));
    make_keys();
    for (unsigned h = 0; h < options_.hosts; ++h)
      set_up_host("h" + std::to_string(h), process);
    plan_fault();
  }

  void make_keys() {
    const std::array<std::string, 2> caches{"fxgraph", "tunes"};
    const auto count = random_.between(3, 12);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto cache = world_.cache(caches[random_.below(2)], random_.one_in(4) ? "2" : "0");
      keys_.push_back({cache_key(*cache, key("k" + std::to_string(i)).encoded()), i % 2 == 0});
    }
    constexpr std::uint64_t compile_keys = 3; // of each kind
    for (std::uint64_t i = 0; i < compile_keys; ++i) {
      const auto name = key("g" + std::to_string(i)).encoded();
      guarded_keys_.emplace_back(*world_.cache("guarded", "0"), name);
      autotune_keys_.emplace_back(*world_.cache("autotune", "0"), name);
      tune_keys_.emplace_back(*world_.cache("plan", "0"), name);
    }
  }

  void set_up_host(const std::string& name, const process_options& process) {
    world_.add_host(name);
    auto& host = hosts_[name];
    host.name = name;
    for (unsigned p = 0; p < options_.processes; ++p) {
      const auto at = name + "p" + std::to_string(p);
      set_up_compiler(world_.add_process(at, name, process).compiler());
      host.processes.push_back(at);
      for (unsigned c = 0; c < options_.clients; ++c) {
        const auto client = at + "c" + std::to_string(c);
        auto& self = world_.add_client(client, at);
        workers_.push_back({client, at, name, &self});
      }
    }
  }

  static void set_up_compiler(simulated_compiler& compiler) {
    using how = compiler_rule::outcome;
    compiler.add({"*", how::makes, "", milliseconds(10)});
    compiler.add({"slow*", how::makes, "", milliseconds(400)});
    compiler.add({"bad*", how::fails, "x.cpp:1: error", milliseconds(20)});
    compiler.add({"crashing*", how::crashes, "", milliseconds(30)});
    compiler.add({"hanging*", how::hangs, "", {}});
    compiler.add({"object of slow*", {trial_status::good, {}, 2000, 1}});
    compiler.add({"object of *3", {trial_status::crashed, "signal 11", 0, 0}});
  }

  // --- time and steps ----------------------------------------------------------------------------

  void work_until(virtual_time end) {
    auto& system = world_.system();
    while (result_.violation.empty() && system.now() < end && now() < max_steps) {
      if (now() >= next_check_) check_bounds();
      if (system.now() >= next_fault_) {
        inject_fault();
        plan_fault();
      }
      if (random_.one_in(3) && wake_somebody()) continue;
      if (system.deliver_one() || wake_somebody()) continue;
      pass_time(end);
    }
  }

  void pass_time(virtual_time end) {
    auto next = std::min(end, next_fault_);
    for (const auto& worker : workers_)
      if (!worker.waits && worker.self->is_alive()) next = std::min(next, worker.wake);
    if (const auto event = world_.system().next_event()) next = std::min(next, *event);
    world_.system().advance_to(std::max(next, world_.system().now() + virtual_time(1)));
  }

  bool wake_somebody() {
    std::vector<worker_state*> ready;
    for (auto& worker : workers_)
      if (!worker.waits && worker.wake <= world_.system().now() && worker.self->is_alive())
        ready.push_back(&worker);
    if (ready.empty()) return false;
    act(*ready[random_.below(ready.size())]);
    return true;
  }

  void rest(worker_state& worker) {
    worker.waits = false;
    worker.wake = world_.system().now() / tick * tick + tick * random_.below(6);
  }

  // --- what clients do -------------------------------------------------------------------------

  // What hands the answer of a question to `next`, if the client still lives by then.
  template <class T>
  std::function<void(expected<T>)> taker(worker_state& worker,
                                         std::function<void(expected<T>)> next) {
    ++result_.questions;
    worker.waits = true;
    return [this, &worker, life = worker.life, next](expected<T> result) {
      if (worker.life != life) return;
      rest(worker);
      next(std::move(result));
    };
  }

  // Sends a question as an actor does.
  template <class T, class Handle, class... Parts>
  void request(worker_state& worker, const Handle& to, std::function<void(expected<T>)> next,
               const Parts&... parts) {
    worker.is_thread = false;
    const auto taken = taker<T>(worker, std::move(next));
    worker.self->sender()
        .request(to, caf::infinite, parts...)
        .then([taken](const T& result) { taken(result); },
              [taken](const caf::error& why) { taken(fail(from_caf(why))); });
  }

  // Sends it in one of its two forms.
  template <class T, class Handle, class... Parts>
  void ask(worker_state& worker, const Handle& to, std::function<void(expected<T>)> next,
           const Parts&... parts) {
    if (random_.one_in(2)) return request<T>(worker, to, std::move(next), parts...);
    worker.is_thread = true;
    auto state = std::make_shared<completion_state<T>>();
    state->then(taker<T>(worker, std::move(next)));
    worker.self->sender().send(to, parts..., completion<T>(std::move(state)));
  }

  const memory_shard_actor& owner_of(const worker_state& worker, std::size_t k) {
    return world_.process(worker.process)->router().owner_of(keys_[k].key);
  }
  history& history_of(const worker_state& worker, std::size_t k) {
    return hosts_.at(worker.host).histories[k];
  }

  void act(worker_state& worker) {
    if (worker.lease != 0) return end_lease(worker);
    if (random_.one_in(12)) return compile_something(worker);
    const auto k = random_.below(keys_.size());
    const auto choice = random_.below(10);
    if (choice < 4) return get(worker, k);
    if (choice < 6) return insert(worker, k);
    if (choice < 8) return acquire(worker, k);
    if (!keys_[k].is_mutable) return get(worker, k);
    return choice == 8 ? put(worker, k) : erase(worker, k);
  }

  // Bytes that say who wrote them, and that no other write has.
  std::string new_value(std::size_t k) {
    auto bytes = "k" + std::to_string(k) + "w" + std::to_string(++writes_) + ".";
    constexpr std::size_t letters = 26;
    std::string alphabet(letters, 'a');
    for (std::size_t i = 0; i < letters; ++i)
      alphabet[i] = static_cast<char>('a' + i * writes_ % letters);
    const auto size = std::max(bytes.size(), random_.below(max_value_bytes_));
    bytes.reserve(size + letters);
    while (bytes.size() < size)
      bytes += alphabet;
    bytes.resize(size);
    return bytes;
  }

  void get(worker_state& worker, std::size_t k) {
    const auto begun = now();
    ask<lookup>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<lookup>& found) { judge(worker, k, begun, found); },
        verb::get_v, keys_[k].key);
  }

  void judge(const worker_state& worker, std::size_t k, moment begun, const expected<lookup>& found,
             bool waited = false) {
    const auto& host = hosts_.at(worker.host);
    if (!found) return check_error(host, begun, found.error());
    const auto& past = history_of(worker, k);
    const bool may_miss = may_miss_since(host, begun);
    std::string wrong;
    if (found->hit())
      wrong = past.judge_hit(found->value.payload(), begun, now(), waited);
    else if (!may_miss)
      wrong = past.judge_miss(begun, now());
    if (!wrong.empty()) violate(worker.name + " got of " + text_of(keys_[k].key) + " " + wrong);
  }

  bool may_miss_since(const host_state& host, moment begun) const {
    return is_tight_ || host.last_faulty_step >= begun || !host.faulty.empty();
  }

  // Errors have to have a reason.
  void check_error(const host_state& host, moment begun, const error& why) {
    const bool disk_fails = !host.faulty.empty() || host.last_faulty_step >= begun;
    if (why.category() == error_category::storage && disk_fails) return;
    if (why.code() == errc::closed || why.code() == errc::timeout) return;
    violate("an error without a reason: " + why.to_string());
  }

  void insert(worker_state& worker, std::size_t k) {
    const auto bytes = new_value(k);
    const auto write = history_of(worker, k).begin(now(), bytes, false);
    const auto begun = now();
    ask<insert_outcome>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<insert_outcome>& outcome) {
          end_insert(worker, k, write, begun, outcome);
        },
        verb::insert_v, keys_[k].key, artifact::make(bytes));
  }

  void end_insert(const worker_state& worker, std::size_t k, std::size_t write, moment begun,
                  const expected<insert_outcome>& outcome) {
    auto& host = hosts_.at(worker.host);
    if (!outcome) return check_error(host, begun, outcome.error());
    if (*outcome == insert_outcome::exists) return history_of(worker, k).lend(write, now());
    history_of(worker, k).succeed(write, now());
    if (keys_[k].is_mutable || is_tight_) return;
    if (++host.inserted[k] > 1)
      violate(text_of(keys_[k].key) + " was inserted twice on " + host.name);
  }

  void put(worker_state& worker, std::size_t k) {
    const auto bytes = new_value(k);
    const auto write = history_of(worker, k).begin(now(), bytes, false);
    const auto begun = now();
    ask<done>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<done>& result) {
          if (!result) return check_error(hosts_.at(worker.host), begun, result.error());
          history_of(worker, k).succeed(write, now());
        },
        verb::put_v, keys_[k].key, artifact::make(bytes));
  }

  void erase(worker_state& worker, std::size_t k) {
    const auto write = history_of(worker, k).begin(now(), {}, true);
    const auto begun = now();
    ask<bool>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<bool>& result) {
          if (!result) return check_error(hosts_.at(worker.host), begun, result.error());
          history_of(worker, k).succeed(write, now());
        },
        verb::erase_v, keys_[k].key);
  }

  // --- leases ----------------------------------------------------------------------------------

  void acquire(worker_state& worker, std::size_t k) {
    const auto begun = now();
    ask<lease_reply>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<lease_reply>& reply) {
          if (!reply) {
            // What the holder said, or what went wrong.
            if (reply.error().code() != errc::compile_failed)
              check_error(hosts_.at(worker.host), begun, reply.error());
            return;
          }
          if (reply->found.hit()) return judge(worker, k, begun, reply->found, reply->waited);
          take_lease(worker, k, reply->lease);
        },
        verb::acquire_v, keys_[k].key);
  }

  void take_lease(worker_state& worker, std::size_t k, lease_id id) {
    auto& holders = hosts_.at(worker.host).lease_holders;
    const auto [at, is_free] = holders.try_emplace(k, worker.name);
    if (!is_free)
      violate(worker.name + " got the lease of " + text_of(keys_[k].key) + ", which " + at->second +
              " holds");
    worker.lease = id;
    worker.leased_key = k;
  }

  void drop_lease(worker_state& worker) {
    if (worker.lease != 0) hosts_.at(worker.host).lease_holders.erase(worker.leased_key);
    worker.lease = 0;
  }

  void end_lease(worker_state& worker) {
    const auto k = worker.leased_key;
    const auto id = worker.lease;
    const auto owner = owner_of(worker, k);
    auto choice = random_.below(8);
    if (choice == 7 && worker.is_thread) choice = 5;
    drop_lease(worker);
    if (choice < 5) {
      const auto bytes = new_value(k);
      const auto write = history_of(worker, k).begin(now(), bytes, false);
      const auto begun = now();
      ask<insert_outcome>(
          worker, owner,
          [=, this, &worker](const expected<insert_outcome>& outcome) {
            end_insert(worker, k, write, begun, outcome);
          },
          verb::fulfil_v, id, artifact::make(bytes));
      return;
    }
    auto& sender = worker.self->sender();
    if (choice == 5)
      sender.send(owner, verb::release_v, id);
    else if (choice == 6)
      sender.send(owner, verb::abandon_v, id, error{errc::compile_failed, "x.cpp:1: error"});
    else
      return die(worker);
    rest(worker);
  }

  // --- guarded entries, tunings, compiles ------------------------------------------------------

  template <class Handle>
  Handle actor_of(const worker_state& worker, actor_kind kind) {
    return caf::actor_cast<Handle>(world_.process(worker.process)->actors_of(kind).front());
  }

  void compile_something(worker_state& worker) {
    const auto k = random_.below(guarded_keys_.size());
    switch (random_.below(8)) {
    case 0: return add_variant(worker, k);
    case 1: return find_variant(worker, k, static_cast<std::int64_t>(random_.between(1, most_m)));
    case 2: return save_tuning(worker, k);
    case 3: return best_tuning(worker, k);
    case 4: return tune(worker, k);
    case 5: return try_out(worker);
    default: return run_compiler(worker);
    }
  }

  static bool holds(const std::string& guard, std::int64_t m) {
    const auto parsed = guard_expression::parse(guard);
    return parsed && parsed->evaluate(hints{{"m", m}}).value_or(false);
  }

  void add_variant(worker_state& worker, std::size_t k) {
    const std::string guard(guards[random_.below(guards.size())]);
    const auto bytes = new_value(k);
    const auto begun = now();
    const auto number = hosts_.at(worker.host).guarded[k].begin(begun, guard, bytes);
    request<insert_outcome>(
        worker, actor_of<guarded_cache_actor>(worker, actor_kind::guarded),
        [=, this, &worker](const expected<insert_outcome>& outcome) {
          auto& host = hosts_.at(worker.host);
          if (!outcome) return check_error(host, begun, outcome.error());
          host.guarded[k].succeed(number, now());
        },
        verb::insert_v, guarded_keys_[k], guard, artifact::make(bytes));
  }

  void find_variant(worker_state& worker, std::size_t k, std::int64_t m) {
    const auto begun = now();
    request<guarded_reply>(
        worker, actor_of<guarded_cache_actor>(worker, actor_kind::guarded),
        [=, this, &worker](const expected<guarded_reply>& reply) {
          auto& host = hosts_.at(worker.host);
          if (!reply) return check_error(host, begun, reply.error());
          auto wrong = judge_variant(worker, k, m, begun, *reply);
          if (!wrong.empty())
            violate(worker.name + " got of " + text_of(guarded_keys_[k]) +
                    " m=" + std::to_string(m) + " " + wrong);
        },
        verb::get_v, guarded_keys_[k], hints{{"m", m}});
  }

  std::string judge_variant(const worker_state& worker, std::size_t k, std::int64_t m, moment begun,
                            const guarded_reply& reply) {
    auto& host = hosts_.at(worker.host);
    const auto& past = host.guarded[k];
    if (reply.status == guarded_status::hit) {
      if (!holds(reply.guard, m)) return "a variant whose guard " + reply.guard + " does not hold";
      return past.judge_hit(reply.guard, reply.found.value.payload(), now());
    }
    // A list of variants that a disk which fails could neither show nor store stays in memory.
    if (may_miss_since(host, begun) || host.were_ill.contains(worker.process)) return {};
    return past.judge_miss(begun, [m](const std::string& guard) { return holds(guard, m); });
  }

  void save_tuning(worker_state& worker, std::size_t k) {
    const auto time_ns = static_cast<std::int64_t>(++writes_);
    const auto begun = now();
    const auto write =
        hosts_.at(worker.host).tunings[k].begin(begun, std::to_string(time_ns), false);
    request<done>(
        worker, actor_of<autotune_cache_actor>(worker, actor_kind::autotune),
        [=, this, &worker](const expected<done>& saved) {
          auto& host = hosts_.at(worker.host);
          if (!saved) return check_error(host, begun, saved.error());
          host.tunings[k].succeed(write, now());
        },
        verb::save_v, autotune_keys_[k],
        autotune_record{{{"TILE", time_ns}}, "candidates", time_ns, false});
  }

  void best_tuning(worker_state& worker, std::size_t k) {
    const auto begun = now();
    request<autotune_record>(
        worker, actor_of<autotune_cache_actor>(worker, actor_kind::autotune),
        [=, this, &worker](const expected<autotune_record>& best) {
          auto& host = hosts_.at(worker.host);
          std::string wrong;
          if (best)
            wrong = host.tunings[k].judge_hit(std::to_string(best->time_ns), begun, now());
          else if (best.error().code() != errc::not_found)
            return check_error(host, begun, best.error());
          else if (!may_miss_since(host, begun))
            wrong = host.tunings[k].judge_miss(begun, now());
          if (!wrong.empty())
            violate(worker.name + " got of " + text_of(autotune_keys_[k]) + " " + wrong);
        },
        verb::best_v, autotune_keys_[k], std::string("candidates"));
  }

  static action_request action_of(const std::string& label) {
    auto action = simulated_compiler::action(label);
    action.process.deadline = compile_deadline;
    return action;
  }

  void run_compiler(worker_state& worker) {
    const auto how = random_.below(labels.size());
    const auto label = std::string(labels[how]) + std::to_string(random_.below(100));
    request<action_result>(
        worker, actor_of<compile_broker_actor>(worker, actor_kind::broker),
        [=, this, &worker](const expected<action_result>& result) {
          if (!result) return check_error(hosts_.at(worker.host), now(), result.error());
          const auto& process = result->process;
          const std::array<bool, labels.size()> as_it_should{
              process.succeeded(), process.succeeded(), process.exit_status == 1,
              process.signal != 0, process.timed_out};
          const bool made =
              !result->outputs.empty() && result->outputs.front().payload() == "object of " + label;
          if (!as_it_should[how] || made != process.succeeded())
            violate(worker.name + " got of " + label + " " + text_of(*result));
        },
        verb::run_v, action_of(label), static_cast<int>(random_.below(3)));
  }

  void try_out(worker_state& worker) {
    const bool crashes = random_.one_in(2);
    trial_request trial;
    trial.entry = "entry";
    request<trial_result>(
        worker, actor_of<compile_broker_actor>(worker, actor_kind::broker),
        [=, this, &worker](const expected<trial_result>& result) {
          if (!result) return check_error(hosts_.at(worker.host), now(), result.error());
          if ((result->status == trial_status::crashed) != crashes)
            violate(worker.name + " got of a trial " + text_of(*result));
        },
        verb::trial_v, trial, artifact::make(crashes ? "object of x3" : "object of x4"),
        compile_deadline);
  }

  // Of an entry's candidates some cannot be compiled, one is slow, one crashes when it is tried;
  // the first is the fastest that is good.
  tune_request_ptr tuning_of(std::size_t k) {
    auto request = std::make_shared<tune_request>();
    request->name = "entry" + std::to_string(k);
    request->key = tune_keys_[k];
    request->guard = "True";
    request->sizes = {{"m", 1}};
    request->trial.entry = "entry";
    request->trial_deadline = compile_deadline;
    request->autotune_key = cache_key(tune_keys_[k].cache, key("best").encoded());
    for (const auto* label : {"good", "slow", "bad", "crashing", "object3"}) {
      const auto name = label + std::to_string(k) + (label == std::string("object3") ? "3" : "");
      tune_candidate candidate;
      candidate.config = {{"LABEL", std::string(label)}};
      candidate.config_text = label;
      candidate.action_key = cache_key(*world_.cache("actions", "0"), key(name).encoded());
      candidate.action = action_of(name);
      request->candidates.push_back(std::move(candidate));
    }
    return request;
  }

  void tune(worker_state& worker, std::size_t k) {
    const auto begun = now();
    request<tune_reply>(
        worker, actor_of<kernel_tuner_actor>(worker, actor_kind::tuner),
        [=, this, &worker](const expected<tune_reply>& reply) {
          auto& host = hosts_.at(worker.host);
          if (!reply) return check_error(host, begun, reply.error());
          const bool is_best = reply->config_text == "good" &&
                               reply->library.payload() == "object of good" + std::to_string(k);
          // A disk that fails may leave a candidate out.
          if (!is_best && !may_miss_since(host, begun))
            violate(worker.name + " got of " + text_of(tune_keys_[k]) + " " + text_of(*reply));
        },
        verb::tune_v, tuning_of(k));
  }

  // --- faults ----------------------------------------------------------------------------------

  void plan_fault() {
    next_fault_ = world_.system().now() + milliseconds(random_.between(200, 6000));
  }

  void die(worker_state& worker) {
    if (worker.is_thread) return;
    drop_lease(worker);
    ++worker.life;
    world_.system().note(worker.name + " dies");
    world_.kill(*worker.self);
    if (world_.process(worker.process)->is_running())
      world_.revive_clients(*world_.process(worker.process));
    rest(worker);
  }

  void workers_die(const std::string& process) {
    for (auto& worker : workers_) {
      if (worker.process != process) continue;
      drop_lease(worker);
      ++worker.life;
      rest(worker);
    }
  }

  host_state& any_host() {
    auto at = hosts_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(hosts_.size())));
    return at->second;
  }

  void inject_fault() {
    auto& host = any_host();
    auto& process = *world_.process(host.processes[random_.below(host.processes.size())]);
    const auto choice = random_.below(20);
    if (!process.is_running()) return revive(host, process);
    if (choice < 4) return kill(host, process);
    if (choice < 8) return stall(process);
    if (choice < 12) return spoil_disk(host, process);
    if (choice < 14) return restart(host, process);
    if (choice < 16) return flush(host, process);
    if (choice < 17) return lose_power(host);
    die(workers_[random_.below(workers_.size())]);
  }

  void revive(host_state& host, simulated_process& process) {
    host.were_ill.erase(process.name());
    world_.system().note(process.name() + " starts");
    world_.start(process);
    world_.revive_clients(process);
    if (!process.store()) violate(process.name() + " cannot open its store");
    heal(host, process);
  }

  void kill(host_state& host, simulated_process& process) {
    workers_die(process.name());
    world_.kill(process);
    heal(host, process);
    if (random_.one_in(2)) revive(host, process);
  }

  void restart(host_state& host, simulated_process& process) {
    heal(host, process);
    if (!world_.stop(process)) violate(process.name() + " did not shut down in time");
    workers_die(process.name());
    for (auto& worker : workers_)
      if (worker.process == process.name()) world_.kill(*worker.self);
    revive(host, process);
  }

  void stall(const simulated_process& process) {
    const auto kind = random_.one_in(3) ? actor_kind::memory : actor_kind::disk;
    const auto& some = process.actors_of(kind);
    const auto until = world_.system().now() + milliseconds(random_.between(1, 900));
    world_.system().note(process.name() + " is slow");
    world_.system().stall(some[random_.below(some.size())], until);
  }

  void spoil_disk(host_state& host, simulated_process& process) {
    if (host.faulty.contains(process.name())) return heal(host, process);
    const std::array<disk_call, 6> calls{disk_call::write, disk_call::allocate, disk_call::open,
                                         disk_call::read,  disk_call::map,      disk_call::rename};
    const std::array<int, 3> errors{ENOSPC, EIO, EMFILE};
    const auto call = calls[random_.below(calls.size())];
    if (random_.one_in(4)) {
      process.files().limit_writes(random_.between(1, 100));
      return;
    }
    process.files().fail(call, {errors[random_.below(errors.size())], random_.below(3)});
    world_.system().note(process.name() + " has a disk that fails to " +
                         std::string(to_string(call)));
    host.faulty.insert(process.name());
    host.were_ill.insert(process.name());
    host.was_torn = true;
  }

  void heal(host_state& host, simulated_process& process) {
    if (process.is_running()) process.files().heal();
    if (host.faulty.erase(process.name()) != 0) host.last_faulty_step = now() + 1;
  }

  void flush(host_state& host, simulated_process& process) {
    if (process.store()->flush() && host.faulty.empty()) flushed_[host.name] = now();
  }

  void lose_power(host_state& host) {
    for (const auto& name : host.processes) {
      workers_die(name);
      host.faulty.erase(name);
    }
    world_.lose_power(host.name, random_);
    const auto durable = flushed_[host.name];
    for (auto& [k, past] : host.histories)
      past.lose_after(durable);
    for (auto& [k, past] : host.guarded)
      past.lose_after(durable);
    for (auto& [k, past] : host.tunings)
      past.lose_after(durable);
    host.inserted.clear();
    host.has_lost_power = true;
    host.was_torn = true;
    host.last_faulty_step = now() + 1;
    for (const auto& name : host.processes)
      revive(host, *world_.process(name));
  }

  // --- what must hold ----------------------------------------------------------------------------

  void check_bounds() {
    next_check_ = now() + steps_between_checks;
    for (const auto& [name, process] : world_.processes()) {
      std::uint64_t used = 0; // nothing of a process that does not run
      for (const auto& view : process->views())
        used += view->index().stats().bytes_used;
      if (used > process->options().memory_bytes)
        violate(name + " uses " + std::to_string(used) + " bytes of memory, above its budget");
    }
    for (const auto& [name, host] : hosts_) {
      const auto& options = world_.process(host.processes.front())->options();
      // What was evicted may be back after a power loss, until a writer begins a segment.
      const auto segments = host.has_lost_power ? 2 : 1;
      const auto slack = segments * options.segment_bytes * options.disk_shards;
      const auto used = world_.disk_of(name).used_bytes();
      if (used > options.disk_bytes + slack)
        violate(name + " uses " + std::to_string(used) + " bytes of disk, above its budget");
    }
    if (world_.system().waiting_messages() > most_waiting_a_client * workers_.size())
      violate("the mailboxes grow without bound");
    if (world_.system().answered_twice() != 0) violate("a question was answered twice");
  }

  void end_faults() {
    world_.system().note("faults end");
    next_fault_ = virtual_time::max();
    for (auto& [name, host] : hosts_)
      for (const auto& process : host.processes) {
        auto& one = *world_.process(process);
        if (!one.is_running()) revive(host, one);
        heal(host, one);
      }
  }

  // Everything that was asked is answered, and leases end.
  void answer_all() {
    auto& system = world_.system();
    const auto end = system.now() + patience;
    const auto is_busy = [](const worker_state& w) { return w.waits || w.lease != 0; };
    while (result_.violation.empty() && std::any_of(workers_.begin(), workers_.end(), is_busy)) {
      for (auto& worker : workers_)
        if (!worker.waits && worker.lease != 0) end_lease(worker);
      if (system.deliver_one()) continue;
      const auto next = system.next_event();
      if (!next || *next > end) break;
      system.advance_to(*next);
    }
    for (const auto& worker : workers_)
      if (result_.violation.empty() && worker.waits) violate(worker.name + " was never answered");
  }

  // Everybody reads everything once more.
  void check_at_rest() {
    for (auto& worker : workers_)
      for (std::size_t k = 0; k < keys_.size() && result_.violation.empty(); ++k) {
        get(worker, k);
        answer_all();
      }
    auto& last = workers_.back();
    for (std::size_t k = 0; k < guarded_keys_.size() && result_.violation.empty(); ++k) {
      best_tuning(last, k);
      answer_all();
      for (std::int64_t m = 1; m <= most_m && result_.violation.empty(); ++m) {
        find_variant(last, k, m);
        answer_all();
      }
    }
    while (result_.violation.empty() && now() < max_steps && world_.system().deliver_one()) {
    }
    check_bounds();
  }

  void check_end() {
    for (auto& [name, host] : hosts_) {
      for (const auto& process : host.processes) {
        auto& one = *world_.process(process);
        check_idle(one);
        check_store(host, one);
        if (!world_.stop(one)) violate(process + " did not shut down in time");
      }
      for (auto& worker : workers_)
        world_.kill(*worker.self);
      if (world_.disk_of(name).open_descriptions() != 0)
        violate(name + " has files that were never closed");
    }
    if (world_.system().living_actors() != 0) violate("actors are left");
    if (storage::buried_nodes() != 0) violate("entries are left that nobody holds");
  }

  // Nothing that was begun is left.
  void check_idle(const simulated_process& process) {
    const auto expect_none = [&](actor_kind kind, std::string_view figure) {
      const auto left = process.figure(kind, std::nullopt, figure).value_or(0);
      if (left != 0)
        violate(process.name() + " still has " + std::to_string(left) + " of " +
                std::string(to_string(kind)) + " " + std::string(figure));
    };
    for (const auto* figure : {"leases", "leases_held", "loading", "mailbox"})
      expect_none(actor_kind::memory, figure);
    for (const auto* figure : {"pending", "mailbox"})
      expect_none(actor_kind::disk, figure);
    expect_none(actor_kind::broker, "queued");
    for (const auto* figure : {"active", "waiting"})
      expect_none(actor_kind::tuner, figure);
  }

  // What a failing disk or a power loss tore stays where it is, unread, until it is evicted or
  // repaired.
  void check_store(host_state& host, const simulated_process& process) {
    if (std::exchange(host.was_torn, false)) (void)process.store()->verify(true);
    const auto checked = process.store()->verify(false);
    if (!checked)
      violate(process.name() + " cannot check its store: " + checked.error().to_string());
    else if (!checked->intact())
      violate(process.name() + " has a store that is not intact: " + checked->findings.at(0));
  }

  simulation_options options_;
  dice random_;
  simulation_result result_;
  bool is_tight_ = false;
  std::uint64_t max_value_bytes_ = 200;
  std::vector<key_state> keys_;
  std::vector<cache_key> guarded_keys_, autotune_keys_, tune_keys_;
  moment next_check_ = 0;
  std::map<std::string, host_state> hosts_;
  std::vector<worker_state> workers_;
  std::map<std::string, moment> flushed_;
  virtual_time next_fault_{};
  std::uint64_t writes_ = 0;
  world world_; // the first to go: until its end it writes the trace and answers
};

} // namespace

simulation_result simulate(std::uint64_t seed, const simulation_options& options) {
  return simulator(seed, options).run();
}

} // namespace hearth::simulation
