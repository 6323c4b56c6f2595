#include "runtime/process/worker/watch_filter.hpp"

#include "runtime/os/kernel_version.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

// Not in every header that Hearth is built with.
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace hearth::worker {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t native_architecture = 0; // nothing is watched
#endif

struct known_call {
  int number;
  call_form form;
};

using kind = call_form::kind;

constexpr std::uint32_t no_follow = AT_SYMLINK_NOFOLLOW;

constexpr call_form reading_link(kind how, std::uint8_t path) {
  call_form form{how, path, false};
  form.reads_link = form.tells_place = true;
  return form;
}

constexpr call_form telling_place(kind how, std::uint8_t path) {
  call_form form{how, path};
  form.tells_place = true;
  return form;
}

constexpr call_form giving_name(kind how, std::uint8_t path, std::uint8_t name) {
  call_form form{how, path, false};
  form.new_name = name;
  return form;
}

constexpr call_form removing_folder(kind how, std::uint8_t path) {
  call_form form{how, path, false};
  form.tells_emptiness = true;
  return form;
}

// Calls of Linux 5.2 to 6.17, not in every header. Their numbers are those of all architectures.
constexpr int open_tree_call = 428, fchmodat2_call = 452, setxattrat_call = 463,
              getxattrat_call = 464, listxattrat_call = 465, removexattrat_call = 466,
              file_getattr_call = 468, file_setattr_call = 469;

constexpr known_call calls[] = {
#ifdef __NR_open // older calls, which newer architectures lack
    {__NR_open, {kind::path, 0, true, 1, O_NOFOLLOW, false, 1}},
    {__NR_stat, {kind::path, 0}},
    {__NR_lstat, {kind::path, 0, false}},
    {__NR_access, {kind::path, 0}},
    {__NR_mkdir, {kind::path, 0, false}},
    {__NR_readlink, reading_link(kind::path, 0)},
    {__NR_getdents, {kind::listed, 0}},
    {__NR_rename, {kind::path, 0, false}}, // what is moved is read by its new name
    {__NR_renameat, {kind::path_at, 1, false}},
    {__NR_link, giving_name(kind::path, 0, 1)},
    {__NR_symlink, {kind::path, 1, false}},
    {__NR_mknod, {kind::path, 0, false}},
    {__NR_unlink, {kind::path, 0, false}},
    {__NR_rmdir, removing_folder(kind::path, 0)},
    {__NR_chmod, {kind::path, 0}},
    {__NR_chown, {kind::path, 0}},
    {__NR_lchown, {kind::path, 0, false}},
    {__NR_utime, {kind::path, 0}},
    {__NR_utimes, {kind::path, 0}},
    {__NR_futimesat, {kind::path_at, 1}},
#endif
    {__NR_openat, {kind::path_at, 1, true, 2, O_NOFOLLOW, false, 2}},
    {__NR_openat2, {kind::path_how, 1}},
    {__NR_newfstatat, {kind::path_at, 1, true, 3, no_follow}},
    {__NR_statx, {kind::path_at, 1, true, 2, no_follow}},
    {__NR_faccessat, {kind::path_at, 1}},
    {__NR_faccessat2, {kind::path_at, 1, true, 3, no_follow}},
    {__NR_readlinkat, reading_link(kind::path_at, 1)},
    {__NR_execve, {kind::path, 0, true, call_form::no_flags, 0, true}},
    {__NR_execveat, {kind::path_at, 1, true, 4, no_follow, true}},
    {__NR_mkdirat, {kind::path_at, 1, false}},
    {__NR_renameat2, giving_name(kind::path_at, 1, 3)}, // coreutils do not replace
    {__NR_linkat, giving_name(kind::path_at, 1, 3)},
    {__NR_symlinkat, {kind::path_at, 2, false}},
    {__NR_mknodat, {kind::path_at, 1, false}},
    {__NR_unlinkat, removing_folder(kind::path_at, 1)},
    {__NR_truncate, {kind::path, 0}},
    {__NR_fchmodat, {kind::path_at, 1}},
    {__NR_fchownat, {kind::path_at, 1, true, 4, no_follow}},
    {__NR_utimensat, {kind::path_at, 1, true, 3, no_follow}},
    {__NR_statfs, {kind::path, 0}},
    {__NR_getxattr, {kind::path, 0}},
    {__NR_lgetxattr, {kind::path, 0, false}},
    {__NR_listxattr, {kind::path, 0}},
    {__NR_llistxattr, {kind::path, 0, false}},
    {__NR_setxattr, {kind::path, 0}},
    {__NR_lsetxattr, {kind::path, 0, false}},
    {__NR_removexattr, {kind::path, 0}},
    {__NR_lremovexattr, {kind::path, 0, false}},
    {setxattrat_call, {kind::path_at, 1, true, 2, no_follow}},
    {getxattrat_call, {kind::path_at, 1, true, 2, no_follow}},
    {listxattrat_call, {kind::path_at, 1, true, 2, no_follow}},
    {removexattrat_call, {kind::path_at, 1, true, 2, no_follow}},
    {file_getattr_call, {kind::path_at, 1, true, 4, no_follow}},
    {file_setattr_call, {kind::path_at, 1, true, 4, no_follow}},
    {fchmodat2_call, {kind::path_at, 1, true, 3, no_follow}},
    {open_tree_call, {kind::path_at, 1, true, 2, no_follow}},
    {__NR_name_to_handle_at, {kind::path_at, 1}}, // a link at the end counts as well
    {__NR_inotify_add_watch, {kind::path, 1, true, 2, IN_DONT_FOLLOW}},
    {__NR_bind, {kind::socket, 1, false}},
    {__NR_chdir, {kind::path, 0}},
    {__NR_getcwd, telling_place(kind::own_folder, 0)},
    {__NR_getdents64, {kind::listed, 0}},
    {__NR_chroot, {kind::out_of_sight}},
    {__NR_pivot_root, {kind::out_of_sight}},
    {__NR_mount, {kind::out_of_sight}},
    {__NR_umount2, {kind::out_of_sight}},
    {__NR_move_mount, {kind::out_of_sight}},
    {__NR_setns, {kind::out_of_sight}},
    {__NR_open_by_handle_at, {kind::out_of_sight}},
};

sock_filter statement(unsigned code, std::uint32_t value) {
  return {static_cast<std::uint16_t>(code), 0, 0, value};
}

void answer_call(std::vector<sock_filter>& code, int number, std::uint32_t answer) {
  code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(number)});
  code.push_back(statement(BPF_RET | BPF_K, answer));
}

// As `answer_call` with a notification, but a call that asks about an open descriptor goes on: a
// third of what a compiler asks. (A program could name a path in such a call, too; compilers do
// not.)
void tell_unless_of_descriptor(std::vector<sock_filter>& code, const known_call& one) {
  constexpr std::size_t bytes_of_argument = sizeof(seccomp_data::args[0]);
  code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 4, static_cast<std::uint32_t>(one.number)});
  const auto flags = offsetof(seccomp_data, args) + one.form.flags * bytes_of_argument;
  code.push_back(statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(flags)));
  code.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, AT_EMPTY_PATH});
  code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
}

bool asks_about_file(int call) { return call == __NR_newfstatat || call == __NR_statx; }

std::vector<sock_filter> make_filter(bool links) {
  std::vector<sock_filter> code;
  code.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, native_architecture});
  // Another architecture's numbers: the first call of such a program says that it is not seen.
  code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  code.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const auto& one : calls)
    if (!links && asks_about_file(one.number))
      tell_unless_of_descriptor(code, one);
    else if (links || !one.form.tells_place)
      answer_call(code, one.number, SECCOMP_RET_USER_NOTIF);
  // Its requests would not be seen; programs that know it go on without.
  answer_call(code, __NR_io_uring_setup, SECCOMP_RET_ERRNO | ENOSYS);
#if defined(__x86_64__)
  constexpr std::uint32_t x32_bit = 0x40000000;
  code.push_back({BPF_JMP | BPF_JGE | BPF_K, 0, 1, x32_bit});
  code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
#endif
  code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return code;
}

int install(const sock_fprog& program, unsigned flags) {
  const auto listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  return listener < 0 ? -errno : static_cast<int>(listener);
}

} // namespace

const call_form* form_of(int call) {
  const auto* const at = std::find_if(std::begin(calls), std::end(calls),
                                      [&](const auto& one) { return one.number == call; });
  return at == std::end(calls) ? nullptr : &at->form;
}

bool is_native(std::uint32_t architecture) { return architecture == native_architecture; }

int install_filter(bool links) {
  // Before 5.5, a stopped call cannot go on; before 5.9, the end of all watched processes is not
  // told.
  if (native_architecture == 0 || !os::is_linux_since(5, 9)) return -ENOSYS;
  auto code = make_filter(links);
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  // A signal does not interrupt a call whose notification is being answered (Linux 5.19).
  constexpr unsigned listens = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  constexpr unsigned killable = listens | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  const auto try_both = [&] {
    const int listener = install(program, killable);
    return listener == -EINVAL ? install(program, listens) : listener;
  };
  const int listener = try_both();
  if (listener != -EACCES) return listener;
  // Without the right to, a process may only if it gives up set-user-id programs.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
  return try_both();
}

} // namespace hearth::worker
