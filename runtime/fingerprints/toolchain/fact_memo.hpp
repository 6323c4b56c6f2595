// Keeps facts about compilers and sources, so that a later run need not ask a compiler again. The
// runtime implements it over a named cache, tests over a map.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::fingerprints {

/// Remembers bytes by key. Readers never trust its bytes: they check that the bytes parse and that
/// the facts still hold, so an implementation may lose, damage or refuse anything. Any number of
/// threads may call it at once.
class fact_memo {
public:
  virtual ~fact_memo() = default;
  /// The bytes saved last under `key`, or nothing.
  virtual std::optional<std::string> load(std::string_view key) = 0;
  /// Keeps `bytes` under `key`, in place of earlier ones.
  virtual void save(std::string_view key, std::string_view bytes) = 0;
};

} // namespace hearth::fingerprints
