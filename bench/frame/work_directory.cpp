#include "bench/frame/work_directory.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/vfs.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> ending_now{false};

// On a signal that ends the program, removes the directory, then ends the program by that signal.
void remove_on_signal(const fs::path& path) {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::thread([path, ending] {
    int signal = 0;
    sigwait(&ending, &signal);
    ending_now = true;
    std::error_code ignored;
    fs::remove_all(path, ignored);
    std::signal(signal, SIG_DFL);
    ::kill(::getpid(), signal);
    pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  }).detach();
}

} // namespace

expected<work_directory> work_directory::make(const fs::path& below) {
  auto name = (below / "hearth-bench-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    return fail(error_of_errno(errno, "make a directory below " + below.string()));
  return work_directory(name);
}

work_directory::work_directory(fs::path path)
    : path_(std::move(path)) {
  remove_on_signal(path_);
}

work_directory::~work_directory() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool is_ending() noexcept { return ending_now; }

fs::path default_directory() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/tmp";
}

std::string file_system_of(const fs::path& directory) {
  struct statfs about {};
  if (::statfs(directory.c_str(), &about) != 0) return "unknown";
  switch (static_cast<unsigned long>(about.f_type)) {
  case 0xef53: return "ext4";
  case 0x58465342: return "xfs";
  case 0x9123683e: return "btrfs";
  case 0x2fc12fc1: return "zfs";
  case 0xf2f52010: return "f2fs";
  case 0x01021994: return "tmpfs";
  case 0x794c7630: return "overlay";
  default: return "unknown";
  }
}

void warm_pages(const fs::path& directory, std::uint64_t bytes) {
  static const std::vector<char> block(std::size_t{4} << 20, '\1');
  const auto path = directory / "warm";
  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  ssize_t wrote = 1;
  for (std::uint64_t done = 0; done < bytes && wrote > 0; done += block.size())
    wrote = ::write(fd, block.data(), block.size());
  ::close(fd);
  ::unlink(path.c_str());
}

} // namespace hearth::bench
