// Power is lost: flushed writes are there, later ones may be, and no value is served that was never
// written. HEARTH_POWER_ROUNDS=N runs N seeds instead of a few, HEARTH_POWER_SEED=S begins with S.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/volatile_file_system.hpp"

#include <cstdlib>
#include <map>
#include <random>
#include <set>

namespace power_loss_test {

using namespace hearth;
using namespace hearth::test;
using storage::write_kind;
using storage::write_status;

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

constexpr const char* miss = "<miss>";

// The values that each key may have after the power loss.
class ledger {
public:
  void changed(const std::string& key, const std::string& text) {
    may_be(key, text);
    now_[key] = text;
  }
  void may_be(const std::string& key, const std::string& text) {
    auto& values = possible_[key];
    if (values.empty()) values.insert(miss);
    values.insert(text);
  }
  void all_may_be_missing() {
    for (auto& [key, values] : possible_)
      values.insert(miss);
  }
  // An evicted entry may be missing, or be there again with its old value.
  void look_for_evicted(storage::store& store) {
    std::set<std::string> live;
    for (const auto& key : keys_of(store))
      live.insert(key);
    for (const auto& [key, text] : now_)
      if (text != miss && !live.contains(key)) possible_[key].insert(miss);
  }
  void flushed(storage::store& store) {
    for (auto& [key, values] : possible_)
      values = {now_.contains(key) ? now_[key] : miss};
    look_for_evicted(store);
  }
  void cleared() {
    now_.clear();
    for (auto& [key, values] : possible_)
      values = {miss};
  }
  // The entry may have been evicted before the power loss.
  void may_be_missing(const std::string& key) { possible_[key].insert(miss); }
  // After a loss: the value that was found is on the disk.
  void found(const std::string& key, const std::string& text) {
    possible_[key] = {text};
    now_[key] = text;
  }
  /// Whether the value found differs from the last one written.
  bool has_lost(const std::string& key, const std::string& text) const {
    const auto last = now_.find(key);
    return last != now_.end() && last->second != miss && last->second != text;
  }
  bool allows(const std::string& key, const std::string& text) const {
    const auto known = possible_.find(key);
    return known == possible_.end() ? text == miss : known->second.contains(text);
  }

private:
  std::map<std::string, std::set<std::string>> possible_;
  std::map<std::string, std::string> now_;
};

// A store on a disk that loses unsynced data, through several lives of its machine.
class forgetful_store {
public:
  explicit forgetful_store(std::uint64_t seed)
      : random_(seed) {
    options_ = small_store(directory_ / "store");
    options_.files = &files_;
    options_.segment_bytes = 64u << 10;
    // Some stores evict, some do not.
    options_.budget_bytes = seed % 2 ? 16u << 20 : 1u << 20;
    options_.shards = seed % 5 == 0 ? 3 : 1;
    options_.compress = seed % 7 == 0;
    if (seed % 11 == 0) options_.sync_interval = std::chrono::milliseconds(1);
    files_.set_order(seed % 3 == 0 ? folder_order::loose : folder_order::journal);
    files_.write_back_sometimes(random_());
    keys_ = seed % 13 == 0 ? 4000 : 40;
  }

  // Works until the power is lost, restarts and reads every key.
  void live() {
    const bool suddenly = random_() % 4 != 0;
    if (suddenly)
      files_.lose_power_after(static_cast<int>(random_() % 900), directory_.path(), random_());
    auto opened = storage::store::open(options_);
    bool closed = false;
    evicted_ = 0;
    if (opened) {
      one_ = std::move(*opened);
      if (random_() % 3 == 0)
        if (auto second = storage::store::open(options_)) two_ = std::move(*second);
      const auto steps = 40 + random_() % 200;
      for (std::uint64_t step = 0; step < steps && !files_.is_dead(); ++step) {
        written_.clear();
        this->step();
        watch_evictions();
      }
      if (!files_.is_dead() && random_() % 3 == 0) {
        two_.reset();
        one_.reset();
        closed = !files_.is_dead();
        if (closed) all_flushed_by_closing();
      }
    }
    if (!files_.is_dead()) files_.lose_power_now(directory_.path(), random_());
    two_.reset();
    one_.reset();
    files_.restart();
    check(closed);
  }

  /// The number of keys that had a value and were missing after a loss.
  std::uint64_t missing() const { return missing_; }

private:
  storage::store& any() { return two_ && random_() % 2 ? *two_ : *one_; }
  std::string some_key() { return "key" + std::to_string(random_() % keys_); }
  std::string some_value() {
    const auto size = random_() % 10 == 0 ? 17000 + random_() % 30000 : random_() % 3000;
    return noise(keys_ > 1000 ? size % 50 : size, random_());
  }

  void step() {
    switch (random_() % 32) {
    case 0:
    case 1:
    case 2:
      if (any().flush()) ledger_.flushed(*one_);
      return;
    case 3:
      if (random_() % 8 != 0) return;
      if (any().clear())
        ledger_.cleared();
      else
        ledger_.all_may_be_missing();
      return;
    case 4: (void)get(any(), some_key()); return;
    case 5:
      if (random_() % 4 == 0) (void)any().evict_to(random_() % 600000);
      return;
    case 6:
    case 7:
    case 8:
    case 9: write_group(keys_ > 1000 ? 256 : 1 + random_() % 8); return;
    default: write_group(1);
    }
  }

  void watch_evictions() {
    const auto evicted = one_->stats().evicted + (two_ ? two_->stats().evicted : 0);
    if (evicted == std::exchange(evicted_, evicted)) return;
    ledger_.look_for_evicted(*one_);
    for (const auto& key : written_)
      ledger_.may_be_missing(key);
  }

  void write_group(std::uint64_t count) {
    auto& store = any();
    std::map<unsigned, std::vector<std::size_t>> by_shard;
    std::vector<std::string> keys;
    std::vector<std::string> values;
    for (std::uint64_t i = 0; i < count; ++i) {
      keys.push_back(some_key());
      written_.push_back(keys.back());
      values.push_back(some_value());
      by_shard[store.shard_of(storage::entry_key(test_cache(), keys.back()).hash)].push_back(i);
    }
    for (const auto& [shard, members] : by_shard) {
      std::vector<storage::write_request> group;
      for (const auto i : members) {
        const auto kind = random_() % 6 == 0   ? write_kind::erase
                          : random_() % 3 == 0 ? write_kind::insert
                                               : write_kind::put;
        group.push_back({kind, {test_cache(), keys[i]}, artifact::make(values[i]), 0});
      }
      store.apply(shard, group);
      for (std::size_t n = 0; n < group.size(); ++n)
        note(group[n], keys[members[n]], values[members[n]]);
    }
  }

  void note(const storage::write_request& done, const std::string& key, const std::string& value) {
    const auto text = done.kind == write_kind::erase ? miss : value;
    switch (done.status) {
    case write_status::exists:
    case write_status::absent: return;
    case write_status::failed:
      CHECK(files_.is_dead());
      ledger_.may_be(key, text);
      return;
    default: ledger_.changed(key, text);
    }
  }

  // The last process to close flushes and marks the store clean.
  void all_flushed_by_closing() {
    if (!std::filesystem::exists(directory_ / "store/v1/clean")) return;
    auto options = options_;
    options.read_only = true;
    auto reader = open_store(options);
    ledger_.flushed(*reader);
  }

  void check(bool closed) {
    const bool clean = closed && std::filesystem::exists(directory_ / "store/v1/clean");
    auto options = options_;
    options.sync_interval = std::chrono::milliseconds(0);
    auto store = open_store(options);
    REQUIRE(store);
    if (clean) REQUIRE(store->stats().rebuilds == 0);
    // Verify finds torn records, and repair loses nothing else.
    REQUIRE(store->verify(random_() % 2 == 0));
    std::string wrong;
    for (std::uint64_t i = 0; i < keys_; ++i) {
      const auto key = "key" + std::to_string(i);
      const auto text = text_of(*store, key);
      if (!ledger_.allows(key, text)) wrong += key + (text[0] == '<' ? " " + text : "") + "; ";
      missing_ += text == miss && ledger_.has_lost(key, text);
      ledger_.found(key, text);
    }
    REQUIRE(wrong == "");
    REQUIRE(store->stats().corrupt == 0);
    CHECK(put(*store, "after", "x") == write_status::stored);
    CHECK(text_of(*store, "after") == "x");
    REQUIRE(store->verify(true));
    const auto report = store->verify(false);
    REQUIRE(report);
    REQUIRE_MESSAGE(report->intact(),
                    (report->findings.empty() ? std::string() : report->findings[0]));
  }

  temporary_directory directory_;
  volatile_file_system files_;
  storage::store_options options_;
  std::mt19937_64 random_;
  std::uint64_t keys_ = 40;
  ledger ledger_;
  std::vector<std::string> written_; // written in this step
  std::uint64_t evicted_ = 0;        // evicted until now
  std::uint64_t missing_ = 0;
  std::unique_ptr<storage::store> one_, two_;
};

} // namespace

TEST_CASE(
    "after each of some power losses every key has a value that it had since the last flush") {
  const auto first = number_from("HEARTH_POWER_SEED", 0);
  const auto rounds = number_from("HEARTH_POWER_ROUNDS", 40);
  std::uint64_t missing = 0;
  for (auto seed = first; seed < first + rounds; ++seed) {
    CAPTURE(seed);
    forgetful_store store(seed);
    for (int life = 0; life < 3; ++life) {
      CAPTURE(life);
      store.live();
    }
    missing += store.missing();
  }
  CHECK((missing > 0 || rounds < 10)); // otherwise no power loss lost an entry
}

TEST_CASE("a power loss right after clear brings no entry back") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const temporary_directory directory;
    volatile_file_system files;
    files.set_order(seed % 2 ? folder_order::loose : folder_order::journal);
    auto options = small_store(directory / "store");
    options.files = &files;
    auto store = open_store(options);
    for (int i = 0; i < 50; ++i)
      insert(*store, "key" + std::to_string(i), noise(500, seed));
    REQUIRE(store->flush());
    REQUIRE(store->clear());
    files.lose_power(directory / "store", directory / "after", seed);
    options.directory = directory / "after";
    options.files = nullptr;
    CHECK(keys_of(*open_store(options)).empty());
  }
}

} // namespace power_loss_test
