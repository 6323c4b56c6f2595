#include "runtime/simulation/script/interpreter.hpp"

#include "runtime/simulation/text.hpp"
#include "runtime/simulation/wildcards.hpp"
#include "runtime/simulation/world.hpp"

#include <algorithm>
#include <utility>

namespace hearth::script {
namespace {

using simulation::answer_slot;
using simulation::matches;
using simulation::random_source;
using simulation::simulated_process;

constexpr std::uint64_t default_max_steps = 200'000;
constexpr std::chrono::minutes default_max_time{60};
constexpr std::size_t max_trace_lines = 200'000;
constexpr std::size_t lines_before_failure = 60;
// Under a seed, the clock may move on although messages wait: the actors are slow. Not by more.
constexpr std::chrono::milliseconds longest_lag{50};

/// Thrown by a statement that cannot be carried out or does not hold; `run` reports it.
struct failed {
  std::string expected;
  std::string got;
};

class interpreter {
public:
  interpreter(const program& script, const run_options& options)
      : script_(script)
      , random_(options.seed)
      , is_seeded_(options.seed != 0) {
    world_.system().set_trace([this](std::string line) {
      if (trace_.size() < max_trace_lines) trace_.push_back(std::move(line));
    });
    world_.system().choose_by(is_seeded_ ? &random_ : nullptr);
  }

  run_result run() {
    run_result result;
    const statement* now = nullptr;
    try {
      for (const auto& one : script_.statements) {
        now = &one;
        carry_out(one);
      }
      expect_no_other_errors();
    } catch (const failed& why) {
      result.failure = report(*now, why);
    }
    result.passed = result.failure.empty();
    result.trace = trace_;
    result.steps = world_.system().steps();
    return result;
  }

private:
  struct question {
    std::string label, client;
    simulation::answer_ptr slot;
    bool is_expected = false; ///< some expectation was about the answer
  };

  void carry_out(const statement& one) {
    std::visit([this](const auto& what) { run(what); }, one.what);
  }

  std::string report(const statement& one, const failed& why) const {
    std::string text = script_.file + ":" + std::to_string(one.line) + ": " + one.source +
                       "\n  expected: " + why.expected + "\n  got:      " + why.got +
                       "\n  messages before it:\n";
    const auto from = trace_.size() - std::min(trace_.size(), lines_before_failure);
    for (std::size_t i = from; i < trace_.size(); ++i)
      text += "    " + trace_[i] + "\n";
    return text;
  }

  // --- what there is

  simulated_process& process(const std::string& name) {
    auto* found = world_.process(name);
    if (!found) throw failed{"a process named " + name, "none yet"};
    return *found;
  }

  simulated_process& running(const std::string& name) {
    auto& found = process(name);
    if (!found.is_running()) throw failed{name + " to run", "it does not"};
    return found;
  }

  void run(const add_host& what) { world_.add_host(what.name); }
  void run(const add_remote& what) { world_.add_remote(what.name); }

  void run(const add_process& what) {
    if (!world_.has_host(what.host)) world_.add_host(what.host);
    world_.add_process(what.name, what.host, what.options);
  }

  void run(const add_client& what) {
    running(what.process);
    world_.add_client(what.name, what.process);
  }

  void run(const use_cache& what) { world_.set_cache(what.name, what.version, what.use); }

  cache_key key_of(const key_name& name) {
    return {world_.cache(name.cache, name.version).value(), name.k.encoded()};
  }

  key_list keys_of(const key_names& names) {
    key_list keys;
    for (const auto& name : names)
      keys.push_back(key_of(name));
    return keys;
  }

  // --- messages

  simulation::argument resolve(const spoken_argument& spoken, const cache_key* before,
                               simulated_process& of) {
    if (const auto* known = std::get_if<simulation::argument>(&spoken)) return *known;
    if (const auto* name = std::get_if<key_name>(&spoken)) return key_of(*name);
    if (const auto* names = std::get_if<key_names>(&spoken)) return keys_of(*names);
    if (const auto* from = std::get_if<answer_number>(&spoken))
      return std::uint64_t{answer(from->answer).number};
    if (const auto* epoch = std::get_if<epoch_number>(&spoken)) {
      if (!before || !of.store()) throw failed{"a key and a disk tier for this epoch", "none"};
      const auto now = of.store()->epoch(of.store()->shard_of(before->disk_hash));
      return std::uint64_t{epoch->is_stale ? now - 1 : now};
    }
    if (const auto* noted = std::get_if<answer_notes>(&spoken)) return notes_of(*noted);
    if (const auto* where = std::get_if<tuning_place>(&spoken)) return address_of(*where);
    if (const auto* cache = std::get_if<cache_name>(&spoken))
      return world_.cache(cache->name, "0").value();
    return tune_request_of(std::get<tuning>(spoken));
  }

  tuning_notes notes_of(const answer_notes& what) { return {answer(what.answer).number, 0}; }

  // A bundle names entries of the local cache by text.
  static std::string text_of_key(const key& k) {
    const auto decoded = decode_value(k.encoded());
    const auto* text = decoded ? decoded->as<std::string>() : nullptr;
    return text ? *text : k.describe();
  }

  autotune_address address_of(const tuning_place& where) {
    autotune_address address;
    address.local = key_of(where.local);
    address.name = text_of_key(where.local.k);
    if (where.remote) address.remote = key_of(*where.remote);
    return address;
  }

  tune_request_ptr tune_request_of(const tuning& what) {
    auto request = std::make_shared<tune_request>();
    request->key = key_of(what.key);
    request->name = simulation::text_of(request->key);
    request->guard = what.guard;
    request->sizes = what.sizes;
    request->trial.entry = "entry";
    request->mode = what.mode;
    if (what.notes) request->notes = notes_of(*what.notes);
    request->family = request->key;
    request->untuned_key = derived_key(request->key, key("untuned"));
    request->times_key = derived_key(request->key, key("times"));
    request->address.local = {world_.cache("tunes", "0").value(), what.key.k.encoded()};
    request->address.name = text_of_key(what.key.k);
    for (const auto& config : what.configs) {
      tune_candidate candidate;
      const auto equals = config.find('=');
      candidate.config[config.substr(0, equals)] = value(config.substr(equals + 1));
      candidate.config_text = config;
      candidate.action_key = derived_key(request->key, key(config));
      candidate.action = simulation::simulated_compiler::action(request->name + " " + config);
      request->candidates.push_back(std::move(candidate));
    }
    return request;
  }

  answer_slot& answer(const std::string& label) {
    const auto at = answers_.find(label);
    if (at == answers_.end()) throw failed{"an answer named " + label, "nothing was asked"};
    return *at->second;
  }

  void run(const send_message& what) {
    auto& from = *world_.find_client(what.client);
    if (!from.is_alive()) throw failed{what.client + " to be alive", "it was killed"};
    auto& to = running(what.to.owner);
    std::vector<simulation::argument> arguments;
    std::optional<cache_key> owner_key;
    for (const auto& spoken : what.arguments) {
      arguments.push_back(resolve(spoken, owner_key ? &*owner_key : nullptr, to));
      if (!owner_key)
        if (const auto* found = std::get_if<cache_key>(&arguments.back())) owner_key = *found;
    }
    const auto receiver = actor_of(what.to, to, owner_key ? &*owner_key : nullptr);
    if (what.row->verb == "promote") begin_promotion(to, *owner_key);
    auto slot = std::make_shared<answer_slot>();
    answers_[what.label] = slot;
    if (what.row->form != simulation::message_form::tells)
      asked_.push_back({what.label, from.name, slot});
    what.row->send(from.sender(), receiver, arguments, slot);
    if (settles_always_) run(run_until_idle{longest_settling});
  }

  // A caller's thread counts a promotion before it sends it.
  static void begin_promotion(simulated_process& to, const cache_key& key) {
    const auto shard = actors::memory_shard_of(key.memory_hash, to.views().size());
    to.views()[shard]->begin_promotion();
  }

  caf::actor actor_of(const place& where, simulated_process& of, const cache_key* key) {
    const auto kind = simulation::actor_kind_named(where.part).value();
    const auto& all = of.actors_of(kind);
    if (where.index && *where.index < all.size()) return all[*where.index];
    const auto found = where.index ? caf::actor{} : of.owner(kind, key);
    if (!found)
      throw failed{"an actor " + where.owner + "." + where.part,
                   "there are " + std::to_string(all.size())};
    return found;
  }

  // --- steps

  void check_limits() {
    if (world_.system().steps() > max_steps_)
      throw failed{"at most " + std::to_string(max_steps_) + " messages", "more"};
    if (world_.system().now() > max_time_)
      throw failed{"at most " + simulation::text_of(max_time_) + " of virtual time", "more"};
  }

  bool deliver_one() {
    check_limits();
    return world_.system().deliver_one();
  }

  // All that is there, while time passes.
  void deliver_in_time() {
    do {
      if (is_seeded_ && is_open_ && random_.one_in(16)) lag();
    } while (deliver_one());
  }

  // The clock moves although messages wait.
  void lag() {
    const auto next = world_.system().next_event();
    if (next && *next - world_.system().now() <= longest_lag) world_.system().advance_to(*next);
  }

  bool pass_to_next_event(std::chrono::nanoseconds until) {
    check_limits();
    const auto next = world_.system().next_event();
    if (!next || *next > until) return false;
    world_.system().advance_to(*next);
    return true;
  }

  void run(const deliver& what) {
    const auto* until = what.until.empty() ? nullptr : &answer(what.until);
    for (std::uint64_t count = 0; count < what.count; ++count) {
      if (until && until->is_there) return;
      const bool delivered = what.to ? deliver_to(*what.to) : deliver_one();
      if (delivered) continue;
      if (until) throw failed{"an answer to " + what.until, "no message is left to deliver"};
      if (what.count != ~std::uint64_t{0})
        throw failed{std::to_string(what.count) + " messages to deliver",
                     std::to_string(count) + " were there"};
      return;
    }
  }

  bool deliver_to(const place& where) {
    check_limits();
    if (const auto* one = world_.find_client(where.owner); one && where.part.empty())
      return one->is_alive() && world_.system().deliver_one_to(one->actor.id());
    auto& of = running(where.owner);
    const auto kind = simulation::actor_kind_named(where.part).value();
    for (std::size_t i = 0; i < of.actors_of(kind).size(); ++i)
      if (!where.index || *where.index == i)
        if (world_.system().deliver_one_to(of.actors_of(kind)[i].id())) return true;
    return false;
  }

  bool all_answered() const {
    return std::all_of(asked_.begin(), asked_.end(),
                       [](const auto& one) { return one.slot->is_there; });
  }

  void run(const run_until_idle& what) {
    const auto until = world_.system().now() + what.within;
    do {
      deliver_in_time();
    } while (!all_answered() && pass_to_next_event(until));
  }

  void run(const set_settling& what) { settles_always_ = what.always; }

  void run(const pass_time& what) {
    const auto until = world_.system().now() + chosen(what.time);
    if (what.delivers) {
      do {
        deliver_in_time();
      } while (pass_to_next_event(until));
    }
    world_.system().advance_to(until);
    check_limits();
  }

  std::chrono::nanoseconds chosen(const time_range& range) {
    if (!is_seeded_ || range.least == range.most) return range.least;
    const auto span = static_cast<std::uint64_t>((range.most - range.least).count());
    return range.least + std::chrono::nanoseconds(random_.between(0, span));
  }

  void run(const stall& what) {
    auto& of = running(what.who.owner);
    const auto until = world_.system().now() + chosen(what.time);
    const auto kind = simulation::actor_kind_named(what.who.part).value();
    const auto& all = of.actors_of(kind);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!what.who.index || *what.who.index == i) world_.system().stall(all[i], until);
  }

  void run(const set_order& what) {
    is_open_ = what.open;
    world_.system().choose_by(is_seeded_ && is_open_ ? &random_ : nullptr);
  }

  void run(const set_limit& what) {
    if (what.steps) max_steps_ = what.steps;
    if (what.time.count()) max_time_ = what.time;
  }

  void run(const forget_trace&) { trace_from_ = trace_.size(); }

  void run(const maybe& what) {
    if (is_seeded_ && random_.one_in(2)) carry_out(*what.what);
  }

  // --- faults

  void run(const process_fault& what) {
    switch (what.what) {
    case lifecycle_event::crash: return crash(what);
    case lifecycle_event::start: return start(process(what.name));
    case lifecycle_event::stop:
      if (!world_.stop(running(what.name)))
        throw failed{what.name + " to shut down within its deadline", "it did not"};
      return;
    case lifecycle_event::lose_power: {
      forget_dead_clients_of_host(what.name);
      return world_.lose_power(what.name, random_);
    }
    case lifecycle_event::flush: {
      const auto& store = running(what.name).store();
      const auto flushed = store ? store->flush() : fail(errc::not_found, "no disk tier");
      if (!flushed) throw failed{"the store to be synced", flushed.error().to_string()};
      return;
    }
    }
  }

  void start(simulated_process& one) {
    world_.start(one);
    world_.revive_clients(one);
  }

  // Nobody waits for what a dead client asked.
  void forget_questions_of(const std::string& client) {
    std::erase_if(asked_, [&](const auto& one) { return one.client == client; });
  }
  void forget_dead_clients_of(const std::string& name) {
    for (const auto& [client, one] : world_.clients())
      if (one.process == name) forget_questions_of(client);
  }
  void forget_dead_clients_of_host(const std::string& host) {
    for (const auto& [name, one] : world_.processes())
      if (world_.host_of(name) == host) forget_dead_clients_of(name);
  }

  void crash(const process_fault& what) {
    if (what.actor) {
      auto& of = running(what.actor->owner);
      world_.system().kill({actor_of(*what.actor, of, nullptr)});
    } else if (auto* one = world_.find_client(what.name)) {
      forget_questions_of(what.name);
      world_.kill(*one);
    } else if (auto* of = world_.process(what.name)) {
      forget_dead_clients_of(what.name);
      world_.kill(*of);
    } else {
      forget_dead_clients_of_host(what.name);
      world_.kill_host(what.name);
    }
  }

  void run(const trouble_disk& what) {
    if (what.what == disk_trouble::lies || what.what == disk_trouble::is_honest)
      return world_.disk_of(what.name).lie_about_syncs(what.what == disk_trouble::lies);
    auto& files = running(what.name).files();
    switch (what.what) {
    case disk_trouble::fails: return files.fail(what.call, what.fault);
    case disk_trouble::heals: return files.heal();
    case disk_trouble::fills: return files.fill();
    case disk_trouble::short_writes: return files.limit_writes(what.count);
    case disk_trouble::loses_writes: return files.lose_writes(what.count);
    case disk_trouble::lies:
    case disk_trouble::is_honest: return;
    }
  }

  void run(const file_fault& what) {
    auto& disk = world_.disk_of(what.host);
    if (what.what == file_damage::damage) return damage(disk, key_of(what.key));
    const auto pattern = "/store/" + what.path;
    bool found = false;
    for (const auto& path : disk.files_below("/store")) {
      if (!matches(pattern, path)) continue;
      found = true;
      if (what.what == file_damage::remove)
        disk.remove_file(path);
      else
        change(*disk.find(path), what);
    }
    if (!found) throw failed{"a file " + what.path, "there is none"};
  }

  static void change(const simulation::inode& file, const file_fault& what) {
    auto bytes = file.contents();
    if (what.what == file_damage::cut)
      bytes.resize(std::min<std::size_t>(bytes.size(), what.at));
    else if (what.at < bytes.size())
      bytes[what.at] = static_cast<char>(bytes[what.at] ^ 0x20);
    else
      throw failed{"a byte at " + std::to_string(what.at), "the file ends before"};
    file.replace_contents(bytes);
  }

  // Flips the byte after the key in its newest record: the first of metadata or payload.
  static void damage(simulation::virtual_disk& disk, const cache_key& key) {
    auto paths = disk.files_below("/store");
    for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
      if (!path->ends_with(".seg")) continue;
      const auto file = disk.find(*path);
      auto bytes = file->contents();
      const auto at = bytes.rfind(key.bytes);
      if (at == std::string::npos || at + key.bytes.size() >= bytes.size()) continue;
      auto& flipped = bytes[at + key.bytes.size()];
      flipped = static_cast<char>(flipped ^ 0x20);
      file->replace_contents(bytes);
      return;
    }
    throw failed{"a record of " + simulation::text_of(key), "no segment has one"};
  }

  void run(const behave_remote& what) { world_.remote(what.name).behave(what.behavior); }

  void run(const change_remote& what) {
    auto& server = world_.remote(what.name);
    if (what.what == remote_change::forget_all) return server.forget_all();
    const auto key = key_of(what.key);
    const auto name = storage::remote_entry_name("hearth", key);
    switch (what.what) {
    case remote_change::forget: return server.forget(name);
    case remote_change::list: return server.make_list(name);
    case remote_change::keep: return server.store(name, kept_bytes(key, what));
    case remote_change::flip: return flip(stored(server, what.key));
    case remote_change::swap:
      return std::swap(stored(server, what.key), stored(server, what.other));
    case remote_change::forget_all: return;
    }
  }

  std::string& stored(simulation::simulated_redis& server, const key_name& name) {
    const auto key = key_of(name);
    auto* bytes = server.find(storage::remote_entry_name("hearth", key));
    if (!bytes) throw failed{"a remote entry " + simulation::text_of(key), "there is none"};
    return *bytes;
  }

  // One bit of the payload, which is what an entry ends with.
  static void flip(std::string& bytes) {
    auto& last = bytes.back();
    last = static_cast<char>(last ^ 0x10);
  }

  // An entry as another machine would have sealed it.
  static std::string kept_bytes(const cache_key& key, const change_remote& what) {
    auto cache = *key.cache;
    cache.sign = what.signer.has_value();
    storage::signing_keys keys;
    if (what.signer) keys.push_back(simulation::signing_key_named(*what.signer));
    if (what.is_forged) keys[0].secret.back() ^= 1;
    return storage::seal_envelope({std::make_shared<const named_cache>(cache), key.bytes},
                                  artifact::make(what.bytes), keys);
  }

  void run(const instruct_compiler& what) {
    auto& compiler = process(what.process).compiler();
    std::visit([&](const auto& rule) { compiler.add(rule); }, what.rule);
  }

  // --- expectations

  void run(const expect_answer& what) {
    const auto& slot = answer(what.label);
    for (auto& one : asked_)
      if (one.slot.get() == &slot) one.is_expected = slot.is_there;
    const auto fits = [&](const std::string& pattern) {
      return pattern == "waiting" ? !slot.is_there : slot.is_there && matches(pattern, slot.text);
    };
    if (std::any_of(what.patterns.begin(), what.patterns.end(), fits)) return;
    std::string wanted;
    for (const auto& pattern : what.patterns)
      wanted += (wanted.empty() ? "" : " or ") + (pattern == "waiting" ? "no answer yet" : pattern);
    throw failed{wanted, slot.is_there ? slot.text : "no answer yet"};
  }

  // A script that meets errors says so.
  void expect_no_other_errors() const {
    for (const auto& one : asked_)
      if (!one.is_expected && one.slot->is_there && one.slot->text.starts_with("error "))
        throw failed{"no error that nothing expects, to the end of the script",
                     one.label + " has " + one.slot->text};
  }

  std::uint64_t figure_of(const expect_figure& what) {
    if (world_.has_remote(what.of.owner)) return server_figure(what);
    if (!world_.has_host(what.of.owner)) return process_figure(what, process(what.of.owner));
    return what.of.part == "disk" ? disk_figure(what) : host_figure(what);
  }

  // Of all processes of a host together.
  std::uint64_t host_figure(const expect_figure& what) {
    std::uint64_t sum = 0;
    for (const auto& [name, one] : world_.processes())
      if (world_.host_of(name) == what.of.owner) sum += process_figure(what, *one);
    return sum;
  }

  static std::uint64_t process_figure(const expect_figure& what, simulated_process& of) {
    std::optional<std::uint64_t> found;
    if (what.of.part == "store")
      found = of.store_figure(what.figure);
    else if (what.of.part == "log" && what.figure == "lines")
      found = of.log().size();
    else if (what.of.part == "compiler" && what.figure == "runs")
      found = of.compiler().runs();
    else if (const auto kind = simulation::actor_kind_named(what.of.part))
      found = of.figure(*kind, what.of.index, what.figure);
    if (!found) throw failed{"a figure " + what.figure, "there is none of that name"};
    return *found;
  }

  std::uint64_t server_figure(const expect_figure& what) {
    const auto found = world_.remote(what.of.owner).figure(what.figure);
    if (!found || what.of.part != "server")
      throw failed{"entries, leases, commands, gets, sets or pings of " + what.of.owner + ".server",
                   what.of.part + " " + what.figure};
    return *found;
  }

  std::uint64_t disk_figure(const expect_figure& what) {
    const auto& disk = world_.disk_of(what.of.owner);
    if (what.figure == "used_bytes") return disk.used_bytes();
    if (what.figure == "open_files") return disk.open_descriptions();
    if (what.figure == "files") return disk.files_below("/store").size();
    throw failed{"used_bytes, open_files or files", what.figure};
  }

  void run(const expect_figure& what) {
    const auto number = figure_of(what);
    const auto& r = what.relation;
    const bool holds = (r == "=" && number == what.number) ||
                       (r == "!=" && number != what.number) || (r == "<" && number < what.number) ||
                       (r == "<=" && number <= what.number) || (r == ">" && number > what.number) ||
                       (r == ">=" && number >= what.number);
    if (!holds)
      throw failed{what.figure + " " + r + " " + std::to_string(what.number),
                   std::to_string(number)};
  }

  // A line of the trace without its time.
  static std::string_view event_of(std::string_view line) {
    return line.substr(line.find(' ') + 1);
  }

  void run(const expect_trace& what) {
    auto at = trace_from_;
    for (const auto& pattern : what.patterns) {
      const auto from = at;
      while (at < trace_.size() && !matches(pattern, event_of(trace_[at])))
        ++at;
      if (what.forbidden && at < trace_.size()) throw failed{"no message " + pattern, trace_[at]};
      if (!what.forbidden && at == trace_.size())
        throw failed{pattern, from == trace_from_ ? "no such message"
                                                  : "no such message after " + trace_[from - 1]};
      ++at;
    }
  }

  void run(const expect_log& what) {
    const auto& lines = process(what.process).log();
    const bool found = std::any_of(lines.begin(), lines.end(),
                                   [&](const auto& line) { return matches(what.pattern, line); });
    if (found == what.forbidden)
      throw failed{(what.forbidden ? "no line " : "a line ") + what.pattern,
                   lines.empty() ? "nothing was logged" : "the last line is " + lines.back()};
  }

  void run(const expect_all_answered&) {
    for (const auto& one : asked_)
      if (!one.slot->is_there) throw failed{"every question answered", one.label + " waits"};
  }

  void run(const expect_intact& what) {
    const auto& store = running(what.process).store();
    if (!store) throw failed{"a store", "there is none"};
    const auto checked = store->verify(false);
    if (!checked) throw failed{"the store to be readable", checked.error().to_string()};
    if (!checked->intact())
      throw failed{"an intact store", checked->findings.empty() ? "damage" : checked->findings[0]};
  }

  const program& script_;
  random_source random_;
  const bool is_seeded_;
  bool is_open_ = true;
  bool settles_always_ = false;
  std::vector<std::string> trace_; // before the world, which writes to it until its end
  simulation::world world_;
  std::map<std::string, simulation::answer_ptr> answers_;
  std::vector<question> asked_; // of clients that live
  std::size_t trace_from_ = 0;
  std::uint64_t max_steps_ = default_max_steps;
  std::chrono::nanoseconds max_time_ = default_max_time;
};

} // namespace

run_result run(const program& script, const run_options& options) {
  return interpreter(script, options).run();
}

} // namespace hearth::script
