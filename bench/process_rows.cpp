// disk.procs: eight processes over one store, each with a runtime and a cache handle of its own,
// without the memory tier. First all read one hot key; then each inserts and reads entries, one
// operation in ten being an insert, half of them of keys that all processes insert.
#include "bench/frame/child_program.hpp"
#include "bench/frame/dataset.hpp"
#include "bench/frame/figures.hpp"
#include "bench/rows.hpp"
#include "hearth/hearth.hpp"

#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <stdexcept>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t processes = 8;
constexpr std::size_t value_bytes = 2048;
constexpr std::size_t operations_an_insert = 10;
constexpr const char* hot_role = "procs.hot";
constexpr const char* mixed_role = "procs.mixed";
constexpr const char* hot_key = "hot";

// The measurements of a process, which it passes to its parent.
struct outcome {
  std::vector<double> gets;    // seconds
  std::vector<double> inserts; // seconds
  std::size_t inserted = 0;    // inserts reported as the first of their key
  std::size_t wrong = 0;       // gets that missed an acknowledged entry, or found other bytes

  void write(const fs::path& path) const {
    std::ofstream out(path);
    out << gets.size() << ' ' << inserts.size() << ' ' << inserted << ' ' << wrong << '\n';
    for (const auto* all : {&gets, &inserts})
      for (const auto one : *all)
        out << one << '\n';
    out.flush();
    if (!out) throw std::runtime_error("cannot write " + path.string());
  }
  void add(const fs::path& path) {
    std::ifstream in(path);
    std::size_t get_count = 0, insert_count = 0, more_inserted = 0, more_wrong = 0;
    in >> get_count >> insert_count >> more_inserted >> more_wrong;
    double one = 0;
    while (get_count-- > 0 && in >> one)
      gets.push_back(one);
    while (insert_count-- > 0 && in >> one)
      inserts.push_back(one);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    inserted += more_inserted;
    wrong += more_wrong;
  }
};

// The arguments of a process: store, its number, operations, and the file for its outcome.
struct task {
  fs::path store;
  std::size_t number;
  std::size_t operations;
  fs::path result;

  static task of(const std::vector<std::string>& arguments) {
    return {arguments.at(0), std::stoul(arguments.at(1)), std::stoul(arguments.at(2)),
            arguments.at(3)};
  }
  std::vector<std::string> arguments() const {
    return {store.string(), std::to_string(number), std::to_string(operations), result.string()};
  }
};

struct opened_cache {
  explicit opened_cache(const fs::path& store)
      : host(settings(store))
      , entries(*host.open("bench", cache_options().without_memory())) {
    if (!host.has_disk()) throw std::runtime_error(host.disk_problem().text());
  }
  static config settings(const fs::path& store) {
    config result;
    result.store = store;
    result.disk_budget_bytes = std::uint64_t{2} << 30;
    result.memory_shards = 1;
    result.jobs = 1;
    return result;
  }

  runtime host;
  cache entries;
};

// The value that every process computes for this key.
artifact value_of(const std::string& name) {
  std::mt19937_64 random(std::hash<std::string>{}(name));
  std::string bytes(value_bytes, '\0');
  for (auto& byte : bytes)
    byte = static_cast<char>(random());
  return artifact::make(bytes);
}

template <class Operation>
double timed(Operation operation) {
  const auto begin = std::chrono::steady_clock::now();
  operation();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int read_hot_key(const std::vector<std::string>& arguments) {
  const auto given = task::of(arguments);
  opened_cache opened(given.store);
  const auto wanted = value_of(hot_key);
  const key name(hot_key);
  outcome all;
  ready_and_wait();
  for (std::size_t i = 0; i < given.operations; ++i) {
    expected<lookup> found = lookup{};
    all.gets.push_back(timed([&] { found = opened.entries.get(name); }));
    all.wrong += !found || found->value.payload() != wanted.payload();
  }
  all.write(given.result);
  return 0;
}

// The key of an insert: all processes insert every other key.
std::string mixed_key(std::size_t process, std::size_t insert) {
  return insert % 2 ? fmt::format("shared {}", insert) : fmt::format("own {} {}", process, insert);
}

int read_and_insert(const std::vector<std::string>& arguments) {
  const auto given = task::of(arguments);
  opened_cache opened(given.store);
  std::mt19937_64 random(given.number);
  outcome all;
  std::vector<std::string> names; // keys that are certainly stored
  ready_and_wait();
  for (std::size_t i = 0; i < given.operations; ++i) {
    if (i % operations_an_insert == 0) {
      names.push_back(mixed_key(given.number, i / operations_an_insert));
      const key name(names.back());
      const auto value = value_of(names.back());
      expected<insert_outcome> done = insert_outcome::exists;
      all.inserts.push_back(timed([&] { done = opened.entries.insert(name, value); }));
      if (!done) throw std::runtime_error(done.error().text());
      all.inserted += *done == insert_outcome::inserted;
      continue;
    }
    const auto& text = names[random() % names.size()];
    const key name(text);
    expected<lookup> found = lookup{};
    all.gets.push_back(timed([&] { found = opened.entries.get(name); }));
    all.wrong += !found || found->value.payload().size() != value_bytes;
  }
  all.write(given.result);
  return 0;
}

outcome run_processes(const fs::path& directory, const char* role, std::size_t operations) {
  std::vector<child_program> running;
  std::vector<task> tasks;
  for (std::size_t i = 0; i < processes; ++i) {
    tasks.push_back(
        {directory / "store", i, operations, directory / fmt::format("{}.{}", role, i)});
    running.emplace_back(role, tasks.back().arguments());
  }
  for (auto& one : running)
    one.wait_until_ready();
  for (const auto& one : running)
    one.go();
  outcome all;
  for (std::size_t i = 0; i < processes; ++i) {
    if (!running[i].wait()) throw std::runtime_error("a process of the benchmark failed");
    all.add(tasks[i].result);
  }
  return all;
}

// The number of entries of the mixed run that are missing or wrong.
std::size_t count_lost(const fs::path& directory, std::size_t inserts) {
  opened_cache opened(directory / "store");
  std::size_t lost = 0;
  for (std::size_t process = 0; process < processes; ++process)
    for (std::size_t i = 0; i < inserts; ++i) {
      const auto name = mixed_key(process, i);
      const auto found = opened.entries.get(name);
      lost += !found || !same_bytes(found->value, value_of(name));
    }
  return lost;
}

void measure(row_run& run) {
  const auto directory = run.how().directory / "procs";
  fs::create_directory(directory);
  const auto hot_gets = run.scaled(20'000, 100);
  const auto mixed = run.scaled(10'000, 100);
  const auto inserts = mixed / operations_an_insert;
  {
    const opened_cache opened(directory / "store");
    if (!opened.entries.insert(hot_key, value_of(hot_key)))
      throw std::runtime_error("the hot key was not inserted");
  }
  std::vector<double> hot_p99, get_p99, insert_p99, all_p99;
  std::size_t wrong = 0, lost = 0;
  const unsigned rounds = std::min(run.how().rounds, 5u);
  for (unsigned round = 0; round < rounds; ++round) {
    const auto hot = run_processes(directory, hot_role, hot_gets);
    hot_p99.push_back(quantile(hot.gets, 0.99));
    wrong += hot.wrong;
  }
  for (unsigned round = 0; round < rounds; ++round) {
    const auto place = directory / std::to_string(round);
    fs::create_directory(place);
    auto both = run_processes(place, mixed_role, mixed);
    get_p99.push_back(quantile(both.gets, 0.99));
    insert_p99.push_back(quantile(both.inserts, 0.99));
    both.gets.insert(both.gets.end(), both.inserts.begin(), both.inserts.end());
    all_p99.push_back(quantile(both.gets, 0.99));
    lost += count_lost(place, inserts);
    // Each key has one first insert: a process's own keys by that process, shared keys by any
    // process.
    const auto firsts = (inserts + 1) / 2 * processes + inserts / 2;
    wrong +=
        both.wrong + (both.inserted > firsts ? both.inserted - firsts : firsts - both.inserted);
  }
  const auto made_of = [&](const char* what, std::size_t operations) {
    return fmt::format("{} of {} processes, {} operations each, through the handle; median of {} "
                       "rounds' p99",
                       what, processes, operations, rounds);
  };
  run.value("hot_p99_us", median(hot_p99) * 1e6, made_of("gets of one key", hot_gets));
  run.value("mixed_p99_us", median(all_p99) * 1e6, made_of("gets and inserts", mixed));
  run.value("mixed_get_p99_us", median(get_p99) * 1e6, made_of("the gets among them", mixed));
  run.value("mixed_insert_p99_us", median(insert_p99) * 1e6,
            made_of("the inserts among them", inserts));
  run.value("lost_entries", static_cast<double>(lost),
            "acknowledged inserts that are not there afterwards, or with other bytes");
  run.value("wrong_answers", static_cast<double>(wrong),
            "gets that missed what was there, keys without exactly one first insert");
  fs::remove_all(directory);
}

} // namespace

void add_process_rows(registry& all) {
  all.rows.push_back({"disk.procs",
                      "8 processes over one store: one hot key, then gets and inserts mixed",
                      {},
                      measure});
  all.roles.push_back({hot_role, read_hot_key});
  all.roles.push_back({mixed_role, read_and_insert});
}

} // namespace hearth::bench
