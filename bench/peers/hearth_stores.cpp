#include "bench/peers/entry_store.hpp"

#include "hearth/hearth.hpp"
#include "storage/disk/store.hpp"

#include <algorithm>
#include <vector>

namespace hearth::bench {
namespace {

// Room for the whole data set twice, so that nothing is evicted.
std::uint64_t budget_for(const dataset& data) {
  constexpr std::uint64_t least = std::uint64_t{2} << 30;
  return std::max(least, data.size() * (data.value_bytes() + 256) * 2);
}

void check(const error* problem) {
  if (problem) throw std::runtime_error("hearth: " + problem->text());
}
template <class T>
T checked(expected<T> result) {
  if (!result) check(&result.error());
  return std::move(*result);
}

class hearth_store final : public entry_store {
public:
  hearth_store(const std::filesystem::path& directory, const dataset& data)
      : cache_(checked(cache_id::make("bench"))) {
    storage::store_options options;
    options.directory = directory / "store";
    options.budget_bytes = budget_for(data);
    options.sync_interval = std::chrono::milliseconds(0); // the peers do not sync either
    store_ = checked(storage::store::open(std::move(options)));
  }

  // A shard appends a group at once.
  void insert_all(const dataset& data) override {
    std::vector<std::vector<storage::write_request>> groups(store_->shards());
    for (std::size_t i = 0; i < data.size(); ++i) {
      const storage::entry_key key{cache_, data.key_bytes(i)};
      const auto shard = store_->shard_of(key.hash);
      groups[shard].push_back(
          {.kind = storage::write_kind::insert, .key = key, .value = data.value(i)});
      if (groups[shard].size() == group_size) apply(shard, groups[shard]);
    }
    for (unsigned shard = 0; shard < groups.size(); ++shard)
      apply(shard, groups[shard]);
  }

  artifact get(const dataset& data, std::size_t entry) override {
    return store_->get({cache_, data.key_bytes(entry)}).value;
  }

private:
  void apply(unsigned shard, std::vector<storage::write_request>& group) {
    store_->apply(shard, group);
    for (const auto& request : group)
      if (request.status != storage::write_status::inserted) check(&request.why);
    group.clear();
  }

  cache_id cache_;
  std::unique_ptr<storage::store> store_;
};

class hearth_handle final : public entry_store {
public:
  hearth_handle(const std::filesystem::path& directory, const dataset& data)
      : runtime_(settings(directory, data))
      , cache_(checked(runtime_.open("bench", cache_options().without_memory()))) {
    if (!runtime_.has_disk()) check(&runtime_.disk_problem());
  }

  void insert_all(const dataset& data) override {
    std::vector<future<insert_outcome>> in_flight;
    in_flight.reserve(group_size);
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (in_flight.size() < group_size) {
        in_flight.push_back(cache_.insert_async(data.key(i), data.value(i)));
        continue;
      }
      auto& oldest = in_flight[i % group_size];
      acknowledged(oldest);
      oldest = cache_.insert_async(data.key(i), data.value(i));
    }
    for (auto& one : in_flight)
      acknowledged(one);
  }

  void insert(const dataset& data, std::size_t entry) override {
    if (checked(cache_.insert(data.key(entry), data.value(entry))) != insert_outcome::inserted)
      throw std::runtime_error("hearth: an entry was there before it was inserted");
  }

  artifact get(const dataset& data, std::size_t entry) override {
    return checked(cache_.get(data.key(entry))).value;
  }

private:
  static config settings(const std::filesystem::path& directory, const dataset& data) {
    config result;
    result.store = directory / "store";
    result.disk_budget_bytes = budget_for(data);
    return result;
  }
  static void acknowledged(future<insert_outcome>& one) {
    if (checked(one.get()) != insert_outcome::inserted)
      throw std::runtime_error("hearth: an entry was there before it was inserted");
  }

  runtime runtime_;
  cache cache_;
};

} // namespace

std::unique_ptr<entry_store> make_hearth_store(const std::filesystem::path& directory,
                                               const dataset& data) {
  return std::make_unique<hearth_store>(directory, data);
}

std::unique_ptr<entry_store> make_hearth_handle(const std::filesystem::path& directory,
                                                const dataset& data) {
  return std::make_unique<hearth_handle>(directory, data);
}

} // namespace hearth::bench
