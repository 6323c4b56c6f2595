#include "actors/memory_shard/parts.hpp"

#include <memory>

namespace hearth::actors::shard {
namespace {

// An insert that the disk was asked for.
struct insert_record {
  cache_key key;
  artifact value;
  insert_callback next;
  epoch_guard same;
};

void end_insert(self_pointer self, const insert_record& write, insert_outcome outcome,
                std::uint64_t before, std::uint64_t after) {
  if (before != after)
    take_in_insert(self, write.key, write.value, outcome, before, after);
  else if (outcome == insert_outcome::inserted && write.same)
    keep_in_memory(self, write.key, write.value);
  if (outcome == insert_outcome::inserted)
    tell_remote(self, verb::insert_v, write.key, write.value);
  write.next(outcome);
}

// Memory serves although the disk is ill.
void end_failed_insert(self_pointer self, const insert_record& write, const caf::error& why) {
  const auto what = from_caf(why);
  keep_in_memory(self, write.key, write.value);
  note_unpersisted(self, write.key, write.value, what);
  tell_remote(self, verb::insert_v, write.key, write.value);
  write.next(fail(what));
}

} // namespace

void insert(self_pointer self, const cache_key& key, const artifact& value,
            const insert_callback& next) {
  auto& state = self->state;
  if (find_in_memory(state, key)) return next(insert_outcome::exists);
  if (!uses_disk(state, key)) {
    keep_in_memory(self, key, value);
    tell_remote(self, verb::insert_v, key, value);
    return next(insert_outcome::inserted);
  }
  const auto write = std::make_shared<const insert_record>(
      insert_record{key, value, next, epoch_guard(state, key)});
  self->request(disk_of(state, key), caf::infinite, verb::insert_v, key, value)
      .then(
          [self, write](insert_outcome outcome, std::uint64_t before, std::uint64_t after) {
            end_insert(self, *write, outcome, before, after);
          },
          [self, write](const caf::error& why) { end_failed_insert(self, *write, why); });
}

void put(self_pointer self, const cache_key& key, const artifact& value, reply_target<done> reply) {
  auto& state = self->state;
  overtake_load(state, key);
  tell_remote(self, verb::put_v, key, value);
  if (!uses_disk(state, key)) {
    replace_in_memory(self, key, value);
    reply.deliver(done{});
    return;
  }
  self->request(disk_of(state, key), caf::infinite, verb::put_v, key, value)
      .then(
          [self, key, value, reply](std::uint64_t before, std::uint64_t after, bool) mutable {
            take_in_write(self, key, value, before, after);
            reply.deliver(done{});
          },
          [self, key, value, reply](const caf::error& why) mutable {
            const auto what = from_caf(why);
            replace_in_memory(self, key, value);
            note_unpersisted(self, key, value, what);
            reply.deliver(fail(what));
          });
}

void erase(self_pointer self, const cache_key& key, reply_target<bool> reply) {
  auto& state = self->state;
  overtake_load(state, key);
  tell_remote(self, verb::erase_v, key);
  if (!uses_disk(state, key)) {
    reply.deliver(erase_in_memory(self, key));
    return;
  }
  self->request(disk_of(state, key), caf::infinite, verb::erase_v, key)
      .then(
          [self, key, reply](std::uint64_t before, std::uint64_t after, bool was_there) mutable {
            const bool in_index = erase_in_memory(self, key);
            tell_views(self->state, key, before, after);
            reply.deliver(was_there || in_index);
          },
          [self, key, reply](const caf::error& why) mutable {
            erase_in_memory(self, key);
            reply.deliver(fail(from_caf(why)));
          });
}

} // namespace hearth::actors::shard
