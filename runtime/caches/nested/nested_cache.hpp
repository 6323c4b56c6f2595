// A nested cache: trees of values, one a root key, set and looked up by path, as tuning databases
// nest what they know (operation, sizes, precision, choice). All tiers of a named cache hold them.
//
// Any thread; copies share the cache. Of values that are set at once, by threads, processes or
// hosts, none is lost. A call asks the cache's actor and waits for its answer; after the runtime's
// shutdown every call fails with `closed`.
#pragma once

#include "messages/key.hpp"
#include "messages/tree.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearth {

class runtime;

class nested_cache {
public:
  /// The tree of `root` (say, a digest of the system it is of) in a named cache. Errors: those of
  /// `runtime::open`; `closed`, `forked`.
  static expected<nested_cache> open(runtime& in, std::string_view name, const key& root);

  /// What stands at a path: a value, or the map of all that is below it; nothing when there is
  /// none. The empty path is the whole tree.
  expected<std::optional<value>> lookup(const tree_path& path) const;
  /// Puts a value at a path, in place of what stands there. Errors: `invalid_argument` when the
  /// path leads through a value that is no map; `too_large`; what storing it comes to.
  expected<void> set(const tree_path& path, const value& v) const;
  /// The whole tree as JSON, names sorted, indented by two blanks; "{}" when there is none. Errors:
  /// `unsupported` for what JSON cannot say.
  expected<std::string> to_json() const;

private:
  struct shared;
  explicit nested_cache(std::shared_ptr<const shared> parts)
      : shared_(std::move(parts)) {}

  std::shared_ptr<const shared> shared_;
};

} // namespace hearth
