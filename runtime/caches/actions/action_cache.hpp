// Actions with kept results: any command line is run once for all who ask, in any thread and
// process; from then on its outputs, its status and what it printed are found.
//
// Any thread; copies share the cache. docs/actions.md.
#pragma once

#include "messages/error.hpp"
#include "messages/key_builder.hpp"
#include "messages/replies.hpp"
#include "runtime/api/call_options.hpp"
#include "runtime/api/future.hpp"
#include "runtime/caches/actions/action.hpp"

#include <memory>
#include <string_view>

namespace hearth {

class runtime;

class action_cache {
public:
  /// Over the named cache `name`. Errors: those of `runtime::open`.
  static expected<action_cache> open(runtime& in, std::string_view name = "results");

  /// The action's outcome: found, or of a run now. A command that fails is no error. When nobody
  /// waits for it any more (deadline, cancellation), what runs is killed. Errors: `not_found` (an
  /// input, the program), `permission`, `invalid_argument`; `process_failed` (it could not be
  /// started, or ended well without an output); `timeout` and `cancelled` by the options.
  expected<action_outcome> run(const action& asked, const call_options& options = {}) const;
  /// The same on a thread of the runtime's.
  future<action_outcome> run_async(const action& asked, const call_options& options = {}) const;

  /// What the action is found by. Errors: as `run`, of looking at it.
  expected<structural_key> key_of(const action& asked) const;

  /// Every run since this was last asked for, of the whole runtime.
  span_list trace() const;

private:
  struct shared;
  explicit action_cache(std::shared_ptr<shared> parts)
      : shared_(std::move(parts)) {}

  std::shared_ptr<shared> shared_;
};

} // namespace hearth
