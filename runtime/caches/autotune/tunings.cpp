#include "runtime/caches/autotune/tunings.hpp"

#include "messages/autotune/comments.hpp"
#include "runtime/caches/autotune/tuning_caches.hpp"
#include "runtime/caches/autotune/tuning_connection.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"

#include <caf/send.hpp>

#include <utility>

namespace hearth {

struct tuning_session::shared {
  std::shared_ptr<engine::runtime_core> core;
};

struct tunings::shared {
  std::shared_ptr<engine::runtime_core> core;
  tuning_settings settings;
  named_cache_ptr local;   // null: off
  named_cache_ptr remote;  // null: off
  named_cache_ptr bundles; // null: off
};

// --- sessions ----------------------------------------------------------------------------------

tuning_session::tuning_session(std::shared_ptr<shared> parts, bundle_session begun)
    : shared_(std::move(parts))
    , begun_(begun) {}

tuning_session::tuning_session(tuning_session&&) noexcept = default;

tuning_session& tuning_session::operator=(tuning_session&& other) noexcept {
  abandon();
  shared_ = std::exchange(other.shared_, nullptr);
  begun_ = other.begun_;
  return *this;
}

tuning_session::~tuning_session() { abandon(); }

expected<bundle_end> tuning_session::finish() {
  const auto parts = std::exchange(shared_, nullptr);
  if (!parts && begun_.id == 0) return bundle_end{}; // bundling is off
  if (!parts) return fail(errc::not_found, "this session of tunings has ended");
  return engine::ask_actor<bundle_end>(*parts->core, parts->core->bundler(), verb::finish_v,
                                       begun_.id);
}

void tuning_session::abandon() noexcept {
  const auto parts = std::exchange(shared_, nullptr);
  if (parts && !parts->core->refusal())
    caf::anon_send(parts->core->bundler(), verb::abandon_v, begun_.id);
}

// --- the tunings -------------------------------------------------------------------------------

expected<tunings> tunings::open(runtime& in, tuning_settings settings) {
  auto parts = std::make_shared<shared>();
  parts->core = internals::core(in).shared_from_this();
  if (auto no = parts->core->refusal()) return fail(*no);
  const tuning_caches caches(*parts->core);
  if (settings.local) parts->local = caches.local;
  // Without a backend hash it is unknown which machines a tuning fits.
  const bool is_shared = !settings.scope.backend_hash.empty() && parts->core->has_remote();
  const bool is_inductors = settings.remote_form == tuning_form::inductor;
  const auto remote = is_inductors ? open_inductor_tunings(*parts->core) : caches.remote;
  if (settings.remote && is_shared && remote && remote->remote) parts->remote = remote;
  if (is_inductors && parts->remote && parts->remote->sign)
    return fail(errc::unsupported,
                "tunings in Inductor's form cannot be signed: use Hearth's form, "
                "or a remote tier without signing keys");
  if (settings.bundle && parts->local) parts->bundles = caches.bundles;
  if (!parts->local && !parts->remote)
    return fail(errc::unsupported, "no tier for tunings is on: turn the local one on, or give a "
                                   "remote tier and a backend hash");
  parts->settings = std::move(settings);
  return tunings(std::move(parts));
}

bool tunings::has_local() const noexcept { return shared_->local != nullptr; }
bool tunings::has_remote() const noexcept { return shared_->remote != nullptr; }

autotune_address tunings::address_of(std::string_view filename,
                                     std::string_view configs_hash) const {
  const auto& scope = shared_->settings.scope;
  const auto prepared = prepared_key(filename, scope.tag);
  autotune_address address;
  address.name = local_name(prepared, scope.toolchain);
  if (shared_->local) address.local = cache_key(shared_->local, key(address.name).encoded());
  if (!shared_->remote) return address;
  const auto id = remote_id(scope, configs_hash);
  const auto in_fleet = shared_->remote->foreign ? key(inductor_name(id, prepared))
                                                 : key::tuple({key(id), key(prepared)});
  address.remote = cache_key(shared_->remote, in_fleet.encoded());
  return address;
}

expected<std::optional<chosen_config>>
tunings::ask_best(std::string_view filename, autotune_choices among, tuning_notes notes) const {
  auto& core = *shared_->core;
  if (recording_) notes.recording = internals::number(*recording_);
  among.coordinate_descent = shared_->settings.coordinate_descent;
  auto found = engine::ask_actor<autotune_found>(
      core, core.autotune(), verb::best_v, address_of(filename, among.configs_hash), among, notes);
  if (found) return std::optional(std::move(found->best));
  if (found.error().code() == errc::not_found) return std::optional<chosen_config>();
  return fail(found.error());
}

expected<void> tunings::ask_save(std::string_view filename, const autotune_record& record,
                                 tuning_notes notes) const {
  auto& core = *shared_->core;
  if (recording_) notes.recording = internals::number(*recording_);
  const auto saved =
      engine::ask_actor<done>(core, core.autotune(), verb::save_v,
                              address_of(filename, record.configs_hash), record, notes);
  if (!saved) return fail(saved.error());
  return {};
}

expected<std::optional<chosen_config>> tunings::best(std::string_view filename,
                                                     autotune_choices among) const {
  return ask_best(filename, std::move(among), {});
}

expected<std::optional<chosen_config>> tunings::best(std::string_view filename,
                                                     autotune_choices among,
                                                     const tuning_session& session) const {
  return ask_best(filename, std::move(among), {session.begun().id, 0});
}

expected<void> tunings::save(std::string_view filename, const autotune_record& record) const {
  return ask_save(filename, record, {});
}

expected<void> tunings::save(std::string_view filename, const autotune_record& record,
                             const tuning_session& session) const {
  return ask_save(filename, record, {session.begun().id, 0});
}

expected<tuning_session> tunings::begin(std::string_view code, std::string_view language) const {
  return begin_hash(comment_stripped_hash(code, comment_syntax_of(language)));
}

expected<tuning_session> tunings::begin_hash(std::string_view code_hash) const {
  auto& core = *shared_->core;
  if (auto no = core.refusal()) return fail(*no);
  if (!shared_->bundles) return tuning_session(nullptr, {});
  const auto name = bundle_key(code_hash, shared_->settings.scope.backend_hash);
  const auto at = key::tuple({key(bundle_id), key(name)});
  const auto begun =
      engine::ask_actor<bundle_session>(core, core.bundler(), verb::begin_v,
                                        cache_key(shared_->bundles, at.encoded()), shared_->local);
  if (!begun) return fail(begun.error());
  return tuning_session(
      std::make_shared<tuning_session::shared>(tuning_session::shared{shared_->core}), *begun);
}

tunings tunings::recorded_by(const recording_session& session) const {
  auto recorded = *this;
  recorded.recording_ = session;
  return recorded;
}

std::string tunings::connection() const {
  return encode_connection({shared_->core->settings(), shared_->settings});
}

} // namespace hearth
