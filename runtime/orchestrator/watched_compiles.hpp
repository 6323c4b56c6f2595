// What the compiles of a plan have looked at: the observations that are known of each, and how new
// ones are made. Any thread.
#pragma once

#include "messages/action.hpp"
#include "messages/cache_key.hpp"
#include "runtime/caches/facts/cache_memo.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/observation.hpp"
#include "runtime/handle/cache.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::orchestrator {

class watched_compiles {
public:
  /// What is known of a compile.
  struct known {
    std::string observed; ///< as `tune_candidate::observed`
    std::string seen;     ///< as `action_request::seen`
    /// What has changed since the latest observation of this host that does not hold; empty: none.
    std::string change{};
  };

  /// `actions`: the cache of the compiles. `directory`: the folder in which they run, absolute. All
  /// references outlive this object, but not the compiles. What changes after this call may not be
  /// what a compile read.
  watched_compiles(engine::runtime_core& core, cache actions, fingerprints::file_view& files,
                   std::shared_ptr<cache_memo> facts, const std::string& directory);

  /// Looks for observations that hold, for the compiles of one entry: on this host, and if it has
  /// none, or `asks_fleet`, in the fleet.
  std::vector<known> look_up(const std::vector<key>& actions, bool asks_fleet);
  /// Lets a compile be watched. `seen`: of `look_up`.
  void watch(action_request& compile, std::string seen) const;

private:
  struct checked {
    bool holds = false;
    std::string hash; ///< SHA-256, raw
    std::string change{};
  };

  known look_up_here(const key& action);
  known ask_fleet(const key& action);
  known known_of(const member_set& observations);
  checked check(const std::string& observation);

  engine::runtime_core& core_;
  cache actions_;
  cache local_;
  fingerprints::file_view& files_;
  std::shared_ptr<cache_memo> facts_;
  scratch_view folder_;
  std::shared_ptr<const fingerprints::start_of_run> start_;
  std::mutex mutex_;                                 // protects all below
  std::unordered_map<std::string, checked> checked_; ///< by observation
  std::unordered_map<std::string, known> here_;      ///< by action
};

} // namespace hearth::orchestrator
