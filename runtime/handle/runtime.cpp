#include "runtime/handle/runtime.hpp"

#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/calls/call_trace.hpp"
#include "runtime/engine/calls/saved_time.hpp"
#include "runtime/engine/core.hpp"

#include <utility>

namespace hearth {

runtime::runtime(config settings)
    : core_(std::make_shared<engine::runtime_core>(std::move(settings), nullptr)) {}

runtime::runtime(config settings, caf::actor_system& host)
    : core_(std::make_shared<engine::runtime_core>(std::move(settings), &host)) {}

runtime::~runtime() {
  shutdown();
  // The child of a fork lacks the threads to wait for: there the core is never destroyed.
  if (core_->is_forked()) static_cast<void>(new std::shared_ptr<engine::runtime_core>(core_));
}

expected<cache> runtime::open(std::string_view name, cache_options options) {
  const auto id = cache_id::make(name, options.version);
  if (!id) return fail(id.error());
  auto named = core_->name(*id, options);
  if (!named) return fail(named.error());
  auto saved = options.on_time_saved ? std::make_shared<engine::saved_time>(
                                           std::move(options.on_time_saved), (*named)->counters)
                                     : nullptr;
  return cache{core_, std::move(*named), std::move(saved)};
}

cache runtime::open_apart(const cache_id& id) { return cache{core_, core_->name_apart(id)}; }

expected<void> runtime::flush() {
  if (const auto no = core_->refusal()) return fail(*no);
  return core_->store() ? core_->store()->flush() : expected<void>{};
}

runtime_stats runtime::stats() const { return core_->stats(); }

expected<std::string> runtime::metrics() const {
  const auto page = engine::ask_actor<metrics_page>(*core_, core_->metrics(), verb::stats_v);
  if (!page) return fail(page.error());
  return page->text();
}

void runtime::note_bypass(std::string_view reason) { core_->note_bypass(reason); }

span_list runtime::trace() const { return engine::take_trace(*core_); }

bool runtime::has_disk() const noexcept { return core_->store() != nullptr; }

const error& runtime::disk_problem() const noexcept { return core_->disk_problem(); }

bool runtime::has_remote() const noexcept { return core_->has_remote(); }

const error& runtime::remote_problem() const noexcept { return core_->remote_problem(); }

void runtime::shutdown() { core_->shutdown(); }

} // namespace hearth
