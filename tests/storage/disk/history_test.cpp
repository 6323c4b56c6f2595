// Many processes and threads over one store, and the results that each of them saw with their
// times. The clock is the machine's, so that events of different processes can be put in order.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"

#include "storage/disk/head/head.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <set>
#include <sys/file.h>
#include <sys/mman.h>
#include <thread>

namespace history_test {

using namespace hearth;
using namespace hearth::test;
using storage::read_status;
using storage::write_kind;
using storage::write_status;

namespace {

constexpr int processes = 8;
constexpr int threads = 4;
constexpr int keys = 120;

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// One call of a thread, its result, and its time.
struct event {
  enum what { inserted, exists, hit, miss, wrong } told;
  int key;
  int value; // for `inserted` and `hit`: the writer of the value
  std::int64_t begin, end;
};
struct history {
  std::atomic<int> ready{0};
  std::atomic<int> next{0};
  event events[processes * threads * keys * 3];
};

// One thread of a process writes to a shard at a time; many read.
void tell(history& all, storage::store& store, std::mutex& writing, int me) {
  const auto note = [&](event one) { all.events[all.next.fetch_add(1)] = one; };
  const auto look = [&](int key) {
    const auto begin = now_ns();
    const auto found = get(store, numbered(key));
    const auto end = now_ns();
    if (found.status == read_status::miss) return note({event::miss, key, 0, begin, end});
    const auto text = std::string(found.value.payload());
    if (found.status != read_status::hit || !text.starts_with(numbered(key) + "="))
      return note({event::wrong, key, 0, begin, end});
    note({event::hit, key, std::atoi(text.c_str() + numbered(key).size() + 1), begin, end});
  };
  for (int i = 0; i < keys; ++i) {
    const int key = me % 2 ? i : i ^ 1;
    look(key);
    {
      const std::lock_guard lock(writing);
      const auto begin = now_ns();
      const auto status =
          insert(store, numbered(key), numbered(key) + "=" + std::to_string(me) + noise(900, 1));
      const auto end = now_ns();
      note({status == write_status::inserted ? event::inserted
            : status == write_status::exists ? event::exists
                                             : event::wrong,
            key, me, begin, end});
    }
    look(key);
  }
}

// An insert-once key is linearizable if there is one moment, within its one insert, before which
// every lookup missed and after which none did.
void check_key(const std::vector<event>& events) {
  const auto winners = std::count_if(events.begin(), events.end(),
                                     [](const event& e) { return e.told == event::inserted; });
  REQUIRE(winners == 1);
  const auto won = *std::find_if(events.begin(), events.end(),
                                 [](const event& e) { return e.told == event::inserted; });
  auto not_before = won.begin; // the moment is between these
  auto not_after = won.end;
  for (const auto& one : events) {
    REQUIRE(one.told != event::wrong);
    if (one.told == event::hit) REQUIRE(one.value == won.value);
    if (one.told == event::hit || one.told == event::exists)
      not_after = std::min(not_after, one.end);
    if (one.told == event::miss) not_before = std::max(not_before, one.begin);
  }
  REQUIRE(not_before <= not_after);
}

} // namespace

TEST_CASE("insert-once is linearizable for 8 processes of 4 threads") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.shards = 1;
  options.lock_deadline = std::chrono::seconds(60);
  auto* all = new (::mmap(nullptr, sizeof(history), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) history;
  std::vector<std::unique_ptr<child_process>> children;
  for (int process = 0; process < processes; ++process)
    children.push_back(std::make_unique<child_process>([&, process] {
      auto store = open_store(options);
      if (!store) return 1;
      std::mutex writing;
      all->ready.fetch_add(1);
      while (all->ready.load() < processes)
        std::this_thread::yield();
      std::vector<std::thread> running;
      for (int thread = 0; thread < threads; ++thread)
        running.emplace_back(
            [&, thread] { tell(*all, *store, writing, process * threads + thread); });
      for (auto& one : running)
        one.join();
      return 0;
    }));
  for (auto& child : children)
    REQUIRE(child->wait() == 0);
  std::vector<std::vector<event>> by_key(keys);
  REQUIRE(all->next.load() == processes * threads * keys * 3);
  for (int i = 0; i < all->next.load(); ++i)
    by_key[static_cast<std::size_t>(all->events[i].key)].push_back(all->events[i]);
  for (const auto& events : by_key)
    check_key(events);
  ::munmap(all, sizeof(history));
  CHECK(open_store(options)->verify(false)->intact());
}

TEST_CASE("hits stay right while another process evicts and grows the index") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.segment_bytes = 64u << 10;
  options.budget_bytes = 2u << 20;
  auto store = open_store(options);
  child_process child([&] {
    auto mine = open_store(options);
    for (int i = 0; i < 9000; ++i) {
      const auto key = numbered(i);
      if (insert(*mine, key, key + ":" + noise(i % 50 == 0 ? 9000 : 60, 3)) !=
          write_status::inserted)
        return 1;
    }
    return mine->stats().evicted > 0 ? 0 : 2;
  });
  int hits = 0;
  bool wrong = false;
  for (int i = 0; ::kill(child.pid(), 0) == 0 && i < 9000; i = (i + 37) % 9000) {
    const auto text = text_of(*store, numbered(i));
    wrong = wrong || (text != "<miss>" && !text.starts_with(numbered(i) + ":"));
    hits += text != "<miss>";
    siginfo_t ended{};
    if (::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid != 0)
      break;
  }
  CHECK(child.wait() == 0);
  CHECK_FALSE(wrong);
  CHECK(text_of(*store, numbered(8999)).starts_with(numbered(8999)));
  CHECK(store->stats().corrupt == 0);
  CHECK(store->stats().unreadable == 0);
}

TEST_CASE("concurrent flushes of many threads all hold") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto store = open_store(options);
  std::atomic<int> failed{0};
  std::vector<std::thread> flushers;
  for (int thread = 0; thread < 4; ++thread)
    flushers.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        failed += !store->flush();
    });
  for (int i = 0; i < 300; ++i)
    insert(*store, numbered(i), noise(2000, 1));
  for (auto& one : flushers)
    one.join();
  CHECK(failed.load() == 0);
  CHECK(store->flush());
  CHECK(store->verify(false)->intact());
}

TEST_CASE("keys made to collide take each other's place and no other key's") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  insert(*store, "bystander", "here");
  const auto before = store->stats().index_bytes;
  constexpr std::uint64_t same_buckets = 0x123456789abc0000;
  constexpr int flood = 200;
  for (int i = 0; i < flood; ++i) {
    const auto key = numbered(i);
    storage::write_request request{
        write_kind::insert,
        {test_cache(), key, same_buckets | static_cast<std::uint64_t>(i)},
        artifact::make(key)};
    store->apply(0, {&request, 1});
    REQUIRE(request.status == write_status::inserted);
  }
  int found = 0;
  for (int i = 0; i < flood; ++i) {
    const auto key = numbered(i);
    const auto result =
        store->get({test_cache(), key, same_buckets | static_cast<std::uint64_t>(i)});
    if (result.status != read_status::hit) continue;
    ++found;
    CHECK(result.value.payload() == key);
  }
  CHECK(found >= 15);
  CHECK(store->stats().index_bytes == before);
  CHECK(text_of(*store, "bystander") == "here");
  CHECK(store->verify(false)->intact());
}

TEST_CASE("a store that has used up its segment numbers says so and still serves") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.segment_bytes = 64u << 10;
  auto store = open_store(options);
  insert(*store, "k", "v");
  {
    const int fd = ::open((directory / "v1/shards/00/head").c_str(), O_RDWR);
    auto* page = static_cast<char*>(
        ::mmap(nullptr, storage::disk::page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    storage::disk::head_page(page).set(storage::disk::head_word::next_segment,
                                       storage::disk::max_segment);
    ::munmap(page, storage::disk::page_bytes);
    ::close(fd);
  }
  std::vector<std::string> stored;
  bool refused = false;
  for (int i = 0; i < 60; ++i) {
    const auto request = write(*store, write_kind::insert, numbered(i), noise(3000, 1));
    if (request.status == write_status::inserted) stored.push_back(numbered(i));
    if (request.status != write_status::failed) continue;
    refused = true;
    CHECK(request.why.code() == errc::unsupported);
  }
  CHECK(refused);
  CHECK(stored.size() > 20); // the last number was used
  for (const auto& key : stored)
    CHECK(text_of(*store, key) == noise(3000, 1));
  CHECK(text_of(*store, "k") == "v");
}

TEST_CASE("a stopped writer blocks other writers for at most their deadline") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.lock_deadline = std::chrono::milliseconds(50);
  auto store = open_store(options);
  insert(*store, "k", "v");
  child_process child([&]() -> int {
    auto patient = options;
    patient.lock_deadline = std::chrono::seconds(60);
    auto mine = open_store(patient);
    for (int i = 0;; ++i)
      put(*mine, "busy", noise(200000, static_cast<std::uint64_t>(i)));
  });
  for (int round = 0; round < 20; ++round) {
    child.kill(SIGSTOP);
    const auto begun = std::chrono::steady_clock::now();
    const auto request = write(*store, write_kind::put, numbered(round), "x");
    const bool right = request.status == write_status::stored ||
                       (request.status == write_status::failed && request.why.code() == errc::busy);
    CHECK(right);
    CHECK(std::chrono::steady_clock::now() - begun < 100 * options.lock_deadline);
    CHECK(text_of(*store, "k") == "v");
    child.kill(SIGCONT);
  }
  child.kill();
  child.wait();
  CHECK(insert(*store, "after", "x") == write_status::inserted);
}

TEST_CASE("a writer that is stopped with the lock in hand is an error at the deadline") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.lock_deadline = std::chrono::milliseconds(50);
  auto store = open_store(options);
  insert(*store, "k", "v");
  child_process child([&]() -> int {
    const int head = ::open((directory / "v1/shards/00/head").c_str(), O_RDWR | O_CLOEXEC);
    if (head < 0 || ::flock(head, LOCK_EX) != 0) return 1;
    ::raise(SIGSTOP);
    return 0;
  });
  int status = 0;
  REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
  REQUIRE(WIFSTOPPED(status));
  const auto begun = std::chrono::steady_clock::now();
  const auto request = write(*store, write_kind::put, "other", "x");
  CHECK(std::chrono::steady_clock::now() - begun >= options.lock_deadline);
  CHECK(request.status == write_status::failed);
  CHECK(request.why.code() == errc::busy);
  CHECK(text_of(*store, "k") == "v");
  child.kill(SIGCONT);
  CHECK(child.wait() == 0);
  CHECK(insert(*store, "other", "x") == write_status::inserted);
}

} // namespace history_test
