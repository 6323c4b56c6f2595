// What keys were made of: the details of the last keys under which something was made, by subject,
// so that a miss can say which field is otherwise than it was. Kept on this host's disk alone.
//
// Any thread; copies share the cache. A subject ("kernel matmul", the output of a command) has its
// last 16 keys, of at most 1 MiB together.
#pragma once

#include "messages/explain.hpp"
#include "messages/key_field.hpp"
#include "messages/value.hpp"
#include "messages/visibility.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/handle/runtime.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// A key that missed, beside the known keys of its subject.
struct key_miss {
  std::size_t known = 0; ///< keys of the subject that are known
  /// From the nearest of them to the key that missed. Empty also for a key that is known itself.
  std::vector<difference> differences;
};

/// A line each: `flags[1]: "-O2" -> "-O3"`, `sources["a.h"]: new: "9f86d081"`.
std::vector<std::string> lines_of(const key_miss& miss);

/// One miss of a run, and why.
struct explained_miss {
  std::string what; ///< "matmul m=256", "g++ a.o"
  std::vector<std::string> lines;
};

class key_history {
public:
  /// Errors: those of opening a cache.
  static expected<key_history> open(runtime& in);

  /// How `wanted`, the details of a key that missed, differ from the nearest known key of the
  /// subject: the one with the fewest differences, and of several the latest. Errors: those of a
  /// look-up.
  expected<key_miss> explain(std::string_view subject, const key_field& wanted) const;
  /// Keeps the details of a key under which something was stored. From the second key of a subject
  /// on this moves the epoch of the subject's shard, as every change of a set does. Errors:
  /// `too_large`, and those of storing.
  expected<void> note(std::string_view subject, const key_field& details) const;

  /// Keeps what a run missed, in place of what an earlier one did; the first 1,000 lines, of at
  /// most 1 MiB. They are in the file `last_misses` of the store: a put would move the epoch of its
  /// shard, so that each miss would empty a part of the memory of every other process. Without a
  /// store nothing is kept. Errors: `read_only`, and those of writing a file.
  expected<void> set_last(std::vector<explained_miss> misses) const;
  /// The misses of the last run that had some; none, if none is known. Errors: `malformed`, and
  /// those of reading a file.
  expected<std::vector<explained_miss>> last() const;

private:
  explicit key_history(cache entries)
      : entries_(std::move(entries)) {}

  cache entries_;
};

/// A value as a field of details.
key_field field_of(const value& v);

} // namespace hearth
