// What the orchestrator learnt about compilers and sources, kept in a named cache. Any thread.
#pragma once

#include "runtime/cache.hpp"
#include "runtime/orchestrator/fact_memo.hpp"

namespace hearth::orchestrator {

class cache_memo : public fact_memo {
public:
  explicit cache_memo(cache facts)
      : facts_(std::move(facts)) {}

  std::optional<std::string> load(std::string_view key) override;
  void save(std::string_view key, std::string_view bytes) override;

private:
  cache facts_;
};

} // namespace hearth::orchestrator
