// The store of this host, read without a runtime: no actor, no thread, no message.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"
#include "runtime/actions/find_result.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"
#include "storage/disk/store.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::front {

/// The store of a user who names none, by the values of $XDG_CACHE_HOME and $HOME: a folder in
/// either. Empty: neither is of use.
std::filesystem::path store_of_user(const std::optional<std::string>& caches,
                                    const std::optional<std::string>& home);

/// Opens the store, unless there is none yet. Null: it cannot be used.
std::unique_ptr<storage::store> open_local_store(const std::filesystem::path& directory);

/// The results of actions in the store. The store outlives it.
class local_results : public entry_source {
public:
  explicit local_results(storage::store& in)
      : in_(in) {}

  artifact get(const key& k) override;
  artifact get_here(const key& k) override { return get(k); }
  /// Does nothing: who makes the next result drops it.
  void erase(const key&) override {}

private:
  storage::store& in_;
};

/// The facts about this host that the store keeps. The store outlives it.
class local_facts : public fingerprints::fact_memo {
public:
  explicit local_facts(storage::store& in)
      : in_(in) {}

  std::optional<std::string> load(std::string_view key) override;
  void save(std::string_view key, std::string_view bytes) override;
  /// Stores what was saved. Errors are ignored: a fact that is not stored is determined again.
  void keep();

private:
  storage::store& in_;
  std::map<std::string, std::string, std::less<>> saved_;
};

} // namespace hearth::front
