// disk.insert.*, disk.get.*, disk.sync_insert: through the cache handle, without the memory tier,
// against the same peers as store.*.
#include "bench/entry_rows.hpp"
#include "bench/frame/dataset.hpp"
#include "bench/frame/timing.hpp"
#include "bench/peers/entry_store.hpp"
#include "bench/rows.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hearth::bench {
namespace {

constexpr std::size_t value_bytes = 512;
constexpr std::size_t entries_a_turn = 5'000;

// Each turn inserts entries of its own into the same store.
void measure_single_inserts(row_run& run) {
  const auto count = run.scaled(entries_a_turn, 50);
  const dataset data(count * (run.how().rounds + 1), value_bytes);
  std::vector<std::unique_ptr<entry_store>> stores;
  std::vector<contender> all;
  const auto add = [&](const std::string& name, const store_maker& make) {
    if (!run.wants(name)) return all.push_back({name, {}});
    const auto directory = run.how().directory / name;
    std::filesystem::create_directory(directory);
    stores.push_back(make(directory, data));
    all.push_back(
        {name, [&data, count, store = stores.back().get(), next = std::size_t{0}]() mutable {
           const stopwatch watch;
           for (const auto end = next + count; next < end; ++next)
             store->insert(data, next);
           return watch.seconds() / static_cast<double>(count);
         }});
  };
  add("hearth", make_hearth_handle);
  add("lmdb", make_lmdb);
  run.compare(all, "an insert of 512 B");
}

} // namespace

void add_disk_rows(registry& all) {
  add_entry_rows(all, "disk",
                 {{"hearth", make_hearth_handle}, {"lmdb", make_lmdb}, {"rocksdb", make_rocksdb}},
                 "through the cache handle without its memory tier");
  all.rows.push_back({"disk.sync_insert",
                      "inserts of 512 B through the cache handle without its memory tier, each "
                      "waited for; lmdb: a transaction each",
                      {"lmdb"},
                      measure_single_inserts});
}

} // namespace hearth::bench
