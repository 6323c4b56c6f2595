#include "runtime/os/files/descriptor.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace hearth::os {
namespace {

// A spawned child gets its descriptors as 0, 1, 2, ...: our own must have higher numbers, also in a
// host that closed its standard streams.
constexpr int lowest_number = 16;

// `made` itself, or what replaces it above `lowest_number`.
expected<descriptor> lift(descriptor made, std::string_view what) {
  if (made && made.get() < lowest_number)
    made = descriptor{::fcntl(made.get(), F_DUPFD_CLOEXEC, lowest_number)};
  if (made) return made;
  // EINVAL: the limit of open files is below that number.
  return fail(error_of_errno(errno == EINVAL ? EMFILE : errno, what));
}

expected<descriptor_pair> lift_both(int ours, int theirs, std::string_view what) {
  descriptor low[] = {descriptor{ours}, descriptor{theirs}};
  auto first = lift(std::move(low[0]), what);
  if (!first) return fail(first.error());
  auto second = lift(std::move(low[1]), what);
  if (!second) return fail(second.error());
  return descriptor_pair{std::move(*first), std::move(*second)};
}

} // namespace

expected<descriptor_pair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(error_of_errno(errno, "cannot make a pipe"));
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    const int number = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return fail(error_of_errno(number, "cannot set up a pipe"));
  }
  return lift_both(ends[0], ends[1], "cannot make a pipe");
}

expected<descriptor_pair> make_message_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(error_of_errno(errno, "cannot make a pair of sockets"));
  return lift_both(ends[0], ends[1], "cannot make a pair of sockets");
}

expected<descriptor> make_memory_file(std::string_view content) {
  constexpr std::string_view what = "cannot make a file in memory";
  auto file = lift(descriptor{::memfd_create("hearth", MFD_CLOEXEC)}, what);
  if (!file) return file;
  for (std::size_t done = 0; done < content.size();) {
    const auto n = ::pwrite(file->get(), content.data() + done, content.size() - done,
                            static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(error_of_errno(n < 0 ? errno : ENOSPC, what));
    done += static_cast<std::size_t>(n);
  }
  return file;
}

expected<descriptor> make_event() {
  return lift(descriptor{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}, "cannot make an event");
}

descriptor make_process_handle(pid_t process) {
  // Called by number: the header of glibc 2.36 declares the function in a way that C++ cannot link.
  descriptor low{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))};
  auto high = lift(std::move(low), {});
  return high ? std::move(*high) : descriptor{};
}

expected<std::string> read_to_end(int from, std::size_t limit) {
  std::string content;
  char chunk[1 << 14];
  for (;;) {
    const auto n = ::read(from, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(error_of_errno(errno, "cannot read the request"));
    if (n == 0) return content;
    content.append(chunk, static_cast<std::size_t>(n));
    if (content.size() > limit) return fail(errc::too_large, "a request of too many bytes");
  }
}

expected<void> write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(to, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(error_of_errno(errno, "cannot write"));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

} // namespace hearth::os
