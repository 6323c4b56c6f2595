#include "runtime/caches/code/source_artifacts.hpp"

#include "runtime/fingerprints/code_files.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <cstdint>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

namespace hearth {

struct source_artifacts::shared {
  cache entries;
  std::filesystem::path base;
  std::string extension;
  std::mutex mutex;
  std::set<std::string> seen; // hashes of stored or written sources

  void note(const std::string& hash) {
    const std::lock_guard lock(mutex);
    seen.insert(hash);
  }
  void forget(const std::string& hash) {
    const std::lock_guard lock(mutex);
    seen.erase(hash);
  }
};

namespace {

key source_key(const std::string& hash) { return key::tuple({"source", hash}); }

bool holds(const std::filesystem::path& path, std::string_view bytes) {
  const auto there = os::read_whole_file(path, bytes.size());
  return there && *there == bytes;
}

} // namespace

source_artifacts::source_artifacts(cache entries, std::filesystem::path base, std::string extension)
    : shared_(std::make_shared<shared>(std::move(entries), std::move(base), std::move(extension))) {
}

expected<source_file> source_artifacts::save(std::string_view code, std::string_view extra) const {
  auto hash = fingerprints::code_hash(code, extra);
  if (auto kept = shared_->entries.insert(source_key(hash), artifact::make(code)); !kept)
    return fail(kept.error());
  auto path = write_file(hash);
  if (!path) return fail(path.error());
  return source_file{std::move(hash), std::move(*path)};
}

expected<std::optional<artifact>> source_artifacts::load(const std::string& hash) const {
  auto found = shared_->entries.get(source_key(hash));
  if (!found) return fail(found.error());
  if (!found->hit()) return std::nullopt;
  return std::optional(std::move(found->value));
}

expected<std::filesystem::path> source_artifacts::write_file(const std::string& hash) const {
  auto path = fingerprints::code_path(shared_->base, hash, shared_->extension);
  if (!path) return path;
  const auto code = load(hash);
  if (!code) return fail(code.error());
  if (!*code) return fail(errc::not_found, "there is no source " + hash);
  shared_->note(hash);
  const auto bytes = (*code)->payload();
  if (holds(*path, bytes)) return path;
  if (auto written = fingerprints::write_atomic(*path, bytes); !written)
    return fail(written.error());
  return path;
}

expected<bool> source_artifacts::purge(const std::string& hash) const {
  const auto path = fingerprints::code_path(shared_->base, hash, shared_->extension);
  if (!path) return fail(path.error());
  const auto erased = shared_->entries.erase(source_key(hash));
  if (!erased) return erased;
  std::error_code problem;
  const bool removed = std::filesystem::remove(*path, problem);
  if (problem) return fail(error_of_errno(problem.value(), "cannot remove " + path->string()));
  shared_->forget(hash);
  return *erased || removed;
}

expected<std::size_t> source_artifacts::purge_all() const {
  std::set<std::string> all;
  {
    const std::lock_guard lock(shared_->mutex);
    all = shared_->seen;
  }
  std::size_t count = 0;
  for (const auto& hash : all) {
    const auto purged = purge(hash);
    if (!purged) return fail(purged.error());
    count += *purged;
  }
  return count;
}

} // namespace hearth
