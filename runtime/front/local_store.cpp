#include "runtime/front/local_store.hpp"

#include <chrono>
#include <system_error>
#include <utility>

namespace hearth::front {
namespace {

namespace fs = std::filesystem;

// A named cache of the store, as a runtime names it.
cache_id named(std::string_view name) { return cache_id::make(name).value(); }

artifact read(storage::store& from, const cache_id& cache, std::string_view encoded) {
  auto found = from.get({cache, encoded});
  return found.status == storage::read_status::hit ? std::move(found.value) : artifact{};
}

} // namespace

fs::path store_of_user(const std::optional<std::string>& caches,
                       const std::optional<std::string>& home) {
  if (caches && fs::path(*caches).is_absolute()) return fs::path(*caches) / "hearth";
  if (home && !home->empty()) return fs::path(*home) / ".cache" / "hearth";
  return {};
}

std::unique_ptr<storage::store> open_local_store(const fs::path& directory) {
  std::error_code failure;
  if (directory.empty() || !fs::is_directory(directory / "v1", failure)) return nullptr;
  storage::store_options options;
  options.directory = directory;
  options.guard_sigbus = true;
  options.sync_interval = std::chrono::milliseconds(0);
  auto opened = storage::store::open(std::move(options));
  return opened ? std::move(*opened) : nullptr;
}

artifact local_results::get(const key& k) {
  const auto cache = named("results");
  const auto encoded = k.encoded();
  return read(in_, cache, encoded);
}

std::optional<std::string> local_facts::load(std::string_view fact) {
  if (const auto own = saved_.find(fact); own != saved_.end()) return own->second;
  const auto cache = named("facts");
  const auto encoded = key(std::string(fact)).encoded();
  const auto found = read(in_, cache, encoded);
  return found ? std::optional(std::string(found.payload())) : std::nullopt;
}

void local_facts::save(std::string_view fact, std::string_view bytes) {
  saved_.insert_or_assign(std::string(fact), std::string(bytes));
}

void local_facts::keep() {
  const auto cache = named("facts");
  for (const auto& [fact, bytes] : saved_) {
    const auto encoded = key(fact).encoded();
    const storage::entry_key place(cache, encoded);
    storage::write_request write{storage::write_kind::put, place, artifact::make(bytes)};
    in_.apply(in_.shard_of(place.hash), {&write, 1});
  }
  saved_.clear();
}

} // namespace hearth::front
