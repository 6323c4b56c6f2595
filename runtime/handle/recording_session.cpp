#include "runtime/handle/recording_session.hpp"

#include "messages/guarded_variant.hpp"
#include "messages/member_set.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "storage/bundle/record_head.hpp"

#include <caf/send.hpp>

#include <atomic>
#include <string>

namespace hearth {

// The number of the session, shared by its copies; the last one ends it.
struct recorded_cache::shared {
  shared(std::shared_ptr<engine::runtime_core> in, std::uint64_t session)
      : core(std::move(in))
      , number(session) {}
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() {
    if (!core->refusal()) caf::anon_send(core->recorder(), verb::finish_v, number);
  }

  // Bounds the recorder's mailbox: after every `max_waiting` artifacts the caller waits for the
  // recorder.
  void note(std::string_view type, const cache_key& key, const artifact& value) const {
    constexpr std::uint64_t max_waiting = 128;
    if (core->refusal()) return;
    caf::anon_send(core->recorder(), verb::save_v, number, std::string(type), key, value);
    if (++noted % max_waiting == 0) (void)count();
  }
  expected<std::uint64_t> count() const {
    return engine::ask_actor<std::uint64_t>(*core, core->recorder(), verb::count_v, number);
  }

  const std::shared_ptr<engine::runtime_core> core;
  const std::uint64_t number;
  mutable std::atomic<std::uint64_t> noted{0};
};

// --- the watched cache -------------------------------------------------------------------------

void recorded_cache::note(const key& k, const artifact& value) const {
  session_->note(storage::entry_record_type, cache_key(internals::name(cache_), k.encoded()),
                 value);
}

expected<lookup> recorded_cache::get(const key& k, const call_options& options) const {
  auto found = cache_.get(k, options);
  if (found && found->hit()) note(k, found->value);
  return found;
}

lookup_list recorded_cache::get_many(std::span<const key> keys, const call_options& options) const {
  auto all = cache_.get_many(keys, options);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] && all[i]->hit()) note(keys[i], all[i]->value);
  return all;
}

expected<insert_outcome> recorded_cache::insert(const key& k, const artifact& value,
                                                const call_options& options) const {
  auto outcome = cache_.insert(k, value, options);
  if (!outcome) return outcome;
  if (*outcome == insert_outcome::inserted)
    note(k, value);
  else
    (void)get(k, options);
  return outcome;
}

expected<void> recorded_cache::put(const key& k, const artifact& value,
                                   const call_options& options) const {
  auto stored = cache_.put(k, value, options);
  if (stored) note(k, value);
  return stored;
}

expected<artifact> recorded_cache::get_or_compile(const key& k, const compile_function& compile,
                                                  const call_options& options) const {
  auto made = cache_.get_or_compile(k, compile, options);
  if (made) note(k, *made);
  return made;
}

// --- the session -------------------------------------------------------------------------------

expected<recording_session> recording_session::begin(runtime& in, const recording_limits& limits) {
  auto core = internals::core(in).shared_from_this();
  const auto number = engine::ask_actor<std::uint64_t>(*core, core->recorder(), verb::begin_v,
                                                       limits.bytes, limits.artifacts);
  if (!number) return fail(number.error());
  return recording_session(std::make_shared<const recorded_cache::shared>(core, *number));
}

expected<void> recording_session::note(const cache& in, const key& k, const artifact& value,
                                       std::string_view type) const {
  if (!storage::is_record_type(type))
    return fail(errc::invalid_argument,
                "a type has 1 to 64 of A-Z a-z 0-9 . _ -, unlike '" + std::string(type) + "'");
  shared_->note(type, cache_key(internals::name(in), k.encoded()), value);
  return {};
}

void internals::note(const recording_session& in, std::string_view type, const cache_key& key,
                     const artifact& value) {
  in.shared_->note(type, key, value);
}

void internals::note_variant(const recording_session& in, std::string_view type,
                             const cache_key& base, const std::string& guard,
                             const artifact& value) {
  const auto id = variant_id(guard, value);
  note(in, type, variant_key(base, id), value);
  member_set one;
  one.add({id, guard});
  note(in, type, variants_key(base), artifact::make(encode(one)));
}

std::uint64_t internals::number(const recording_session& of) noexcept { return of.shared_->number; }

expected<std::uint64_t> recording_session::count() const { return shared_->count(); }

expected<recording> recording_session::finish() const {
  auto& core = *shared_->core;
  return engine::ask_actor<recording>(core, core.recorder(), verb::finish_v, shared_->number);
}

} // namespace hearth
