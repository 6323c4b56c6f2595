#include "runtime/caches/facts/cache_memo.hpp"

#include "runtime/handle/replace_entry.hpp"

#include <utility>

namespace hearth {

expected<cache_memo> cache_memo::open(runtime& in) {
  cache_options of_this_host;
  of_this_host.remote = false; // facts about this host's files are of no use elsewhere
  auto facts = in.open("facts", of_this_host);
  if (!facts) return fail(facts.error());
  return cache_memo(std::move(*facts));
}

std::optional<std::string> cache_memo::load(std::string_view key) {
  const auto found = facts_.get(key);
  if (!found || !found->hit()) return std::nullopt;
  return std::string(found->value.payload());
}

// Errors are ignored: a fact that is not stored is determined again.
void cache_memo::save(std::string_view key, std::string_view bytes) {
  static_cast<void>(replace_entry(facts_, key, artifact::make(bytes)));
}

namespace {

class weak_facts : public fingerprints::fact_memo {
public:
  explicit weak_facts(std::weak_ptr<cache_memo> facts)
      : facts_(std::move(facts)) {}

  std::optional<std::string> load(std::string_view key) override {
    const auto facts = facts_.lock();
    return facts ? facts->load(key) : std::nullopt;
  }
  void save(std::string_view key, std::string_view bytes) override {
    if (const auto facts = facts_.lock()) facts->save(key, bytes);
  }

private:
  std::weak_ptr<cache_memo> facts_;
};

} // namespace

std::shared_ptr<fingerprints::fact_memo> facts_while_open(std::weak_ptr<cache_memo> facts) {
  return std::make_shared<weak_facts>(std::move(facts));
}

} // namespace hearth
