#include "actors/autotune_cache.hpp"

#include "actors/replace_entry.hpp"
#include "actors/shared_promise.hpp"
#include "actors/timeouts.hpp"
#include "storage/bundle/record_head.hpp"
#include "storage/text/best_config_text.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace hearth::actors {
namespace {

// --- sessions ----------------------------------------------------------------------------------

void note(autotune_cache_pointer self, const autotune_address& where, const autotune_record& record,
          const tuning_notes& notes) {
  const auto& config = self->state.config;
  if (!where.local.cache) return;
  if (notes.bundle != 0 && config.bundler)
    self->send(config.bundler, verb::record_v, notes.bundle, where.name, record);
  if (notes.recording != 0 && config.recorder)
    self->send(config.recorder, verb::save_v, notes.recording,
               std::string(storage::tuning_record_type), where.local,
               artifact::make(encode_record(record)));
}

// --- best --------------------------------------------------------------------------------------

struct search {
  autotune_address where;
  autotune_choices among;
  tuning_notes notes;
  shared_promise<autotune_found> promise;
};
using search_ptr = std::shared_ptr<const search>;

// The tuning in an entry: Inductor's JSON in a cache that its hosts read too, else a record.
expected<autotune_record> record_in(const cache_key& at, const artifact& stored) {
  return at.cache->foreign ? parse_best_config(stored.payload()) : decode_record(stored.payload());
}

// The entry of a tuning in such a cache. Errors: those of `best_config_text`.
expected<artifact> entry_of(const cache_key& at, const autotune_record& record) {
  if (!at.cache->foreign) return artifact::make(encode_record(record));
  const auto text = best_config_text(record);
  if (!text) return fail(text.error());
  return artifact::make(*text);
}

// The tuning of these candidates in a tier's answer. Empty if the tier has no entry, or if the
// entry cannot be read, belongs to other candidates, or fits none of these.
std::optional<autotune_found> found_in(const cache_key& at, const lookup& found,
                                       const autotune_choices& among) {
  if (!found.hit()) return std::nullopt;
  auto record = record_in(at, found.value);
  if (!record) return std::nullopt;
  auto best = choose(*record, among);
  if (!best) return std::nullopt;
  return autotune_found{std::move(*best), std::move(*record), found.from};
}

// Notes every hit in the local cache for the session, whether or not it fits these candidates: the
// bundle then holds the same entries as the local cache.
void note_hit(autotune_cache_pointer self, const search& asked, const lookup& found) {
  if (!found.hit()) return;
  const auto record = decode_record(found.value.payload());
  if (record) note(self, asked.where, *record, asked.notes);
}

void deliver_nothing(const search& asked) {
  asked.promise.deliver(
      to_caf({errc::not_found, "nothing is known of these configurations of this kernel"}));
}

// What the local tier had of a tuning that it could not answer.
enum class local_entry : std::uint8_t { missing, unfit };

// Copies a tuning found in the remote tier to the local tier. One that was saved there meanwhile
// stays.
void fill_local(autotune_cache_pointer self, const search_ptr& asked, const autotune_found& found,
                local_entry had) {
  const auto& key = asked->where.local;
  if (!key.cache) return asked->promise.deliver(found);
  note(self, asked->where, found.record, asked->notes);
  const auto& shards = self->state.config.shards;
  const auto stored = artifact::make(encode_record(found.record));
  if (had == local_entry::unfit)
    return replace_entry(self, shards, key, stored,
                         [=](const expected<done>&) { asked->promise.deliver(found); });
  self->request(shards.owner_of(key), answer_timeout, verb::insert_v, key, stored)
      .then([=](insert_outcome) { asked->promise.deliver(found); },
            [=](const caf::error&) { asked->promise.deliver(found); });
}

void ask_remote(autotune_cache_pointer self, const search_ptr& asked, local_entry had) {
  const auto& key = asked->where.remote;
  if (!key.cache) return deliver_nothing(*asked);
  self->request(self->state.config.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then(
          [=](const lookup& found) {
            if (const auto best = found_in(asked->where.remote, found, asked->among))
              fill_local(self, asked, *best, had);
            else
              deliver_nothing(*asked);
          },
          [=](const caf::error&) { deliver_nothing(*asked); });
}

void ask_local(autotune_cache_pointer self, const search_ptr& asked) {
  const auto& key = asked->where.local;
  if (!key.cache) return ask_remote(self, asked, local_entry::missing);
  self->request(self->state.config.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then(
          [=](const lookup& found) {
            note_hit(self, *asked, found);
            if (const auto best = found_in(asked->where.local, found, asked->among))
              asked->promise.deliver(*best);
            else
              ask_remote(self, asked, found.hit() ? local_entry::unfit : local_entry::missing);
          },
          [=](const caf::error&) { ask_remote(self, asked, local_entry::missing); });
}

// --- save --------------------------------------------------------------------------------------

// The remote tier is written behind: the caller does not wait for it.
void save_remote(autotune_cache_pointer self, const autotune_address& where,
                 const autotune_record& record, const shared_promise<done>& promise) {
  if (!where.remote.cache) return promise.deliver(done{});
  const auto stored = entry_of(where.remote, record);
  if (!stored) return promise.deliver(to_caf(stored.error()));
  self->request(self->state.config.shards.owner_of(where.remote), answer_timeout, verb::put_v,
                where.remote, *stored)
      .then([promise](const done& d) { promise.deliver(d); },
            [promise](const caf::error& why) { promise.deliver(why); });
}

void save(autotune_cache_pointer self, const autotune_address& where, const autotune_record& record,
          const tuning_notes& notes, const shared_promise<done>& promise) {
  note(self, where, record, notes);
  if (!where.local.cache) return save_remote(self, where, record, promise);
  replace_entry(self, self->state.config.shards, where.local, artifact::make(encode_record(record)),
                [=](const expected<done>& kept) {
                  if (kept)
                    save_remote(self, where, record, promise);
                  else
                    promise.deliver(to_caf(kept.error()));
                });
}

} // namespace

autotune_cache_actor::behavior_type autotune_cache(autotune_cache_pointer self,
                                                   autotune_cache_config config) {
  self->state.config = std::move(config);
  return {
      [self](verb::best, const autotune_address& where, const autotune_choices& among,
             const tuning_notes& notes) {
        const shared_promise<autotune_found> promise(self->make_response_promise<autotune_found>());
        ask_local(self, std::make_shared<search>(search{where, among, notes, promise}));
        return promise.promise();
      },
      [self](verb::save, const autotune_address& where, const autotune_record& record,
             const tuning_notes& notes) {
        const shared_promise<done> promise(self->make_response_promise<done>());
        save(self, where, record, notes, promise);
        return promise.promise();
      },
  };
}

} // namespace hearth::actors
