#include "actors/disk_shard.hpp"

#include "storage/remote/purge_log.hpp"

#include <span>

namespace hearth::actors {
namespace {

using storage::write_kind;
using storage::write_request;
using storage::write_status;

// Bounds of one group; they limit how long the shard's lock is held.
constexpr std::size_t max_group_records = 256;
constexpr std::size_t max_group_bytes = 16u << 20;

void collect(disk_shard_pointer self, disk_shard_state::pending_write write) {
  auto& state = self->state;
  state.pending.push_back(std::move(write));
  if (state.group_is_due) return;
  state.group_is_due = true;
  self->send(self, verb::write_v); // behind every message in the mailbox
}

void log_failure_once(disk_shard_state& state, const error& why) {
  if (state.failure_was_logged) return;
  state.failure_was_logged = true;
  state.log(log_level::warning, "the disk tier cannot write: " + why.text());
}

void answer_insert(disk_shard_state& state, disk_shard_state::insert_promise& promise,
                   const write_request& result, epoch_change epochs) {
  if (result.status == write_status::failed) {
    log_failure_once(state, result.why);
    promise.deliver(to_caf(result.why));
    return;
  }
  state.failure_was_logged = false;
  const bool is_stored =
      result.status == write_status::inserted || result.status == write_status::stored;
  const auto outcome = is_stored ? insert_outcome::inserted : insert_outcome::exists;
  promise.deliver(disk_insert_reply{outcome, epochs});
}

void answer_change(disk_shard_state& state, disk_shard_state::change_promise& promise,
                   const write_request& result, epoch_change epochs) {
  if (result.status == write_status::failed) {
    log_failure_once(state, result.why);
    promise.deliver(to_caf(result.why));
    return;
  }
  promise.deliver(disk_change_reply{result.status != write_status::absent, epochs});
}

// Applies the writes, and returns how the epoch moved.
epoch_change apply_group(disk_shard_state& state, std::span<write_request> group) {
  const auto before = state.store->epoch(state.shard);
  const auto moves = state.store->apply(state.shard, group);
  const auto after = state.store->epoch(state.shard);
  return {after - before == moves ? before : 0, after};
}

// Applies one group within the bounds, starting at `first`; returns the first write after it.
std::size_t write_group(disk_shard_state& state,
                        std::vector<disk_shard_state::pending_write>& writes, std::size_t first) {
  std::vector<write_request> group;
  std::size_t bytes = 0;
  std::size_t last = first;
  for (; last < writes.size() && group.size() < max_group_records; ++last) {
    const auto& write = writes[last];
    bytes += write.value.payload().size();
    if (bytes > max_group_bytes && !group.empty()) break;
    group.push_back({.kind = write.kind,
                     .key = storage::entry_key(write.key),
                     .value = write.value,
                     .compress = write.key.cache->compress,
                     .journal = write.is_conditional ? state.journal.get() : nullptr,
                     .last_change = write.last_change});
  }
  const auto epochs = apply_group(state, group);
  for (std::size_t i = 0; i < group.size(); ++i) {
    auto& promise = writes[first + i].promise;
    if (auto* insert = std::get_if<disk_shard_state::insert_promise>(&promise))
      answer_insert(state, *insert, group[i], epochs);
    else
      answer_change(state, std::get<disk_shard_state::change_promise>(promise), group[i], epochs);
  }
  return last;
}

void write_pending(disk_shard_state& state) {
  state.group_is_due = false;
  auto writes = std::exchange(state.pending, {});
  for (std::size_t next = 0; next < writes.size();)
    next = write_group(state, writes, next);
}

caf::result<lookup> load(disk_shard_state& state, const cache_key& key) {
  auto read = state.store->get(storage::entry_key(key));
  switch (read.status) {
  case storage::read_status::hit: return lookup{tier::disk, std::move(read.value)};
  case storage::read_status::corrupt: return to_caf(storage::corrupt_entry(key.cache->id));
  case storage::read_status::unreadable: return lookup::unanswered();
  case storage::read_status::miss: break;
  }
  return lookup{};
}

// What the set holds is unknown, so nothing may be stored over it.
error unreadable_set() { return {errc::io, "a set on disk cannot be read; try again"}; }

// One attempt to change a set: reads it, changes it and stores it, unless another process has
// stored it meanwhile.
struct set_attempt {
  write_status status = write_status::failed;
  error why;
  set_reply reply;
};

set_attempt try_merge(disk_shard_state& state, const cache_key& key, const set_change& change) {
  const auto place = storage::entry_key(key);
  const auto read = state.store->get(place);
  if (read.status == storage::read_status::unreadable)
    return {write_status::failed, unreadable_set(), {}};
  // A set that cannot be read counts as empty, and is replaced.
  auto set = decode_members(read.value.payload()).value_or(member_set{});
  set_attempt attempt{write_status::stored, {}, {read.value, apply(set, change), {}}};
  if (!attempt.reply.outcome.changed) return attempt;
  attempt.reply.value = artifact::make(encode(set));
  write_request request{.kind = write_kind::swap,
                        .key = place,
                        .value = attempt.reply.value,
                        .compress = key.cache->compress,
                        .read_sequence = read.sequence};
  attempt.reply.epochs = apply_group(state, {&request, 1});
  attempt.status = request.status;
  attempt.why = request.why;
  return attempt;
}

caf::result<set_reply> merge(disk_shard_state& state, const cache_key& key,
                             const set_change& change) {
  constexpr unsigned max_attempts = 100;
  write_pending(state);
  for (unsigned i = 0; i < max_attempts; ++i) {
    auto attempt = try_merge(state, key, change);
    if (attempt.status == write_status::overtaken) continue;
    if (attempt.status == write_status::stored) return std::move(attempt.reply);
    log_failure_once(state, attempt.why);
    return to_caf(attempt.why);
  }
  return to_caf({errc::busy, "other processes store this entry again and again; try again"});
}

// The purges come first: after a power loss a mark must not be newer than they are.
void note_heard(disk_shard_state& state, const std::string& mark) {
  auto noted = state.store->flush();
  if (noted)
    noted = state.store->set_fleet_mark(storage::add_mark(state.store->fleet_mark(), mark));
  if (!noted) log_failure_once(state, noted.error());
}

caf::result<done> clear(disk_shard_state& state) {
  write_pending(state);
  const auto cleared = state.store->clear();
  if (!cleared) return to_caf(cleared.error());
  return done{};
}

} // namespace

disk_shard_state::~disk_shard_state() {
  for (auto& write : pending)
    std::visit(
        [](auto& promise) {
          promise.deliver(to_caf({errc::closed, "the disk shard ended before it wrote"}));
        },
        write.promise);
}

disk_shard_actor::behavior_type disk_shard(disk_shard_pointer self,
                                           std::shared_ptr<storage::store> store, unsigned shard,
                                           std::shared_ptr<const storage::change_journal> journal,
                                           log_sink log) {
  self->state.store = std::move(store);
  self->state.shard = shard;
  self->state.journal = std::move(journal);
  self->state.log = std::move(log);
  return {
      [self](verb::load, const cache_key& key) { return load(self->state, key); },
      [self](verb::insert, const cache_key& key, const artifact& value) {
        auto promise = self->make_response_promise<disk_insert_reply>();
        collect(self, {write_kind::insert, key, value, promise});
        return promise;
      },
      [self](verb::insert, const cache_key& key, const artifact& value, std::uint64_t last_change) {
        auto promise = self->make_response_promise<disk_insert_reply>();
        collect(self, {write_kind::insert, key, value, promise, true, last_change});
        return promise;
      },
      [self](verb::put, const cache_key& key, const artifact& value) {
        auto promise = self->make_response_promise<disk_change_reply>();
        collect(self, {write_kind::put, key, value, promise});
        return promise;
      },
      [self](verb::put, const cache_key& key, const artifact& value, std::uint64_t change) {
        auto promise = self->make_response_promise<disk_insert_reply>();
        collect(self, {write_kind::put, key, value, promise, true, change});
        return promise;
      },
      [self](verb::erase, const cache_key& key) {
        auto promise = self->make_response_promise<disk_change_reply>();
        collect(self, {write_kind::erase, key, {}, promise});
        return promise;
      },
      [self](verb::merge, const cache_key& key, const set_change& change) {
        return merge(self->state, key, change);
      },
      [self](verb::heard, const std::string& mark) { note_heard(self->state, mark); },
      [self](verb::clear) { return clear(self->state); },
      [self](verb::write) { write_pending(self->state); },
      [self](verb::drain) {
        write_pending(self->state);
        return done{};
      },
  };
}

} // namespace hearth::actors
