// A nested cache: one tree of values per root key, set and looked up by path, like the levels of a
// tuning database (operation, sizes, precision, choice). All tiers of a named cache hold them.
//
// Any thread; copies share the cache. Concurrent sets, by threads, processes or hosts, lose no
// value. A call asks the cache's actor and waits for its answer; after the runtime's shutdown every
// call fails with `closed`.
#pragma once

#include "messages/key.hpp"
#include "messages/tree.hpp"
#include "messages/visibility.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

class runtime;

class nested_cache {
public:
  /// Opens the tree of `root` (for example a digest of its system) in a named cache. Errors: those
  /// of `runtime::open`; `closed`, `forked`.
  static expected<nested_cache> open(runtime& in, std::string_view name, const key& root);

  /// The value at a path, or the map of all values below it; empty when there is none. The empty
  /// path is the whole tree.
  expected<std::optional<value>> lookup(const tree_path& path) const;
  /// Sets the value at a path. Errors: `invalid_argument` when the path leads through a value that
  /// is no map; `too_large`; those of storing.
  expected<void> set(const tree_path& path, const value& v) const;
  /// The whole tree as JSON, names sorted, indented by two blanks; "{}" when there is none. Errors:
  /// `unsupported` for values that JSON cannot represent.
  expected<std::string> to_json() const;

private:
  struct shared;
  explicit nested_cache(std::shared_ptr<const shared> parts)
      : shared_(std::move(parts)) {}

  std::shared_ptr<const shared> shared_;
};

} // namespace hearth
