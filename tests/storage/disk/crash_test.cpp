// kill -9 at any moment: acknowledged writes are there, in another process at once; no lock or
// lease stays, and the next process to open the store has nothing to repair.
// HEARTH_CRASH_ROUNDS=N kills in N rounds instead of 50.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/faulty_file_system.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <random>
#include <set>
#include <sys/mman.h>

namespace crash_test {

using namespace hearth;
using namespace hearth::test;
using storage::read_status;
using storage::write_kind;
using storage::write_status;

namespace {

int rounds() {
  const char* text = std::getenv("HEARTH_CRASH_ROUNDS");
  return text ? std::atoi(text) : 50;
}

constexpr int writers = 3;
constexpr int own_keys = 40;    // each writer changes only its own
constexpr int shared_keys = 60; // all writers insert these
constexpr int bulk = 32;        // keys of one group of new ones

std::string own_key(int writer, int key) {
  return "own" + std::to_string(writer) + "." + std::to_string(key);
}
std::string shared_key(int round, int key) {
  return "shared" + std::to_string(round) + "." + std::to_string(key);
}
std::string bulk_key(int writer, int version, int key) {
  return "bulk" + std::to_string(writer) + "." + std::to_string(version) + "." +
         std::to_string(key);
}

// A value shows by itself whether it is whole: its key and version, then noise derived from them.
std::string value_of(const std::string& key, int version) {
  const auto bytes = version % 29 == 7 ? 40000 : version % 7 == 3 ? 18000 : (version * 101) % 3000;
  const auto front = key + "=" + std::to_string(version) + ":";
  return front + noise(static_cast<std::size_t>(bytes),
                       std::hash<std::string>{}(key) + static_cast<std::uint64_t>(version));
}
bool is_value_of(const std::string& key, const std::string& text) {
  if (text == "<miss>") return true;
  if (!text.starts_with(key + "=")) return false;
  return text == value_of(key, std::atoi(text.c_str() + key.size() + 1));
}

// The message that a writer sends before and after each change.
struct message {
  enum kind { change, group, lease, step } what = step;
  int key = 0;
  int version = 0; // 0: erased
  bool done = false;
};

struct writer_orders {
  storage::store_options options;
  int number = 0;
  int round = 0;
  int first_version = 1;
  bool clears = false;
  std::uint64_t seed = 0;
  std::atomic<bool>* stop = nullptr; // in memory shared with the parent
  int to = -1;
};

// Status 0: told to stop; 1: wrong bytes; 2: a write failed; 3: the parent does not read.
class writer {
public:
  explicit writer(const writer_orders& orders)
      : orders_(orders)
      , store_(open_store(orders.options))
      , leases_(std::move(*store_->open_leases()))
      , random_(orders.seed)
      , version_(orders.first_version) {}

  int run() {
    int status = 0;
    while (status == 0 && !orders_.stop->load()) {
      ++version_;
      status = step();
      if (status == 0 && !say({message::step, 0, version_, true})) status = 3;
    }
    return status;
  }

private:
  bool say(const message& text) { return ::write(orders_.to, &text, sizeof text) == sizeof text; }

  int step() {
    switch (random_() % 16) {
    case 0: return store_->flush() ? 0 : 2;
    case 1: return hold_lease();
    case 2:
    case 3: return insert_group();
    case 4:
    case 5:
    case 6: return insert_shared();
    case 7:
    case 8:
    case 9: return look();
    case 10:
      if (orders_.clears && random_() % 16 == 0) return store_->clear() ? 0 : 2;
      return change();
    default: return change();
    }
  }
  int change() {
    message said{message::change, static_cast<int>(random_() % own_keys),
                 random_() % 6 == 0 ? 0 : version_, false};
    if (!say(said)) return 3;
    const auto key = own_key(orders_.number, said.key);
    const auto status =
        said.version == 0 ? erase(*store_, key) : put(*store_, key, value_of(key, said.version));
    said.done = true;
    return status == write_status::failed ? 2 : say(said) ? 0 : 3;
  }
  int insert_group() {
    if (!say({message::group, 0, version_, false})) return 3;
    std::vector<std::string> keys;
    std::map<unsigned, std::vector<storage::write_request>> groups;
    for (int i = 0; i < bulk; ++i)
      keys.push_back(bulk_key(orders_.number, version_, i));
    for (const auto& key : keys) {
      const storage::entry_key entry(test_cache(), key);
      groups[store_->shard_of(entry.hash)].push_back(
          {write_kind::insert, entry, artifact::make(key), 0});
    }
    for (auto& [shard, group] : groups) {
      store_->apply(shard, group);
      for (const auto& request : group)
        if (request.status != write_status::inserted) return 2;
    }
    return say({message::group, 0, version_, true}) ? 0 : 3;
  }
  int insert_shared() {
    const auto key = shared_key(orders_.round, static_cast<int>(random_() % shared_keys));
    const auto status = insert(*store_, key, value_of(key, orders_.number + 1));
    return status == write_status::failed ? 2 : 0;
  }
  int look() {
    const auto number = static_cast<int>(random_() % writers);
    const auto key = own_key(number, static_cast<int>(random_() % own_keys));
    return is_value_of(key, text_of(*store_, key)) ? 0 : 1;
  }
  int hold_lease() {
    const auto hash = random_() % 50 + 100 * static_cast<std::uint64_t>(orders_.number);
    const auto got = leases_->try_acquire(hash);
    if (!got) return 2;
    return say({message::lease, static_cast<int>(hash), 0, true}) ? 0 : 3;
  }

  writer_orders orders_;
  std::unique_ptr<storage::store> store_;
  std::unique_ptr<storage::lease_table> leases_;
  std::mt19937_64 random_;
  int version_;
};

// A store under writers that die, seen by their parent.
class battered_store {
public:
  battered_store(bool evicts, std::uint64_t seed)
      : evicts_(evicts)
      , random_(seed) {
    options_ = small_store(directory_.path());
    options_.shards = 2;
    options_.segment_bytes = evicts ? 64u << 10 : 1u << 20;
    options_.budget_bytes = evicts ? 4u << 20 : std::uint64_t{8} << 30;
    // A loaded machine does not count as a stuck lock.
    options_.lock_deadline = std::chrono::seconds(60);
    stop_ = static_cast<std::atomic<bool>*>(
        ::mmap(nullptr, sizeof *stop_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    watcher_ = open_store(options_);
    leases_ = std::move(*watcher_->open_leases());
  }
  ~battered_store() { ::munmap(stop_, sizeof *stop_); }

  void round(int number) {
    stop_->store(false);
    start(number);
    const bool all = random_() % 2 == 0;
    listen(30 + random_() % 400, [] { return false; });
    if (all)
      for (auto& one : children_)
        one.process->kill();
    else
      children_[0].process->kill();
    if (!all) {
      // The others go on: each sends further messages.
      std::array<int, writers> before{};
      for (std::size_t i = 0; i < writers; ++i)
        before[i] = children_[i].steps;
      listen(1u << 30, [&] {
        bool enough = true;
        for (std::size_t i = 1; i < writers; ++i)
          enough = enough && children_[i].steps >= before[i] + 5;
        return enough;
      });
      stop_->store(true);
    }
    listen(1u << 30, [] { return false; });
    for (std::size_t i = 0; i < writers; ++i)
      REQUIRE(children_[i].process->wait() == (all || i == 0 ? -SIGKILL : 0));
    check(number);
    children_.clear();
  }

  void check_at_the_end() {
    CHECK(watcher_->stats().corrupt == 0);
    CHECK(watcher_->stats().rebuilds == 0);
    const auto report = watcher_->verify(false);
    REQUIRE(report);
    CHECK_MESSAGE(report->intact(), (report->intact() ? std::string() : report->findings[0]));
    CHECK(report->unindexed == 0);
    leases_.reset();
    watcher_.reset();
    // The index matches the records: a rebuild gives the same answers.
    for (const char* shard : {"00", "01"})
      std::filesystem::resize_file(directory_ / "v1/shards" / shard / "head", 0);
    watcher_ = open_store(options_);
    check_keys();
  }
  int max_reads() const { return max_reads_; }

private:
  struct child {
    std::unique_ptr<child_process> process;
    int from = -1;
    message pending{message::step, 0, 0, true};
    std::set<int> leases;
    int steps = 0;
  };

  void start(int round) {
    for (int number = 0; number < writers; ++number) {
      int ends[2];
      REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
      writer_orders orders{options_, number, round, version_, evicts_, random_(), stop_, ends[1]};
      child made;
      made.process = std::make_unique<child_process>([&] {
        ::close(ends[0]);
        for (const auto& other : children_)
          ::close(other.from);
        return writer(orders).run();
      });
      ::close(ends[1]);
      made.from = ends[0];
      children_.push_back(std::move(made));
    }
  }

  // Returns after so many messages, when `enough` is true, or when no writer sends any more.
  template <class Enough>
  void listen(std::uint64_t messages, Enough enough) {
    std::uint64_t heard = 0;
    while (heard < messages && !enough()) {
      std::array<pollfd, writers> ends{};
      for (std::size_t i = 0; i < writers; ++i)
        ends[i] = {children_[i].from, POLLIN, 0};
      if (::poll(ends.data(), writers, -1) <= 0) continue;
      bool anybody = false;
      for (std::size_t i = 0; i < writers; ++i) {
        if (ends[i].fd >= 0 && ends[i].revents != 0) {
          message said;
          if (::read(ends[i].fd, &said, sizeof said) == sizeof said)
            hear(children_[i], static_cast<int>(i), said), ++heard;
          else
            ::close(std::exchange(children_[i].from, -1));
        }
        anybody = anybody || children_[i].from >= 0;
      }
      if (!anybody) return;
    }
  }

  void hear(child& from, int number, const message& said) {
    version_ = std::max(version_, said.version + 1);
    switch (said.what) {
    case message::step: ++from.steps; break;
    case message::lease: from.leases.insert(said.key); break;
    case message::group:
      if (said.done) groups_.emplace_back(number, said.version);
      break;
    case message::change:
      if (said.done) state_[own_key(number, said.key)] = said.version;
      from.pending = said;
    }
  }

  void check(int round) {
    // An unacknowledged change may be whole or missing; the state found now is final.
    for (int number = 0; number < writers; ++number) {
      const auto& pending = children_[static_cast<std::size_t>(number)].pending;
      if (pending.done) continue;
      const auto key = own_key(number, pending.key);
      settle(key, "settle" + std::to_string(round) + "." + std::to_string(number));
      const auto want = pending.version ? value_of(key, pending.version) : "<miss>";
      if (text_of(*watcher_, key) == want) state_[key] = pending.version;
    }
    check_keys();
    for (int key = 0; key < shared_keys; ++key) {
      const auto name = shared_key(round, key);
      REQUIRE(is_value_of(name, text_of(*watcher_, name)));
    }
    for (const auto& one : children_)
      for (const int hash : one.leases) {
        const auto got = leases_->try_acquire(static_cast<std::uint64_t>(hash));
        REQUIRE(got);
        REQUIRE(*got);
        leases_->release(static_cast<std::uint64_t>(hash));
      }
    open_quickly();
  }

  // A write to the shard of `key` completes the change in which a writer of that shard was killed.
  void settle(const std::string& key, const std::string& name) {
    const auto shard_of = [&](const std::string& k) {
      return watcher_->shard_of(storage::entry_key(test_cache(), k).hash);
    };
    auto beside = name;
    while (shard_of(beside) != shard_of(key))
      beside += '+';
    REQUIRE(insert(*watcher_, beside, "x") == write_status::inserted);
  }

  void check_keys() {
    for (const auto& [key, version] : state_) {
      const auto text = text_of(*watcher_, key);
      const auto want = version ? value_of(key, version) : "<miss>";
      const bool right = text == want || (evicts_ && text == "<miss>");
      CAPTURE(key);
      REQUIRE(right);
    }
    for (const auto& [number, version] : groups_)
      for (int i = 0; i < bulk; i += 7) {
        const auto key = bulk_key(number, version, i);
        const auto text = text_of(*watcher_, key);
        const bool right = text == key || (evicts_ && text == "<miss>");
        REQUIRE(right);
      }
    if (evicts_) groups_.clear();
  }

  // Opening rebuilds no index and reads no segment through.
  void open_quickly() {
    faulty_file_system files;
    auto options = options_;
    options.files = &files;
    const auto store = open_store(options);
    REQUIRE(store);
    CHECK(store->stats().rebuilds == 0);
    max_reads_ = std::max(max_reads_, files.calls(call::read));
    CHECK(files.calls(call::read) <= 16);
  }

  temporary_directory directory_;
  bool evicts_;
  std::mt19937_64 random_;
  storage::store_options options_;
  std::atomic<bool>* stop_;
  std::unique_ptr<storage::store> watcher_;
  std::unique_ptr<storage::lease_table> leases_;
  std::vector<child> children_;
  std::map<std::string, int> state_; // version of each key; 0: erased
  std::vector<std::pair<int, int>> groups_;
  int version_ = 1;
  int max_reads_ = 0;
};

void batter(bool evicts, int count) {
  battered_store store(evicts, evicts ? 2 : 1);
  for (int round = 0; round < count; ++round) {
    CAPTURE(round);
    store.round(round);
  }
  MESSAGE("rounds: " << count << ", maximum of reads at an opening: " << store.max_reads());
  store.check_at_the_end();
}

} // namespace

TEST_CASE("writers killed anywhere lose nothing acknowledged and block no other process") {
  batter(false, (rounds() + 1) / 2);
}

TEST_CASE("writers killed while they evict and clear leave no wrong byte and block no process") {
  batter(true, rounds() / 2);
}

TEST_CASE("writers killed while they open and create a store leave a usable one") {
  const int count = std::min(rounds() / 4, 250);
  for (int round = 0; round < count; ++round) {
    CAPTURE(round);
    const temporary_directory directory;
    auto options = small_store(directory / "store");
    options.segment_bytes = 64u << 10;
    options.shards = 4;
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    child_process child([&]() -> int {
      (void)!::write(pipe_ends[1], "x", 1);
      for (int i = 0;; ++i) {
        auto store = open_store(options);
        if (!store) return 1;
        insert(*store, "key" + std::to_string(i), "v");
      }
    });
    char ignored;
    REQUIRE(::read(pipe_ends[0], &ignored, 1) == 1);
    for (int spin = 0; spin < round % 40 * 2000; ++spin)
      ::getppid();
    child.kill();
    CHECK(child.wait() == -SIGKILL);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    auto store = open_store(options);
    REQUIRE(store);
    CHECK(insert(*store, "after", "x") == write_status::inserted);
    CHECK(text_of(*store, "after") == "x");
    CHECK(store->verify(false)->intact());
  }
}

namespace {

// Kills its process at one call that changes the disk; a write is cut half way through.
class deadly_file_system : public storage::file_system {
public:
  explicit deadly_file_system(int calls)
      : left_(calls) {}

  int open_at(int directory, const char* name, int flags, mode_t mode) noexcept override {
    if (flags & O_CREAT) count();
    return file_system::open_at(directory, name, flags, mode);
  }
  ssize_t write_at(int fd, const iovec* parts, int count, std::uint64_t offset) noexcept override {
    if (left_-- == 0) {
      std::size_t all = 0;
      for (int i = 0; i < count; ++i)
        all += parts[i].iov_len;
      std::vector<iovec> some;
      for (std::size_t half = all / 2, i = 0; half > 0; ++i) {
        some.push_back({parts[i].iov_base, std::min(half, parts[i].iov_len)});
        half -= some.back().iov_len;
      }
      file_system::write_at(fd, some.data(), static_cast<int>(some.size()), offset);
      ::kill(::getpid(), SIGKILL);
    }
    return file_system::write_at(fd, parts, count, offset);
  }
  int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept override {
    count();
    return file_system::allocate(fd, offset, bytes);
  }
  int resize(int fd, std::uint64_t bytes) noexcept override {
    count();
    return file_system::resize(fd, bytes);
  }
  int sync(int) noexcept override {
    count();
    return 0;
  }
  int remove_at(int directory, const char* name) noexcept override {
    count();
    return file_system::remove_at(directory, name);
  }
  int rename_at(int directory, const char* from, const char* to) noexcept override {
    count();
    return file_system::rename_at(directory, from, to);
  }
  void unlock(int fd) noexcept override {
    count();
    file_system::unlock(fd);
  }

private:
  void count() noexcept {
    if (left_-- == 0) ::kill(::getpid(), SIGKILL);
  }
  int left_;
};

// Change number `i` of a life: small and large puts, erases, a flush, an eviction.
std::string scripted_key(int i) { return "key" + std::to_string(i % 9); }
std::string scripted_value(int i) {
  return i % 5 == 2 ? "<miss>" : value_of(scripted_key(i), i % 7 == 3 ? 7 : i);
}
constexpr int scripted_changes = 48;

int run_script(storage::store& store, std::atomic<int>& done) {
  for (int i = 0; i < scripted_changes; ++i) {
    const auto value = scripted_value(i);
    const auto status =
        value == "<miss>" ? erase(store, scripted_key(i)) : put(store, scripted_key(i), value);
    if (status == write_status::failed) return 1;
    done.store(i + 1);
    if (i % 20 == 10 && !store.flush()) return 2;
    if (i == 35 && !store.evict_to(200000)) return 3;
  }
  return 0;
}

} // namespace

TEST_CASE("a writer killed at any call that changes the disk leaves every change whole") {
  auto* done = static_cast<std::atomic<int>*>(::mmap(nullptr, sizeof(std::atomic<int>),
                                                     PROT_READ | PROT_WRITE,
                                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int ended = 1;
  int at = 0;
  for (; ended != 0; ++at) {
    CAPTURE(at);
    REQUIRE(at < 2000);
    const temporary_directory directory;
    auto options = small_store(directory.path());
    options.segment_bytes = 64u << 10;
    open_store(options);
    done->store(0);
    child_process child([&] {
      deadly_file_system files(at);
      auto deadly = options;
      deadly.files = &files;
      auto store = open_store(deadly);
      return store ? run_script(*store, *done) : 4;
    });
    ended = child.wait();
    REQUIRE((ended == 0 || ended == -SIGKILL));
    auto store = open_store(options);
    REQUIRE(insert(*store, "after", "x") == write_status::inserted);
    std::map<std::string, std::string> want;
    for (int i = 0; i < done->load(); ++i)
      want[scripted_key(i)] = scripted_value(i);
    const int next = done->load();
    for (const auto& [key, value] : want) {
      const auto text = text_of(*store, key);
      const bool under_way =
          next < scripted_changes && key == scripted_key(next) && text == scripted_value(next);
      const bool right = text == value || under_way || (next > 35 && text == "<miss>");
      CAPTURE(key);
      REQUIRE(right);
    }
    REQUIRE(store->stats().rebuilds == 0);
    REQUIRE(store->stats().corrupt == 0);
    const auto report = store->verify(false);
    REQUIRE(report);
    REQUIRE_MESSAGE(report->intact(), (report->intact() ? std::string() : report->findings[0]));
    std::filesystem::remove_all(directory.path());
  }
  MESSAGE("killed at each of " << at - 1 << " calls");
  ::munmap(done, sizeof *done);
}

} // namespace crash_test
