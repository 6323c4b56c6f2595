#include "bench/entry_rows.hpp"

#include "bench/frame/timing.hpp"
#include "bench/frame/work_directory.hpp"

#include <algorithm>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

struct entry_size {
  const char* name; // in the row
  const char* text;
  std::size_t bytes;
  std::size_t entries; // of the data set
  std::size_t gets;    // a turn; about 0.1 s
};

constexpr entry_size sizes[] = {{"512", "512 B", 512, 200'000, 200'000},
                                {"16k", "16 KiB", 16u << 10, 10'000, 40'000},
                                {"256k", "256 KiB", 256u << 10, 800, 2'400}};
constexpr std::size_t least_entries = 130; // two groups and a bit, in a smoke run

std::shared_ptr<const dataset> data_of(const row_run& run, const entry_size& size,
                                       std::size_t most) {
  return std::make_shared<const dataset>(std::min(run.scaled(size.entries, least_entries), most),
                                         size.bytes);
}

// What dirty pages there are is written back now rather than in somebody's turn.
void sync_file_system(const fs::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::syncfs(fd);
  ::close(fd);
}

void warm_for(const row_run& run, const dataset& data) {
  if (run.how().smoke) return;
  sync_file_system(run.how().directory);
  warm_pages(run.how().directory, 3 * data.size() * (data.value_bytes() + 200));
}

// An empty directory for one contender.
fs::path fresh_directory(const row_run& run, const std::string& name) {
  const auto path = run.how().directory / name;
  fs::remove_all(path);
  fs::create_directory(path);
  return path;
}

void measure_inserts(row_run& run, const entry_size& size,
                     const std::vector<entry_contender>& contenders) {
  std::vector<contender> all;
  for (const auto& one : contenders) {
    const auto data = data_of(run, size, one.most_entries);
    const auto prepare = [&run, data, &one] {
      fresh_directory(run, one.name);
      warm_for(run, *data);
    };
    const auto turn = [&run, data, &one] {
      const auto directory = run.how().directory / one.name;
      auto store = one.make(directory, *data);
      const stopwatch watch;
      store->insert_all(*data);
      const auto seconds = watch.seconds() / static_cast<double>(data->size());
      store.reset();
      fs::remove_all(directory);
      return seconds;
    };
    all.push_back({one.name, turn, prepare});
  }
  run.compare(all, std::string("an insert of ") + size.text);
}

// The key is in the processor's cache when it is asked for, as one is that was just made.
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
    const auto data = data_of(run, size, one.most_entries);
    const auto gets = run.scaled(size.gets, data->size());
    warm_for(run, *data);
    stores.push_back(one.make(fresh_directory(run, one.name), *data));
    auto& store = *stores.back();
    store.insert_all(*data);
    store.settle();
    time_gets(store, *data, data->size()); // maps, caches and hit bits are as they stay
    all.push_back({one.name, [&store, data, gets] { return time_gets(store, *data, gets); }});
  }
  run.compare(all, std::string("a get of ") + size.text);
  stores.clear();
  for (const auto& one : contenders)
    fs::remove_all(run.how().directory / one.name);
}

} // namespace

void add_entry_rows(registry& all, const std::string& prefix,
                    const std::vector<entry_contender>& contenders, const std::string& how) {
  std::vector<std::string> peers;
  for (std::size_t i = 1; i < contenders.size(); ++i)
    peers.push_back(contenders[i].name);
  for (const auto& size : sizes)
    all.rows.push_back(
        {prefix + ".insert." + size.name, std::string("inserts of ") + size.text + ", " + how,
         peers, [&size, contenders](row_run& run) { measure_inserts(run, size, contenders); }});
  for (const auto& size : sizes)
    all.rows.push_back(
        {prefix + ".get." + size.name,
         std::string("gets of ") + size.text + ", page cache warm, copied out, " + how, peers,
         [&size, contenders](row_run& run) { measure_gets(run, size, contenders); }});
}

} // namespace hearth::bench
