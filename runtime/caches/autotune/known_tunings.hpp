// Lists and imports the tunings of a store. Any thread.
#pragma once

#include "messages/autotune/record.hpp"
#include "runtime/handle/cache.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

class runtime;

/// Tunings by name, as in the names of `.best_config` files.
using named_tunings = std::map<std::string, autotune_record, std::less<>>;

/// The outcome of an import of tunings.
struct import_counts {
  std::uint64_t added = 0, replaced = 0, same = 0;
};

class known_tunings {
public:
  /// Errors: those of `runtime::open`.
  static expected<known_tunings> open(runtime& in);

  /// All tunings of the disk tier. An unreadable one is left out and counted in `unreadable`.
  expected<named_tunings> all(std::uint64_t& unreadable) const;

  /// Stores every tuning, in place of one with the same name.
  expected<import_counts> take_in(const named_tunings& tunings) const;

private:
  known_tunings(std::shared_ptr<engine::runtime_core> core, cache over)
      : core_(std::move(core))
      , cache_(std::move(over)) {}

  expected<std::vector<std::string>> names() const;

  std::shared_ptr<engine::runtime_core> core_;
  cache cache_;
};

} // namespace hearth
