#include "runtime/cli/io/last_resort.hpp"

#include "runtime/cli/io/output.hpp"

#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The options of jemalloc, which it reads before its first allocation. Absent with another
// allocator.
extern "C" const char* malloc_conf __attribute__((weak));

namespace hearth::cli {
namespace {

std::atomic<int> status_at_failure{trouble};

void write_line(const char* text) noexcept {
  for (const char* part : {"hearth: ", text, "\n"})
    (void)!::write(STDERR_FILENO, part, std::strlen(part));
}

// The first thread that comes here ends the process; others wait for that.
[[noreturn]] void end_at_once(const char* why) noexcept {
  static std::atomic<bool> is_ending{false};
  while (is_ending.exchange(true))
    ::pause();
  write_line(why);
  ::_exit(failure_status());
}

[[noreturn]] void end_without_memory() {
  end_at_once("no memory is left; raise its limit (ulimit -v), or free some");
}

[[noreturn]] void end_in_terminate() {
  if (const auto thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& known) {
      end_at_once(known.what());
    } catch (...) {
    }
  }
  end_at_once("cannot go on: the system refused a thread or memory (see ulimit -a), or this is a "
              "bug of Hearth");
}

// The limit of this process's address space. By system call: libraries are not initialised yet.
__attribute__((no_sanitize("address", "undefined", "thread"))) rlim_t address_space() {
  rlimit both{RLIM_INFINITY, RLIM_INFINITY};
  ::syscall(SYS_prlimit64, 0, RLIMIT_AS, nullptr, &both);
  return both.rlim_cur;
}

// Runs before the constructors of all libraries, whose failed allocations would be aborts.
// jemalloc sets memory aside for each thread and crashes where it gets none: with a limit, all
// threads share one arena.
__attribute__((no_sanitize("address", "undefined", "thread"))) void
prepare_for_little_memory(int count, char** arguments, char**) {
  constexpr rlim_t min_bytes = rlim_t{64} << 20;
  const auto limit = address_space();
  if (limit == RLIM_INFINITY) return;
  if (&malloc_conf != nullptr) malloc_conf = "narenas:1";
  if (limit >= min_bytes) return;
  const char line[] = "hearth: at least 64 MiB of address space are needed; raise ulimit -v\n";
  ::syscall(SYS_write, STDERR_FILENO, line, sizeof line - 1);
  const bool is_run = count > 1 && std::strcmp(arguments[1], "run") == 0;
  ::syscall(SYS_exit_group, is_run ? static_cast<int>(run_failed) : static_cast<int>(trouble));
}

__attribute__((section(".preinit_array"),
               used)) void (*const before_libraries)(int, char**,
                                                     char**) = prepare_for_little_memory;

} // namespace

void install_last_resort() noexcept {
  std::set_new_handler(end_without_memory);
  std::set_terminate(end_in_terminate);
}

int failure_status() noexcept { return status_at_failure.load(); }

void set_failure_status(int status) noexcept { status_at_failure.store(status); }

} // namespace hearth::cli
