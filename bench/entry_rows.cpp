#include "bench/entry_rows.hpp"

#include "bench/frame/timing.hpp"
#include "bench/frame/work_directory.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

struct entry_size {
  const char* name; // part of the row's name
  const char* text;
  std::size_t bytes;
  std::size_t entries; // entries in the data set
  std::size_t gets;    // gets a turn; about 0.1 s
};

constexpr entry_size sizes[] = {{"512", "512 B", 512, 200'000, 200'000},
                                {"16k", "16 KiB", 16u << 10, 10'000, 40'000},
                                {"256k", "256 KiB", 256u << 10, 800, 2'400}};
constexpr std::size_t least_entries = 130; // for a smoke run: more than two groups

std::shared_ptr<const dataset> data_of(const row_run& run, const entry_size& size,
                                       std::size_t most) {
  return std::make_shared<const dataset>(std::min(run.scaled(size.entries, least_entries), most),
                                         size.bytes);
}

void warm_for(const row_run& run, const dataset& data) {
  if (run.how().smoke) return;
  warm_pages(run.how().directory, 3 * data.size() * (data.value_bytes() + 200));
}

// An empty directory for one contender.
fs::path fresh_directory(const row_run& run, const std::string& name) {
  const auto path = run.how().directory / name;
  fs::remove_all(path);
  fs::create_directory(path);
  return path;
}

double time_inserts(const entry_contender& one, const dataset& data, const fs::path& directory) {
  auto store = one.make(directory, data);
  const stopwatch watch;
  store->insert_all(data);
  return watch.seconds() / static_cast<double>(data.size());
}

void measure_inserts(row_run& run, const entry_size& size,
                     const std::vector<entry_contender>& contenders) {
  std::vector<contender> all;
  std::vector<fs::path> left;
  unsigned number = 0;
  for (const auto& one : contenders) {
    const auto data = data_of(run, size, one.max_entries);
    const auto turn = [&run, &left, &number, data, &one] {
      const auto directory = fresh_directory(run, one.name + std::to_string(++number));
      const auto seconds = time_inserts(one, *data, directory);
      if (one.removes_late)
        left.push_back(directory);
      else
        fs::remove_all(directory);
      return seconds;
    };
    all.push_back({one.name, turn, [&run, data] { warm_for(run, *data); }});
  }
  run.compare(all, std::string("an insert of ") + size.text);
  for (const auto& directory : left)
    fs::remove_all(directory);
}

// The key is in the processor's cache at the get, like a key that was just made.
double time_gets(entry_store& store, const dataset& data, std::size_t gets) {
  const auto& order = data.order();
  const auto later = [&](std::size_t i) { return order[i % order.size()]; };
  const stopwatch watch;
  for (std::size_t i = 0; i < gets; ++i) {
    __builtin_prefetch(&data.key(later(i + 8)));
    __builtin_prefetch(data.key_bytes(later(i + 4)).data());
    const auto entry = order[i % order.size()];
    if (!data.is_right(entry, store.get(data, entry).payload()))
      throw std::runtime_error("a get did not find what was inserted");
  }
  return watch.seconds() / static_cast<double>(gets);
}

void measure_gets(row_run& run, const entry_size& size,
                  const std::vector<entry_contender>& contenders) {
  std::vector<std::unique_ptr<entry_store>> stores;
  std::vector<contender> all;
  for (const auto& one : contenders) {
    if (!run.wants(one.name)) {
      all.push_back({one.name, {}});
      continue;
    }
    const auto data = data_of(run, size, one.max_entries);
    const auto gets = run.scaled(size.gets, data->size());
    warm_for(run, *data);
    stores.push_back(one.make(fresh_directory(run, one.name), *data));
    auto& store = *stores.back();
    store.insert_all(*data);
    store.finish_pending_work();
    time_gets(store, *data, data->size()); // warms mappings, caches and hit bits
    all.push_back({one.name, [&store, data, gets] { return time_gets(store, *data, gets); }});
  }
  run.compare(all, std::string("a get of ") + size.text);
  stores.clear();
  for (const auto& one : contenders)
    fs::remove_all(run.how().directory / one.name);
}

std::vector<std::string> peers_of(const std::vector<entry_contender>& contenders) {
  std::vector<std::string> peers;
  for (std::size_t i = 1; i < contenders.size(); ++i)
    peers.push_back(contenders[i].name);
  return peers;
}

} // namespace

void add_entry_rows(registry& all, const std::string& prefix,
                    const std::vector<entry_contender>& contenders, const std::string& how) {
  std::vector<entry_contender> readers;
  std::copy_if(contenders.begin(), contenders.end(), std::back_inserter(readers),
               [](const entry_contender& one) { return one.reads; });
  for (const auto& size : sizes)
    all.rows.push_back(
        {prefix + ".insert." + size.name, std::string("inserts of ") + size.text + ", " + how,
         peers_of(contenders),
         [&size, contenders](row_run& run) { measure_inserts(run, size, contenders); }});
  for (const auto& size : sizes)
    all.rows.push_back(
        {prefix + ".get." + size.name,
         std::string("verified gets of ") + size.text + ", page cache warm, copied out, " + how,
         peers_of(readers), [&size, readers](row_run& run) { measure_gets(run, size, readers); }});
}

} // namespace hearth::bench
