// disk.open.1M: the time to open a store of a million entries and get one entry, after it was
// closed, after its process was killed, and after a power loss, when its index is rebuilt.
#include "bench/frame/child_program.hpp"
#include "bench/frame/dataset.hpp"
#include "bench/frame/figures.hpp"
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"

#include "storage/disk/os/file_system.hpp"
#include "storage/disk/store.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;
using storage::store;

constexpr std::size_t entries = 1'000'000;
constexpr std::size_t value_bytes = 200;
constexpr const char* writer_role = "open.writer";

// A file system with the boot id of another start of the machine.
class restarted_machine final : public storage::file_system {
public:
  explicit restarted_machine(unsigned start)
      : start_(start) {}
  std::string boot_id() noexcept override { return "start " + std::to_string(start_); }

private:
  unsigned start_;
};

const cache_id& bench_cache() {
  static const cache_id id = *cache_id::make("bench");
  return id;
}

std::unique_ptr<store> open_store(const fs::path& directory, storage::file_system* files) {
  storage::store_options options;
  options.directory = directory;
  options.budget_bytes = std::uint64_t{2} << 30;
  options.sync_interval = std::chrono::milliseconds(0);
  options.files = files;
  auto opened = store::open(std::move(options));
  if (!opened) throw std::runtime_error(opened.error().text());
  return std::move(*opened);
}

void insert_all(store& to, const dataset& data) {
  constexpr std::size_t group = 256;
  std::vector<std::vector<storage::write_request>> groups(to.shards());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const storage::entry_key key{bench_cache(), data.key_bytes(i)};
    const auto shard = to.shard_of(key.hash);
    groups[shard].push_back(
        {.kind = storage::write_kind::insert, .key = key, .value = data.value(i)});
    if (groups[shard].size() == group || i + to.shards() >= data.size()) {
      to.apply(shard, groups[shard]);
      groups[shard].clear();
    }
  }
  for (unsigned shard = 0; shard < groups.size(); ++shard)
    to.apply(shard, groups[shard]);
}

// Opens a store, writes to it and waits to be killed.
int write_and_wait(const std::vector<std::string>& arguments) {
  const auto one = open_store(arguments.at(0), nullptr);
  const auto bytes = key(arguments.at(1)).encoded();
  const storage::entry_key last{bench_cache(), bytes};
  storage::write_request request{.kind = storage::write_kind::put,
                                 .key = last,
                                 .value = artifact::make("written before the kill")};
  one->apply(one->shard_of(last.hash), {&request, 1});
  if (request.status != storage::write_status::stored) return 1;
  ready_and_wait();
  return 1; // the parent never lets this process continue
}

void kill_a_writer(const fs::path& directory, unsigned round) {
  child_program writer(writer_role, {directory.string(), "round " + std::to_string(round)});
  writer.wait_until_ready();
  writer.kill();
  writer.wait();
}

// The seconds until the store is open and has found an entry.
double time_open(const fs::path& directory, const dataset& data, storage::file_system* files,
                 bool rebuilds) {
  const stopwatch watch;
  const auto opened = open_store(directory, files);
  const auto found = opened->get({bench_cache(), data.key_bytes(data.size() / 2)});
  const auto seconds = watch.seconds();
  if (found.status != storage::read_status::hit)
    throw std::runtime_error("an entry was not found after opening");
  const auto stats = opened->stats();
  if ((stats.rebuilds > 0) != rebuilds || stats.entries < data.size())
    throw std::runtime_error(
        fmt::format("{} entries after {} rebuilds", stats.entries, stats.rebuilds));
  return seconds;
}

void measure(row_run& run) {
  const dataset data(run.scaled(entries, 2'000), value_bytes);
  const auto directory = run.how().directory / "open";
  double index_bytes = 0;
  {
    const auto made = open_store(directory, nullptr);
    insert_all(*made, data);
    const auto stats = made->stats();
    index_bytes = static_cast<double>(stats.index_bytes) / static_cast<double>(stats.entries);
  }
  std::vector<double> closed, killed, rebuilt;
  for (unsigned round = 0; round < run.how().rounds; ++round) {
    closed.push_back(time_open(directory, data, nullptr, false));
    kill_a_writer(directory, round);
    killed.push_back(time_open(directory, data, nullptr, false));
  }
  for (unsigned round = 0; round < run.how().rounds; ++round) {
    kill_a_writer(directory, run.how().rounds + round);
    restarted_machine machine(round);
    rebuilt.push_back(time_open(directory, data, &machine, true));
  }
  const auto made_of = [&](const std::vector<double>& seconds) {
    const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    return fmt::format("{} entries of {} B, open and one get; median of {} rounds, {} to {}",
                       data.size(), value_bytes, run.how().rounds, time_text(*least),
                       time_text(*most));
  };
  run.value("closed_ms", median(closed) * 1e3, made_of(closed));
  run.value("killed_ms", median(killed) * 1e3, made_of(killed));
  run.value("rebuilt_ms", median(rebuilt) * 1e3, made_of(rebuilt));
  run.value("index_bytes", index_bytes, "bytes of the index files an entry");
  fs::remove_all(directory);
}

} // namespace

void add_open_rows(registry& all) {
  all.rows.push_back({"disk.open.1M",
                      "opening a store of 1 M entries after close, kill and power loss",
                      {},
                      measure});
  all.roles.push_back({writer_role, write_and_wait});
}

} // namespace hearth::bench
