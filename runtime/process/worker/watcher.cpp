#include "runtime/process/worker/watcher.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace hearth::worker {
namespace {

// More paths than any command looks at; a program that makes up names must not fill the memory.
constexpr std::size_t max_paths = 500'000;
constexpr std::size_t max_bytes_of_path = PATH_MAX;

// Linux 6.6: the answering thread and the stopped one take turns on one processor.
constexpr auto set_flags = _IOW(SECCOMP_IOC_MAGIC, 4, std::uint64_t);
constexpr std::uint64_t sync_wake_up = 1;

std::string text_of_link(const std::string& link) {
  std::array<char, PATH_MAX> text;
  const auto bytes = ::readlink(link.c_str(), text.data(), text.size());
  return bytes < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(bytes));
}

std::string folder_of(pid_t thread, int descriptor) {
  const auto process = "/proc/" + std::to_string(thread);
  return text_of_link(descriptor == AT_FDCWD ? process + "/cwd"
                                             : process + "/fd/" + std::to_string(descriptor));
}

// A text of another process. Returns 0, or a negative error: -EFAULT when there is none, and its
// system call fails too.
int read_text(pid_t process, std::uint64_t address, std::string& text) {
  std::array<char, max_bytes_of_path> bytes;
  const std::size_t page = 4096;
  const auto in_first = page - address % page;
  iovec here{bytes.data(), bytes.size()};
  // Up to the page's end first: the next page may not be there.
  std::array<iovec, 2> there;
  there[0] = {reinterpret_cast<void*>(address), in_first};
  there[1] = {reinterpret_cast<void*>(address + in_first), bytes.size() - in_first};
  const auto got = ::process_vm_readv(process, &here, 1, there.data(), there.size(), 0);
  if (got < 0) return -errno;
  const auto* const end =
      static_cast<const char*>(std::memchr(bytes.data(), '\0', static_cast<std::size_t>(got)));
  if (!end) return -ENAMETOOLONG;
  text.assign(bytes.data(), static_cast<std::size_t>(end - bytes.data()));
  return 0;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// A path through the links of /proc to what a process has open is another path: "/proc/self/cwd/a".
// The links are of the process itself, so they are read here and now.
std::string without_proc_links(pid_t thread, std::string path) {
  constexpr std::string_view proc = "/proc/";
  if (!path.starts_with(proc)) return path;
  const auto process_end = path.find('/', proc.size());
  if (process_end == path.npos) return path;
  const auto whose = path.substr(proc.size(), process_end - proc.size());
  const bool is_own = whose == "self" || whose == "thread-self";
  if (!is_own && !is_number(whose)) return path;
  auto link_end = path.find('/', process_end + 1);
  const auto what = path.substr(process_end + 1, link_end - process_end - 1);
  if (what == "fd" && link_end != path.npos)
    link_end = path.find('/', link_end + 1);
  else if (what != "cwd" && what != "root" && what != "exe")
    return path;
  const auto link = std::string(proc) + (is_own ? std::to_string(thread) : whose) +
                    path.substr(process_end, link_end - process_end);
  const auto target = text_of_link(link);
  if (!target.starts_with('/')) return path; // a pipe, a socket
  return link_end == path.npos ? target : target + path.substr(link_end);
}

} // namespace

watcher::watcher(os::descriptor listener)
    : listener_(std::move(listener)) {
  ::ioctl(listener_.get(), set_flags, sync_wake_up); // an older kernel is slower
}

void watcher::answer() {
  seccomp_notif call{};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return; // it was killed
  look(call);
  seccomp_notif_resp reply{};
  reply.id = call.id;
  reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply); // fails if it was killed meanwhile
}

void watcher::look(const seccomp_notif& call) {
  if (!is_native(call.data.arch)) return miss("it runs a program of another architecture");
  const auto* const form = form_of(call.data.nr);
  if (!form) return;
  switch (form->how) {
  case call_form::kind::path:
  case call_form::kind::path_at: return note_path(call, *form);
  case call_form::kind::listed: return note_listed(call);
  case call_form::kind::out_of_sight:
    return miss("it changes what paths mean (chroot, mount, or a namespace)");
  }
}

void watcher::note_path(const seccomp_notif& call, const call_form& form) {
  const auto thread = static_cast<pid_t>(call.pid);
  const auto& arguments = call.data.args;
  // What a program only writes is no input.
  if (form.mode != call_form::no_flags && (arguments[form.mode] & O_ACCMODE) == O_WRONLY) return;
  std::string path;
  const int read = read_text(thread, arguments[form.path], path);
  if (read == -EFAULT || read == -ENAMETOOLONG || read == -ESRCH) return; // it fails, too
  if (read < 0)
    return miss("its memory cannot be read (" + std::string(std::strerror(-read)) + ")");
  if (path.empty()) return; // what a descriptor is open on
  const bool is_relative = !path.starts_with('/');
  if (is_relative) {
    const int descriptor = form.how == call_form::kind::path_at
                               ? static_cast<int>(arguments[form.path - 1])
                               : AT_FDCWD;
    const auto folder = folder_of(thread, descriptor);
    if (!folder.starts_with('/')) return; // no folder: the call fails
    path = folder + "/" + path;
  }
  const bool follows = form.flags == call_form::no_flags
                           ? form.follows
                           : form.follows && (arguments[form.flags] & form.not_following) == 0;
  note(without_proc_links(thread, std::move(path)), {follows, is_relative},
       form.runs ? use::run : use::none);
}

void watcher::note_listed(const seccomp_notif& call) {
  auto folder = folder_of(static_cast<pid_t>(call.pid), static_cast<int>(call.data.args[0]));
  if (folder.starts_with('/')) note(std::move(folder), {true, true}, use::listed);
}

void watcher::note(std::string path, const way& how, use what) {
  if (seen_.size() >= max_paths) return miss("it looks at too many files");
  const auto first = static_cast<char>('0' + (how.follows ? 1 : 0) + (how.is_relative ? 2 : 0));
  const auto [at, is_new] = seen_.try_emplace(first + path);
  auto& one = at->second;
  if (what == use::listed) one.was_listed = true;
  if (what == use::run) one.was_run = true;
  if (!is_new) return;
  one.path = std::move(path);
  one.follows = how.follows;
  one.was_relative = how.is_relative;
  struct stat found {};
  one.was_there =
      ::fstatat(AT_FDCWD, one.path.c_str(), &found, how.follows ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
  one.device = found.st_dev;
  one.inode = found.st_ino;
}

void watcher::miss(std::string why) {
  if (blind_spot_.empty()) blind_spot_ = std::move(why);
}

std::string watcher::sightings() const {
  std::string all;
  for (const auto& [key, one] : seen_)
    append_sighting(all, one);
  return all;
}

// --- the listener's way from the child to the supervisor ----------------------------------------

void pass_listener(int socket, int listener) {
  std::int32_t failure = listener < 0 ? -listener : 0;
  iovec content{&failure, sizeof failure};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  if (listener >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &listener, sizeof listener);
  }
  ::sendmsg(socket, &message, MSG_NOSIGNAL);
  if (listener >= 0) ::close(listener);
}

expected<os::descriptor> receive_listener(int socket) {
  std::int32_t failure = 0;
  iovec content{&failure, sizeof failure};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof failure) return fail(errc::process_failed, "the program ended before");
  if (failure != 0)
    return fail(errc::unsupported, std::string("seccomp: ") + std::strerror(failure));
  const auto* const header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS)
    return fail(errc::process_failed, "no descriptor is left");
  int listener = -1;
  std::memcpy(&listener, CMSG_DATA(header), sizeof listener);
  return os::descriptor(listener);
}

} // namespace hearth::worker
