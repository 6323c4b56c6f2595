// Generated sources by their hash: kept in a named cache, put out as files for whatever loads them.
//
// Any thread; copies share the list of files. Two processes may put out the same source at once.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "runtime/handle/cache.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearth {

/// A source that is kept, and the file that it was put out as.
struct source_file {
  std::string hash; ///< as `code_hash` names it
  std::filesystem::path path;
};

class source_artifacts {
public:
  /// Files go to `<base>/<hash[1:3]>/<hash>.<extension>`.
  source_artifacts(cache entries, std::filesystem::path base, std::string extension);

  /// Keeps a source and puts it out. `extra` is part of its hash: what else decides what the source
  /// means. Errors: those of `cache` and of writing.
  expected<source_file> save(std::string_view code, std::string_view extra = {}) const;
  /// The source of that hash as it is kept now; nothing when there is none. Errors: those of
  /// `cache`.
  expected<std::optional<artifact>> load(const std::string& hash) const;
  /// The file of that source: written when it is not there, or not the source any more. Errors:
  /// `not_found`; those of `cache` and of writing.
  expected<std::filesystem::path> put_out(const std::string& hash) const;

  /// Drops a source and its file; whether there was either.
  expected<bool> purge(const std::string& hash) const;
  /// Drops every source that was kept or put out through this; how many.
  expected<std::size_t> purge_all() const;

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace hearth
