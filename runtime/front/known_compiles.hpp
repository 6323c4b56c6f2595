// Compiles that were found before, by the marks of all that they looked at: so the next one is
// found without knowing the compiler, its toolchain or what each file holds. A record that does not
// hold says nothing: the compile is then looked up as any action.
//
// Reads the file system and the store; any thread.
#pragma once

#include "messages/key.hpp"
#include "runtime/actions/action.hpp"
#include "runtime/actions/find_result.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"

#include <optional>
#include <string>

namespace hearth::front {

class known_compiles {
public:
  /// Both outlive it.
  known_compiles(fingerprints::fact_memo& facts, const action& asked);

  /// The stored outcome of the action, if all that it looked at when it was last found is as it
  /// was.
  std::optional<action_outcome> find(entry_source& in) const;
  /// Records that `observation` holds now and that its result is stored at `result`. Records
  /// nothing if a file changed so shortly ago that its stamp may stand for other bytes too.
  void remember(const std::string& observation, const key& result, const scratch_view& view);

private:
  fingerprints::fact_memo& facts_;
  const action& asked_;
  std::string path_; // where programs are searched for
  std::string fact_;
};

} // namespace hearth::front
