#include "runtime/front/local_store.hpp"

#include <chrono>
#include <system_error>
#include <utility>

namespace hearth::front {
namespace {

namespace fs = std::filesystem;

// A named cache of the store, as a runtime names it.
cache_id named(std::string_view name) { return cache_id::make(name).value(); }

} // namespace

fs::path store_of_user(const std::optional<std::string>& caches,
                       const std::optional<std::string>& home) {
  if (caches && fs::path(*caches).is_absolute()) return fs::path(*caches) / "hearth";
  if (home && !home->empty()) return fs::path(*home) / ".cache" / "hearth";
  return {};
}

std::unique_ptr<local_store> local_store::open(const fs::path& directory) {
  std::error_code failure;
  if (directory.empty() || !fs::is_directory(directory / "v1", failure)) return nullptr;
  std::unique_ptr<local_store> made(new local_store(directory));
  if (auto view = storage::disk::hit_view::open(directory)) made->view_ = std::move(*view);
  return made->view_ || made->whole() ? std::move(made) : nullptr;
}

storage::store* local_store::whole() {
  if (whole_ || is_unusable_) return whole_.get();
  storage::store_options options;
  options.directory = directory_;
  options.guard_sigbus = true;
  options.sync_interval = std::chrono::milliseconds(0);
  options.syncs_when_closed = false; // facts are determined again
  if (auto opened = storage::store::open(std::move(options))) whole_ = std::move(*opened);
  is_unusable_ = !whole_;
  return whole_.get();
}

storage::read_result local_store::read(const cache_id& cache, std::string_view encoded_key) {
  const storage::entry_key place(cache, encoded_key);
  if (view_) {
    if (auto found = view_->get(place)) return std::move(*found);
    view_ = nullptr;
  }
  auto* const all = whole();
  return all ? all->get(place) : storage::read_result{storage::read_status::unreadable};
}

artifact local_store::get(const cache_id& cache, std::string_view encoded_key) {
  auto found = read(cache, encoded_key);
  return found.status == storage::read_status::hit ? std::move(found.value) : artifact{};
}

void local_store::put(const cache_id& cache, std::string_view encoded_key, artifact value) {
  auto* const all = whole();
  if (!all) return;
  const storage::entry_key place(cache, encoded_key);
  storage::write_request write{storage::write_kind::put, place, std::move(value)};
  all->apply(all->shard_of(place.hash), {&write, 1});
}

artifact local_results::get(const key& k) {
  const auto cache = named("results");
  const auto encoded = k.encoded();
  return in_.get(cache, encoded);
}

std::optional<std::string> local_facts::load(std::string_view fact) {
  if (const auto own = saved_.find(fact); own != saved_.end()) return own->second;
  const auto cache = named("facts");
  const auto encoded = key(std::string(fact)).encoded();
  const auto found = in_.get(cache, encoded);
  return found ? std::optional(std::string(found.payload())) : std::nullopt;
}

void local_facts::save(std::string_view fact, std::string_view bytes) {
  saved_.insert_or_assign(std::string(fact), std::string(bytes));
}

void local_facts::keep() {
  const auto cache = named("facts");
  for (const auto& [fact, bytes] : saved_)
    in_.put(cache, key(fact).encoded(), artifact::make(bytes));
  saved_.clear();
}

} // namespace hearth::front
