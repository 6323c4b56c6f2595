// Generated sources by their hash: stored in a named cache, and written to files for interpreters.
//
// Any thread; copies share the list of files. Two processes may write the same file concurrently.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/visibility.hpp"
#include "runtime/handle/cache.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// A stored source and its file.
struct source_file {
  std::string hash; ///< as `code_hash` returns it
  std::filesystem::path path;
};

class source_artifacts {
public:
  /// Files go to `<base>/<hash[1:3]>/<hash>.<extension>`.
  source_artifacts(cache entries, std::filesystem::path base, std::string extension);

  /// Stores a source and writes its file. `extra` is added to the hash: other inputs that decide
  /// what the source means. Errors: those of `cache` and of writing.
  expected<source_file> save(std::string_view code, std::string_view extra = {}) const;
  /// The stored source of that hash; empty when there is none. Errors: those of `cache`.
  expected<std::optional<artifact>> load(const std::string& hash) const;
  /// The path of the source's file, which is written if it is missing or differs. Errors:
  /// `not_found`; those of `cache` and of writing.
  expected<std::filesystem::path> write_file(const std::string& hash) const;

  /// Drops a source and its file. Returns whether there was either.
  expected<bool> purge(const std::string& hash) const;
  /// Drops every source that was stored or written through this object. Returns their number.
  expected<std::size_t> purge_all() const;

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace hearth
