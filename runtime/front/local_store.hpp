// The store of this host, read without a runtime: no actor, no thread, no message.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"
#include "runtime/actions/find_result.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"
#include "storage/disk/store.hpp"
#include "storage/disk/store/hit_view.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::front {

/// The store of a user who names none, by the values of $XDG_CACHE_HOME and $HOME: a folder in
/// either. Empty: neither is of use.
std::filesystem::path store_of_user(const std::optional<std::string>& caches,
                                    const std::optional<std::string>& home);

/// The store, opened for finding things. It is opened as a whole only for what finding does not do.
/// Owner: one thread.
class local_store {
public:
  /// Null: there is no store in `directory` yet, or it cannot be used.
  static std::unique_ptr<local_store> open(const std::filesystem::path& directory);

  /// The entry; empty: there is none, or it is damaged.
  artifact get(const cache_id& cache, std::string_view encoded_key);
  /// Errors are ignored.
  void put(const cache_id& cache, std::string_view encoded_key, artifact value);
  /// Closes what was opened for writing. The view stays: this process ends soon, and the kernel
  /// drops its mappings as fast.
  void close() noexcept { whole_ = nullptr; }

private:
  explicit local_store(std::filesystem::path directory)
      : directory_(std::move(directory)) {}
  storage::read_result read(const cache_id& cache, std::string_view encoded_key);
  storage::store* whole();

  std::filesystem::path directory_;
  std::unique_ptr<storage::disk::hit_view> view_; // null: only the whole store will do
  std::unique_ptr<storage::store> whole_;
  bool is_unusable_ = false;
};

/// The results of actions in the store. The store outlives it.
class local_results : public entry_source {
public:
  explicit local_results(local_store& in)
      : in_(in) {}

  artifact get(const key& k) override;
  artifact get_here(const key& k) override { return get(k); }
  /// Does nothing: who makes the next result drops it.
  void erase(const key&) override {}

private:
  local_store& in_;
};

/// The facts about this host that the store keeps. The store outlives it.
class local_facts : public fingerprints::fact_memo {
public:
  explicit local_facts(local_store& in)
      : in_(in) {}

  std::optional<std::string> load(std::string_view key) override;
  void save(std::string_view key, std::string_view bytes) override;
  /// Stores what was saved. Errors are ignored: a fact that is not stored is determined again.
  void keep();

private:
  local_store& in_;
  std::map<std::string, std::string, std::less<>> saved_;
};

} // namespace hearth::front
