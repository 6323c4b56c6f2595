#include "runtime/process/worker/watcher.hpp"

#include "runtime/os/interpreter.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace hearth::worker {
namespace {

constexpr int most_interpreters = 5; // as the kernel starts for one program
// More paths than any command looks at; a program that makes up names must not fill the memory.
constexpr std::size_t max_paths = 500'000;
constexpr std::size_t max_bytes = std::size_t{64} << 20;
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

// Returns 0, or a negative error: -EFAULT when there is no such memory, and a system call that is
// given its address fails too.
int read_bytes(pid_t process, std::uint64_t address, void* to, std::size_t size) {
  const iovec here{to, size};
  const iovec there{reinterpret_cast<void*>(address), size};
  const auto got = ::process_vm_readv(process, &here, 1, &there, 1, 0);
  if (got < 0) return -errno;
  return static_cast<std::size_t>(got) == size ? 0 : -EFAULT;
}

// A text of another process. Returns as `read_bytes`.
int read_text(pid_t process, std::uint64_t address, std::string& text) {
  std::array<char, max_bytes_of_path> bytes;
  const std::size_t page = 4096;
  const auto in_first = page - address % page;
  const iovec here{bytes.data(), bytes.size()};
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

std::size_t component_count(std::string_view path) { return reversed_components(path).size(); }

// "/a/b" of components, the last one first.
std::string joined(const std::vector<std::string>& reversed) {
  std::string path;
  for (auto part = reversed.rbegin(); part != reversed.rend(); ++part)
    path.append("/").append(*part);
  return path;
}

// Whether an open tells nothing: not of the content, nor whether the file is there.
bool only_writes(std::uint64_t open_flags) {
  const auto access = open_flags & O_ACCMODE;
  if (access == O_RDONLY || (access == O_RDWR && (open_flags & O_TRUNC) == 0)) return false;
  return (open_flags & O_CREAT) != 0 && (open_flags & O_EXCL) == 0;
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Without "//" and "/./", and ".." of the root, but with a "/" at its end if that is a folder's.
std::string collapsed(std::string_view path) {
  auto parts = reversed_components(path);
  const bool is_absolute = path.starts_with('/');
  while (is_absolute && !parts.empty() && parts.back() == "..")
    parts.pop_back();
  if (parts.empty()) return is_absolute ? "/" : ".";
  auto text = joined(parts);
  if (!is_absolute) text.erase(0, 1);
  if (path.ends_with('/') || path.ends_with("/.")) text += '/';
  return text;
}

bool is_folder(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

bool is_there(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

// Whether a path is one of the kernel's, from where no way leads to files.
bool is_of_kernel(std::string_view path) {
  return path.starts_with("/proc/") || path.starts_with("/sys/");
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// A path through the links of /proc to what a process has open is another path: "/proc/self/cwd/a".
// The links are of the process itself, so they are read here and now.
std::string without_proc_links(pid_t thread, std::string path) {
  constexpr std::string_view proc = "/proc/", own_descriptors = "/dev/fd/", task = "/task/";
  if (path.starts_with(own_descriptors))
    path = "/proc/self/fd/" + path.substr(own_descriptors.size());
  if (!path.starts_with(proc)) return path;
  const auto process_end = path.find('/', proc.size());
  if (process_end == path.npos) return path;
  const auto whose = path.substr(proc.size(), process_end - proc.size());
  const bool is_own = whose == "self" || whose == "thread-self";
  if (!is_own && !is_number(whose)) return path;
  if (path.compare(process_end, task.size(), task) == 0) // a thread of a process
    return without_proc_links(thread, std::string(proc) + path.substr(process_end + task.size()));
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

watcher::watcher(os::descriptor listener, std::string scratch,
                 const std::optional<folder_cover>& cover)
    : listener_(std::move(listener))
    , scratch_(std::move(scratch))
    , cover_(cover) {
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
  if (!blind_spot_.empty()) return; // nothing of it counts any more
  if (!is_native(call.data.arch)) return miss("it runs a program of another architecture");
  const auto* const form = form_of(call.data.nr);
  if (!form) return;
  switch (form->how) {
  case call_form::kind::path:
  case call_form::kind::path_at:
  case call_form::kind::path_how: return note_path(call, *form);
  case call_form::kind::socket: return note_socket(call, *form);
  case call_form::kind::listed: return note_folder(call, static_cast<int>(call.data.args[0]), true);
  case call_form::kind::own_folder: return note_folder(call, AT_FDCWD, false);
  case call_form::kind::out_of_sight:
    return miss("it changes what paths mean (chroot, mount, or a namespace)");
  }
}

void watcher::note_path(const seccomp_notif& call, const call_form& form) {
  const auto thread = static_cast<pid_t>(call.pid);
  const auto& arguments = call.data.args;
  auto mode = form.mode == call_form::no_flags ? 0 : arguments[form.mode];
  auto flags = form.flags == call_form::no_flags ? 0 : arguments[form.flags];
  auto not_following = form.not_following;
  if (form.how == call_form::kind::path_how) {
    open_how how{};
    if (read_bytes(thread, arguments[form.path + 1U], &how, sizeof how) != 0) return; // it fails
    constexpr auto other_root = RESOLVE_IN_ROOT;
    if ((how.resolve & other_root) != 0)
      return miss("it changes what paths mean (RESOLVE_IN_ROOT)");
    mode = flags = how.flags;
    not_following = O_NOFOLLOW;
  }
  if (only_writes(mode)) return; // no input
  std::string path;
  const int read = read_text(thread, arguments[form.path], path);
  if (read == -EFAULT || read == -ENAMETOOLONG || read == -ESRCH) return; // it fails, too
  if (read < 0)
    return miss("its memory cannot be read (" + std::string(std::strerror(-read)) + ")");
  const bool runs_descriptor = form.runs && form.how != call_form::kind::path;
  if (path.empty() && !runs_descriptor) return; // what a descriptor is open on
  const int descriptor =
      form.how == call_form::kind::path ? AT_FDCWD : static_cast<int>(arguments[form.path - 1U]);
  sighting one;
  one.follows = form.follows && (flags & not_following) == 0;
  one.was_run = form.runs;
  one.was_listed = form.tells_emptiness;
  note_name(std::move(one), path, {thread, descriptor, form.reads_link});
  if (form.new_name == call_form::no_flags) return;
  if (read_text(thread, arguments[form.new_name], path) != 0 || path.empty()) return; // it fails
  sighting name;
  name.follows = false;
  const bool is_at = form.how == call_form::kind::path_at;
  note_name(std::move(name), path,
            {thread, is_at ? static_cast<int>(arguments[form.new_name - 1U]) : AT_FDCWD, false});
}

// Notes the name that a Unix socket is given, which fails if it is taken.
void watcher::note_socket(const seccomp_notif& call, const call_form& form) {
  const auto thread = static_cast<pid_t>(call.pid);
  sockaddr_un address{};
  const auto size = std::min<std::uint64_t>(call.data.args[form.path + 1U], sizeof address);
  if (size <= offsetof(sockaddr_un, sun_path)) return;
  if (read_bytes(thread, call.data.args[form.path], &address, size) != 0) return; // it fails
  const auto bytes = static_cast<std::size_t>(size) - offsetof(sockaddr_un, sun_path);
  const std::string path(address.sun_path, ::strnlen(address.sun_path, bytes));
  if (address.sun_family != AF_UNIX || path.empty()) return; // no file
  sighting one;
  one.follows = form.follows;
  note_name(std::move(one), path, {thread, AT_FDCWD, false});
}

// Notes a path that a thread has named.
void watcher::note_name(sighting one, std::string_view name, const call_place& from) {
  auto path = collapsed(name);
  if (!name.starts_with('/')) {
    auto folder = known_folder(from.thread, from.descriptor);
    if (!folder.starts_with('/')) return; // no folder: the call fails
    one.base = folder.size();
    path = name.empty() ? std::move(folder) : std::move(folder) + "/" + path;
  }
  one.follows = one.follows || path.ends_with('/');
  // A link of its own may lead to links of /proc.
  constexpr int most_turns = 2;
  for (int turn = 0; turn < most_turns; ++turn) {
    one.path = without_proc_links(from.thread, path);
    if (one.path != path) {
      one.base = 0;
      one.from_scratch = false;
      one.told_place = from.reads_link;
    } else if (turn > 0) {
      break;
    }
    follow_links(one, from.reads_link);
    path = one.path;
  }
  if (path.starts_with("/proc/") && path.find("/..") != path.npos)
    return miss("it names a file by a path through /proc");
  const bool was_run = one.was_run;
  if (cover_ && !is_of_kernel(path)) path = note_own_ways(one, from.thread);
  note(std::move(one));
  if (was_run && from.depth < most_interpreters) note_interpreter(path, from);
}

// The kernel opens the interpreter of a program by itself, and that of the interpreter.
void watcher::note_interpreter(const std::string& program, const call_place& from) {
  const auto interpreter = os::interpreter_of(program);
  if (interpreter.empty()) return;
  sighting run;
  run.was_run = true;
  note_name(std::move(run), interpreter, {from.thread, AT_FDCWD, false, from.depth + 1});
}

// The folder of a descriptor; empty: there is none, or its path cannot be told.
std::string watcher::known_folder(pid_t thread, int descriptor) {
  errno = 0;
  auto folder = folder_of(thread, descriptor);
  if (errno == ENAMETOOLONG) miss("its working folder has too long a name");
  return folder;
}

// A folder that is listed, or whose path is asked for.
void watcher::note_folder(const seccomp_notif& call, int descriptor, bool is_listed) {
  const auto thread = static_cast<pid_t>(call.pid);
  sighting one;
  one.path = known_folder(thread, descriptor);
  if (!one.path.starts_with('/')) return;
  one.base = one.path.size();
  one.was_listed = is_listed;
  one.told_place = !is_listed;
  follow_links(one, false);
  if (cover_) note_own_ways(one, thread);
  note(std::move(one));
}

// Where the content of a path of the overlay lies, if the command has changed it.
std::string watcher::changed_file(const std::string& path) const {
  const auto& folder = cover_->folder;
  if (!path.starts_with(folder)) return {};
  auto left = path.substr(folder == "/" ? 0 : folder.size());
  return left.empty() || left.starts_with('/') ? cover_->changes + left : std::string();
}

// Beneath an overlay the command sees links and folders that it made itself, and a path through
// them leads to files that the host reaches by another path: notes that path too. Returns the
// path, without links, of the file itself, or of what holds its content.
std::string watcher::note_own_ways(const sighting& one, pid_t thread) {
  constexpr int max_links = 40; // as the kernel follows
  auto left = reversed_components(one.path);
  std::string at;
  const auto note_way = [&](const std::string& start) {
    auto way = one;
    way.path = start + joined(left);
    if (way.path.empty()) way.path = "/";
    const auto& folder = cover_->folder;
    const bool is_below = way.path.starts_with(folder + "/");
    way.base = one.base > 0 && is_below ? folder.size() : 0;
    note(std::move(way));
  };
  for (int links = 0; !left.empty() && links <= max_links;) {
    const auto name = std::move(left.back());
    left.pop_back();
    if (name == "..") {
      const auto own = changed_file(at);
      at = parent_of(at);
      if (!own.empty() && is_folder(own)) note_way(at);
      continue;
    }
    const auto next = at + "/" + name;
    const auto own = changed_file(next);
    const bool is_changed = !own.empty() && is_there(own);
    const bool is_own = is_changed || is_in_scratch(next);
    const bool is_end = left.empty() && !one.follows;
    const auto text = is_end ? std::string() : text_of_link(is_changed ? own : next);
    if (text.empty()) {
      at = next;
      continue;
    }
    ++links;
    bool is_other = false;
    auto inner = reversed_components(text);
    left.insert(left.end(), std::make_move_iterator(inner.begin()),
                std::make_move_iterator(inner.end()));
    if (text.starts_with('/')) {
      at.clear();
      const auto whole = joined(left);
      auto meant = without_proc_links(thread, whole);
      is_other = meant != whole;
      left = reversed_components(meant);
    }
    if (is_own || is_other) note_way(at);
  }
  const auto own = changed_file(at);
  return !own.empty() && is_there(own) ? own : at;
}

bool watcher::is_in_scratch(std::string_view path) const {
  return !scratch_.empty() && path.starts_with(scratch_) &&
         (path.size() == scratch_.size() || path[scratch_.size()] == '/');
}

// Whether a link in the scratch directory is one of those that show the host's files there.
bool watcher::shows_host(const std::string& link, std::string_view text) const {
  const auto root = scratch_ + "/root";
  return text.starts_with('/') && link.size() == root.size() + text.size() &&
         link.starts_with(root) && link.ends_with(text);
}

// Follows the links in the scratch directory, component by component, to what is there: the
// program may remove them later. Beyond it, the path is kept as it is.
void watcher::follow_links(sighting& one, bool reads_link) {
  if (!is_in_scratch(one.path)) return;
  constexpr int max_links = 40; // as the kernel follows
  auto left = reversed_components(std::string_view(one.path).substr(scratch_.size()));
  const bool ends_in_folder = one.path.ends_with('/') && !left.empty();
  auto at = scratch_;
  one.base = 0;
  one.from_scratch = true;
  const auto arrive = [&](std::string where) {
    one.path = std::move(where) + joined(left) + (ends_in_folder ? "/" : "");
    if (one.path.empty()) one.path = "/";
  };
  for (int links = 0; !left.empty();) {
    const auto name = std::move(left.back());
    left.pop_back();
    if (name == "..") {
      at = parent_of(at);
      if (is_in_scratch(at)) continue;
      while (!left.empty() && left.back() == "..") {
        at = parent_of(at);
        left.pop_back();
      }
      const auto outside = at + joined(left);
      if (!is_in_scratch(outside) || ++links > max_links) {
        arrive(std::move(at));
        one.from_scratch = false;
        return;
      }
      left = reversed_components(std::string_view(outside).substr(scratch_.size()));
      at = scratch_;
      continue;
    }
    auto next = at + "/" + name;
    const auto text = text_of_link(next);
    if (text.empty()) {
      const bool is_there = errno == EINVAL; // it is no link
      at = std::move(next);
      if (is_there) continue;
      left.clear(); // what follows is not there either
      break;
    }
    const bool is_hosts = shows_host(next, text);
    if (left.empty() && !one.follows) {
      one.is_shown = is_hosts;
      one.told_place = reads_link && is_hosts;
      return arrive(std::move(next));
    }
    if (is_hosts) {
      one.base = text.size();
      return arrive(text);
    }
    sighting own;
    own.path = next;
    own.follows = false;
    own.from_scratch = true;
    note(std::move(own));
    if (++links > max_links) break;
    auto inner = reversed_components(text);
    left.insert(left.end(), std::make_move_iterator(inner.begin()),
                std::make_move_iterator(inner.end()));
    if (!text.starts_with('/')) continue;
    if (is_in_scratch(text)) {
      left.resize(left.size() - component_count(scratch_));
      at = scratch_;
      continue;
    }
    one.from_scratch = false;
    return arrive("");
  }
  arrive(std::move(at));
}

void watcher::note(sighting one) {
  auto way = one.path;
  way.append(1, '\0').append(std::to_string(one.base));
  way.append(one.from_scratch ? "s" : "").append(one.follows ? "f" : "");
  const auto [at, is_new] = places_.try_emplace(std::move(way), seen_.size());
  if (!is_new) {
    auto& known = seen_[at->second];
    known.was_listed |= one.was_listed;
    known.was_run |= one.was_run;
    known.told_place |= one.told_place;
    known.is_shown |= one.is_shown;
    return;
  }
  seen_bytes_ += one.path.size();
  if (seen_.size() >= max_paths || seen_bytes_ > max_bytes)
    return miss("it looks at too many files");
  struct stat found {};
  one.was_there =
      ::fstatat(AT_FDCWD, one.path.c_str(), &found, one.follows ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
  one.device = one.was_there ? found.st_dev : 0;
  one.inode = one.was_there ? found.st_ino : 0;
  seen_.push_back(std::move(one));
}

void watcher::miss(std::string why) {
  if (!blind_spot_.empty()) return;
  blind_spot_ = std::move(why);
  seen_ = {};
  places_ = {};
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
