// A program that looks at files in one unusual way: `watched_calls HOW PATH`, or in one system call
// that names a file: `watched_calls "call NAME" PATH`. Status 0: it did what its name says; 77:
// this system cannot.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int cannot = 77;

int status_of(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// Whether the file can be opened and has a first byte.
int read_byte(int file) {
  char byte = 0;
  const bool is_good = file >= 0 && ::read(file, &byte, 1) == 1;
  if (file >= 0) ::close(file);
  return is_good ? 0 : 1;
}

std::vector<char*> cat(const char* path) {
  static std::string program = "/bin/cat", file;
  file = path;
  return {program.data(), file.data(), nullptr};
}

int by_vfork(const char* path) {
  auto arguments = cat(path);
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execv(arguments[0], arguments.data());
    ::_exit(1);
  }
  return status_of(child);
}

int by_posix_spawn(const char* path) {
  auto arguments = cat(path);
  pid_t child = -1;
  if (::posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
    return 1;
  return status_of(child);
}

int by_execveat(const char* path) {
  auto arguments = cat(path);
  const int folder = ::open("/bin", O_PATH | O_DIRECTORY);
  ::syscall(SYS_execveat, folder, "cat", arguments.data(), environ, 0);
  return 1;
}

// Runs what a descriptor is open on.
int by_fexecve(const char* path) {
  const int file = ::open(path, O_PATH | O_CLOEXEC);
  auto arguments = cat(path);
  ::syscall(SYS_execveat, file, "", arguments.data(), environ, AT_EMPTY_PATH);
  return 1;
}

// A call with the address of no memory fails; the program goes on.
int after_fault(const char* path) {
  constexpr long nowhere = 8;
  if (::syscall(SYS_openat, AT_FDCWD, nowhere, O_RDONLY) != -1 || errno != EFAULT) return 1;
  return read_byte(::open(path, O_RDONLY));
}

int by_openat2(const char* path) {
  open_how how{};
  how.flags = O_RDONLY;
  return read_byte(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how)));
}

// The folder is the root for this call.
int in_root(const char* path) {
  const int root = ::open("/", O_PATH | O_DIRECTORY);
  open_how how{};
  how.flags = O_RDONLY;
  how.resolve = RESOLVE_IN_ROOT;
  return read_byte(static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how)));
}

// A program that knows io_uring goes on without it.
int by_io_uring(const char* path) {
  char parameters[256] = {};
  if (::syscall(__NR_io_uring_setup, 1, parameters) != -1 || errno != ENOSYS) return 1;
  return read_byte(::open(path, O_RDONLY));
}

// A call by the numbers of another architecture.
int by_other_architecture(const char*) {
#if defined(__x86_64__)
  for (const int refused : {SIGSEGV, SIGILL}) // by a kernel without the other architecture
    std::signal(refused, [](int) { ::_exit(cannot); });
  long result = 20; // getpid of i386
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
  return result > 0 ? 0 : cannot;
#else
  return cannot;
#endif
}

// With a filter of its own, which allows everything.
int with_seccomp(const char* path) {
  sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{1, allow};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return cannot;
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 1;
  return read_byte(::open(path, O_RDONLY));
}

// A second listener is refused by the kernel: only one is had.
int with_own_listener(const char* path) {
  sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{1, allow};
  (void)::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return read_byte(::open(path, O_RDONLY));
}

// A thread with a folder of its own: a relative name means something else there.
int in_own_folder(const char* path) {
  std::string folder = path;
  const auto end = folder.rfind('/');
  const auto name = folder.substr(end + 1);
  folder.resize(end);
  int result = 1;
  std::thread([&] {
    if (::syscall(SYS_unshare, 0x00000200 /* CLONE_FS */) != 0 || ::chdir(folder.c_str()) != 0)
      return;
    result = read_byte(::open(name.c_str(), O_RDONLY));
  }).join();
  return result;
}

int through_proc(const char* path) {
  const int file = ::open(path, O_RDONLY);
  const auto link = "/proc/self/fd/" + std::to_string(file);
  return read_byte(::open(link.c_str(), O_RDONLY));
}

// Opened by a parent, read by a child through a passed descriptor.
int passed_on(const char* path) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  const pid_t child = ::fork();
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  char byte = 'x';
  iovec content{&byte, 1};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (child == 0) {
    int file = -1;
    if (::recvmsg(sockets[1], &message, 0) == 1 && CMSG_FIRSTHDR(&message))
      std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    ::_exit(read_byte(file));
  }
  const int file = ::open(path, O_RDONLY);
  auto* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  if (::sendmsg(sockets[0], &message, 0) != 1) return 1;
  return status_of(child);
}

int mapped(const char* path) {
  const int file = ::open(path, O_RDONLY);
  const void* const bytes = ::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  return bytes != MAP_FAILED && *static_cast<const volatile char*>(bytes) != 0 ? 0 : 1;
}

// Lists the folder of the file by the older call.
int by_getdents(const char* path) {
#ifdef SYS_getdents
  std::string folder = path;
  folder.resize(folder.rfind('/'));
  char names[4096];
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  return ::syscall(SYS_getdents, opened, names, sizeof names) > 0 ? 0 : 1;
#else
  (void)path;
  return cannot;
#endif
}

int after_chroot(const char* path) {
  if (::chroot("/") != 0) return cannot;
  return read_byte(::open(path, O_RDONLY));
}

// 200 processes, each the child of the one before, each reads the file.
int by_descendants(const char* path) {
  for (int left = 200; left > 0; --left) {
    if (read_byte(::open(path, O_RDONLY)) != 0) return 1;
    const pid_t child = ::fork();
    if (child < 0) return 1;
    if (child != 0) return status_of(child);
  }
  return 0;
}

// A signal handler interrupts the calls that are being watched.
int under_signals(const char* path) {
  struct sigaction handled {};
  handled.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &handled, nullptr); // without SA_RESTART
  const itimerval often{{0, 500}, {0, 500}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 200; ++i) {
    int file = -1;
    do
      file = ::open(path, O_RDONLY);
    while (file < 0 && errno == EINTR);
    if (file < 0) return 1;
    ::close(file);
  }
  return 0;
}

struct way {
  const char* name;
  int (*look)(const char* path);
};

constexpr way ways[] = {
    {"vfork", by_vfork},
    {"posix_spawn", by_posix_spawn},
    {"execveat", by_execveat},
    {"fexecve", by_fexecve},
    {"fault", after_fault},
    {"openat2", by_openat2},
    {"in_root", in_root},
    {"io_uring", by_io_uring},
    {"other_architecture", by_other_architecture},
    {"seccomp", with_seccomp},
    {"own_listener", with_own_listener},
    {"own_folder", in_own_folder},
    {"proc", through_proc},
    {"passed_on", passed_on},
    {"mapped", mapped},
    {"getdents", by_getdents},
    {"chroot", after_chroot},
    {"descendants", by_descendants},
    {"signals", under_signals},
};

// One system call that names a file.
struct named_call {
  enum class form {
    path,        // the first argument is the path
    path_at,     // the first two are the folder and the name in it
    path_after,  // the second is the path
    new_path,    // the second is the path, the first another one
    new_path_at, // the folder and the name are the third and the fourth
    link_at,     // the folder and the name are the second and the third
  };
  const char* name;
  long number;
  form how;
  long others[3]; // arguments after the path
};

// Makes the call; whether it finds the file does not count.
int make(const named_call& one, const char* path) {
  using form = named_call::form;
  const auto* const elsewhere = "/nonexistent/file";
  const std::string text = path;
  const auto end = text.rfind('/');
  const int folder = ::open(text.substr(0, end).c_str(), O_PATH | O_DIRECTORY);
  const auto* const name = path + end + 1;
  const auto [a, b, c] = one.others;
  const auto call = [&](auto... arguments) { return ::syscall(one.number, arguments...); };
  long result = -1;
  switch (one.how) {
  case form::path: result = call(path, a, b, c); break;
  case form::path_at: result = call(folder, name, a, b, c); break;
  case form::path_after: result = call(0, path, a, b, c); break;
  case form::new_path: result = call(elsewhere, path); break;
  case form::new_path_at: result = call(folder, elsewhere, folder, name, 0); break;
  case form::link_at: result = call(elsewhere, folder, name); break;
  }
  return result == -1 && (errno == EPERM || errno == ENOSYS) ? cannot : 0;
}

int by_named_call(const char* name, const char* file) {
  using enum named_call::form;
  static char room[4096];
  static char* no_words[] = {nullptr};
  static open_how no_follow{O_NOFOLLOW, 0, 0};
  const auto number_of = [](const void* pointer) { return reinterpret_cast<long>(pointer); };
  const auto to = number_of(room), none = number_of(no_words), attribute = number_of("user.x"),
             elsewhere = number_of("/nonexistent/file");
  constexpr long size = sizeof room;
  const named_call calls[] = {
#ifdef SYS_open // older calls, which newer architectures lack
      {"open", SYS_open, path, {O_RDONLY}},
      {"open, no link", SYS_open, path, {O_NOFOLLOW}},
      {"stat", SYS_stat, path, {to}},
      {"lstat", SYS_lstat, path, {to}},
      {"access", SYS_access, path, {F_OK}},
      {"mkdir", SYS_mkdir, path, {0700}},
      {"readlink", SYS_readlink, path, {to, size}},
      {"rename", SYS_rename, path, {elsewhere}},
      {"renameat", SYS_renameat, path_at, {AT_FDCWD, elsewhere}},
      {"link", SYS_link, path, {elsewhere}},
      {"link, new", SYS_link, new_path, {}},
      {"symlink", SYS_symlink, new_path, {}},
      {"mknod", SYS_mknod, path, {S_IFREG}},
      {"unlink", SYS_unlink, path, {}},
      {"rmdir", SYS_rmdir, path, {}},
      {"chmod", SYS_chmod, path, {0600}},
      {"chown", SYS_chown, path, {-1, -1}},
      {"lchown", SYS_lchown, path, {-1, -1}},
      {"utime", SYS_utime, path, {}},
      {"utimes", SYS_utimes, path, {}},
      {"futimesat", SYS_futimesat, path_at, {}},
#endif
      {"openat", SYS_openat, path_at, {O_RDONLY}},
      {"openat, no link", SYS_openat, path_at, {O_NOFOLLOW}},
      {"openat2, no link", SYS_openat2, path_at, {number_of(&no_follow), sizeof no_follow}},
      {"newfstatat", SYS_newfstatat, path_at, {to}},
      {"newfstatat, no link", SYS_newfstatat, path_at, {to, AT_SYMLINK_NOFOLLOW}},
      {"statx", SYS_statx, path_at, {0, 0, to}},
      {"statx, no link", SYS_statx, path_at, {AT_SYMLINK_NOFOLLOW, 0, to}},
      {"faccessat", SYS_faccessat, path_at, {F_OK}},
      {"faccessat2", SYS_faccessat2, path_at, {F_OK}},
      {"faccessat2, no link", SYS_faccessat2, path_at, {F_OK, AT_SYMLINK_NOFOLLOW}},
      {"readlinkat", SYS_readlinkat, path_at, {to, size}},
      {"execve", SYS_execve, path, {none, none}},
      {"execveat", SYS_execveat, path_at, {none, none}},
      {"execveat, no link", SYS_execveat, path_at, {none, none, AT_SYMLINK_NOFOLLOW}},
      {"mkdirat", SYS_mkdirat, path_at, {0700}},
      {"renameat2", SYS_renameat2, path_at, {AT_FDCWD, elsewhere}},
      {"renameat2, new", SYS_renameat2, new_path_at, {}},
      {"linkat", SYS_linkat, path_at, {AT_FDCWD, elsewhere}},
      {"linkat, new", SYS_linkat, new_path_at, {}},
      {"symlinkat", SYS_symlinkat, link_at, {}},
      {"mknodat", SYS_mknodat, path_at, {S_IFREG}},
      {"unlinkat", SYS_unlinkat, path_at, {}},
      {"truncate", SYS_truncate, path, {}},
      {"fchmodat", SYS_fchmodat, path_at, {0600}},
      {"fchownat", SYS_fchownat, path_at, {-1, -1}},
      {"fchownat, no link", SYS_fchownat, path_at, {-1, -1, AT_SYMLINK_NOFOLLOW}},
      {"utimensat", SYS_utimensat, path_at, {}},
      {"utimensat, no link", SYS_utimensat, path_at, {0, AT_SYMLINK_NOFOLLOW}},
      {"statfs", SYS_statfs, path, {to}},
      {"getxattr", SYS_getxattr, path, {attribute, to, size}},
      {"lgetxattr", SYS_lgetxattr, path, {attribute, to, size}},
      {"listxattr", SYS_listxattr, path, {to, size}},
      {"llistxattr", SYS_llistxattr, path, {to, size}},
      {"setxattr", SYS_setxattr, path, {attribute, to, 1}},
      {"lsetxattr", SYS_lsetxattr, path, {attribute, to, 1}},
      {"removexattr", SYS_removexattr, path, {attribute}},
      {"lremovexattr", SYS_lremovexattr, path, {attribute}},
      {"setxattrat", 463, path_at, {0, attribute, to}},
      {"setxattrat, no link", 463, path_at, {AT_SYMLINK_NOFOLLOW, attribute, to}},
      {"getxattrat", 464, path_at, {0, attribute, to}},
      {"listxattrat", 465, path_at, {0, to, size}},
      {"removexattrat", 466, path_at, {0, attribute}},
      {"file_getattr", 468, path_at, {to, 24, 0}},
      {"fchmodat2", 452, path_at, {0600, 0}},
      {"fchmodat2, no link", 452, path_at, {0600, AT_SYMLINK_NOFOLLOW}},
      {"open_tree", 428, path_at, {0}},
      {"open_tree, no link", 428, path_at, {AT_SYMLINK_NOFOLLOW}},
      {"name_to_handle_at", SYS_name_to_handle_at, path_at, {to, to, 0}},
      {"inotify_add_watch", SYS_inotify_add_watch, path_after, {IN_ACCESS}},
      {"inotify_add_watch, no link",
       SYS_inotify_add_watch,
       path_after,
       {IN_ACCESS | IN_DONT_FOLLOW}},
      {"chdir", SYS_chdir, path, {}},
      // These would change what paths mean.
      {"pivot_root", SYS_pivot_root, path, {elsewhere}},
      {"mount", SYS_mount, path, {elsewhere}},
      {"umount2", SYS_umount2, path, {}},
      {"move_mount", SYS_move_mount, path_at, {AT_FDCWD, elsewhere}},
      {"setns", SYS_setns, path, {}},
      {"open_by_handle_at", SYS_open_by_handle_at, path, {}},
  };
  for (const auto& one : calls)
    if (std::strcmp(one.name, name) == 0) return make(one, file);
  return cannot;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  for (const auto& one : ways)
    if (std::strcmp(one.name, arguments[1]) == 0) return one.look(arguments[2]);
  constexpr std::string_view call = "call ";
  const std::string_view how = arguments[1];
  return how.starts_with(call) ? by_named_call(arguments[1] + call.size(), arguments[2]) : 2;
}
