// Facts about compilers and sources, stored in a named cache. Any thread.
#pragma once

#include "runtime/fingerprints/toolchain/fact_memo.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/handle/runtime.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearth {

class cache_memo : public fingerprints::fact_memo {
public:
  /// Facts about this host; they never reach the remote tier. Errors: those of opening a cache.
  static expected<cache_memo> open(runtime& in);

  std::optional<std::string> load(std::string_view key) override;
  void save(std::string_view key, std::string_view bytes) override;

private:
  explicit cache_memo(cache facts)
      : facts_(std::move(facts)) {}

  cache facts_;
};

/// The same facts for work that may outlast their owner: without it, none is known or kept.
std::shared_ptr<fingerprints::fact_memo> facts_while_open(std::weak_ptr<cache_memo> facts);

} // namespace hearth
