// Actions with stored results: a command line runs once for all callers, in any thread and process.
// Later calls find its outputs, its status and its printed text.
//
// Any thread; copies share the cache. docs/actions.md.
#pragma once

#include "messages/error.hpp"
#include "messages/key_builder.hpp"
#include "messages/replies.hpp"
#include "messages/visibility.hpp"
#include "runtime/actions/action.hpp"
#include "runtime/api/call_options.hpp"
#include "runtime/api/future.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

class runtime;

class action_cache {
public:
  /// An empty handle, to be assigned; nothing else may be called.
  action_cache() noexcept = default;
  explicit operator bool() const noexcept { return shared_ != nullptr; }

  /// Opens an action cache over the named cache `name`. Errors: those of `runtime::open`.
  static expected<action_cache> open(runtime& in, std::string_view name = "results");

  /// Returns the stored outcome of the action, or runs it. A command that fails is no error. A run
  /// that no caller waits for any more (deadline, cancellation) is killed. Errors: `not_found` (an
  /// input), `program_not_found`, `program_refused`, `invalid_argument`; `process_failed` (it could
  /// not start, or it succeeded without an output); `timeout` and `cancelled` by the options.
  expected<action_outcome> run(const action& asked, const call_options& options = {}) const;
  /// The same on a thread of the runtime.
  future<action_outcome> run_async(const action& asked, const call_options& options = {}) const;

  /// The stored outcome that `run` would find, as far as this host knows what it read; else empty.
  /// Runs nothing. Errors: those of `run`
  /// about its inputs and its program.
  expected<std::optional<action_outcome>> find(const action& asked,
                                               const call_options& options = {}) const;

  /// What `run` would find on this host, and why not. Runs nothing. Errors: those of `run` about
  /// its inputs and its program.
  expected<action_explanation> explain(const action& asked) const;

  /// The key of the action. Errors: those of `run` about its inputs and its program.
  expected<structural_key> key_of(const action& asked) const;

  /// As `runtime::trace`.
  span_list trace() const;

private:
  struct shared;
  explicit action_cache(std::shared_ptr<shared> parts)
      : shared_(std::move(parts)) {}

  std::shared_ptr<shared> shared_;
};

} // namespace hearth
