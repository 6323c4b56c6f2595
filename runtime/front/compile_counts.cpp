#include "runtime/front/compile_counts.hpp"

#include "runtime/os/files/descriptor.hpp"

#include <atomic>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

namespace hearth::front {
namespace {

// The file: a format number, then a number for each end, the time saved, and one for each reason.
constexpr std::uint64_t format = 0x3154'4e43'4854'5248; // "HRTHCNT1"
constexpr std::size_t saved_place = 31;
constexpr std::size_t first_reason = 32;
constexpr std::size_t most_reasons = 64;
constexpr std::size_t places = first_reason + most_reasons;

static_assert(compile_counts::ends == static_cast<std::size_t>(compile_end::trouble) + 1);
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

class counter_file {
public:
  // `makes`: if it is not there yet.
  counter_file(const std::filesystem::path& store, bool makes) {
    const auto path = store / "compiles.count";
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (makes ? O_CREAT : 0);
    const os::descriptor file{::open(path.c_str(), flags, 0666)};
    struct stat found {};
    if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return;
    // Without room, a write to the map would end the process.
    if (found.st_size < static_cast<off_t>(bytes) &&
        (!makes || ::posix_fallocate(file.get(), 0, bytes) != 0))
      return;
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) return;
    numbers_ = static_cast<std::uint64_t*>(at);
    std::uint64_t none = 0;
    std::atomic_ref head(numbers_[0]);
    if (!head.compare_exchange_strong(none, format) && none != format) close();
  }
  counter_file(const counter_file&) = delete;
  counter_file& operator=(const counter_file&) = delete;
  ~counter_file() { close(); }

  explicit operator bool() const { return numbers_ != nullptr; }
  std::atomic_ref<std::uint64_t> at(std::size_t place) const {
    return std::atomic_ref(numbers_[1 + place]);
  }

private:
  static constexpr std::size_t bytes = (1 + places) * sizeof(std::uint64_t);

  void close() {
    if (numbers_) ::munmap(numbers_, bytes);
    numbers_ = nullptr;
  }

  std::uint64_t* numbers_ = nullptr;
};

void count(const std::filesystem::path& store, std::size_t place, std::int64_t saved_ns) {
  const counter_file file(store, true);
  if (!file) return;
  file.at(place).fetch_add(1, std::memory_order_relaxed);
  if (saved_ns > 0)
    file.at(saved_place).fetch_add(static_cast<std::uint64_t>(saved_ns), std::memory_order_relaxed);
}

} // namespace

void count_compile(const std::filesystem::path& store, compile_end how, std::int64_t saved_ns) {
  count(store, static_cast<std::size_t>(how), saved_ns);
}

void count_compile(const std::filesystem::path& store, launcher::uncached why) {
  count(store, first_reason + static_cast<std::size_t>(why), 0);
}

compile_counts counts_of_compiles(const std::filesystem::path& store) {
  compile_counts all;
  const counter_file file(store, false);
  if (!file) return all;
  for (std::size_t i = 0; i < all.by_end.size(); ++i)
    all.by_end[i] = file.at(i).load(std::memory_order_relaxed);
  all.saved_ns = file.at(saved_place).load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < most_reasons; ++i)
    if (const auto times = file.at(first_reason + i).load(std::memory_order_relaxed); times != 0)
      all.uncached[std::string(launcher::reason_text(static_cast<launcher::uncached>(i)))] += times;
  return all;
}

bool forget_counts_of_compiles(const std::filesystem::path& store) {
  const counter_file file(store, true);
  for (std::size_t i = 0; file && i < places; ++i)
    file.at(i).store(0, std::memory_order_relaxed);
  return static_cast<bool>(file);
}

} // namespace hearth::front
