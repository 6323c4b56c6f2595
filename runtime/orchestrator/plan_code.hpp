// The hash of a plan's code, which names its session of tunings, and of its sources, which names
// their tunings.
#pragma once

#include "messages/digest.hpp"
#include "runtime/fingerprints/includes/includes.hpp"
#include "runtime/orchestrator/plan.hpp"

#include <map>
#include <mutex>
#include <string>

namespace hearth::orchestrator {

/// The hash of the plan's text and its sources' texts, each without its comments: a change of
/// comments keeps the tunings. A file that cannot be read counts as empty.
std::string code_hash_of(const plan& work);

/// The sources of compiles as far as a tuning depends on them: without comments and white space in
/// the files of the plan's folder. A tuning says which configuration is the fastest; a program is
/// always made of the sources as they are. Any thread.
class tuned_sources {
public:
  /// A digest of the names and contents of the files of a closure.
  std::string identity_of(const fingerprints::source_closure& closure);

private:
  std::string part_of(const std::string& path, const digest& content);

  std::mutex mutex_;
  std::map<digest, std::string> known_; // by content
};

} // namespace hearth::orchestrator
