#include "runtime/fingerprints/files/mount.hpp"

#include "messages/hash.hpp"
#include "runtime/os/files/descriptor.hpp"

#include <array>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_set>

namespace hearth::fingerprints {
namespace {

// Not in the headers of Debian 12. Linux 5.8 and 6.8.
constexpr unsigned mask_id = 0x1000;
constexpr unsigned mask_unique_id = 0x4000;

// `listmount` of Linux 6.8: the unique numbers of the mounts below one, after the last one known.
#ifdef SYS_listmount
constexpr long listmount_call = SYS_listmount;
#else
constexpr long listmount_call = 458;
#endif
constexpr std::uint64_t root_of_process = ~std::uint64_t{0};
struct listmount_request {
  std::uint32_t size = sizeof(listmount_request);
  std::uint32_t unused = 0;
  std::uint64_t below = root_of_process;
  std::uint64_t after = 0;
};
static_assert(sizeof(listmount_request) == 24);

// The random number of this boot; of this process where there is none.
std::uint64_t boot_seed() {
  static const std::uint64_t seed = [] {
    // No stream: the first one of a program makes its locales.
    std::array<char, 64> text{};
    const os::descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    const auto bytes = file ? ::read(file.get(), text.data(), text.size()) : -1;
    if (bytes <= 1) return process_seed();
    return fast_hash({text.data(), static_cast<std::size_t>(bytes) - 1}); // without its newline
  }();
  return seed;
}

std::uint64_t hash_of(std::uint64_t id, std::uint64_t seed) {
  const auto hash = fast_hash({reinterpret_cast<const char*>(&id), sizeof id}, seed);
  return hash == 0 ? 1 : hash;
}

// The numbers of the mounts that can be written to, as this process first saw them. Without unique
// numbers, a number may be given to the next image after an unmount; files of one that can be
// written to at least have times of their own.
std::unordered_set<std::uint64_t> writable_mounts() {
  std::unordered_set<std::uint64_t> found;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // "36 35 98:0 / /mnt rw,noatime ... - ext4 /dev/sda1 rw,errors=continue"
    std::istringstream words(line);
    std::uint64_t id = 0;
    std::string parent, device, root, place, options;
    if (!(words >> id >> parent >> device >> root >> place >> options)) continue;
    const auto end = line.find(" - ");
    std::string kind, source, whole_options;
    if (end == std::string::npos) continue;
    std::istringstream rest(line.substr(end + 3));
    rest >> kind >> source >> whole_options;
    if (options.starts_with("rw") && whole_options.starts_with("rw")) found.insert(id);
  }
  return found;
}

} // namespace

unsigned mount_mask() { return mask_id | mask_unique_id; }

std::uint64_t mount_of(const struct statx& found) {
  if ((found.stx_mask & mask_unique_id) != 0) return hash_of(found.stx_mnt_id, boot_seed());
  static const auto writable = writable_mounts();
  const bool is_known = (found.stx_mask & mask_id) != 0 && writable.contains(found.stx_mnt_id);
  return hash_of(found.stx_mnt_id, is_known ? boot_seed() : process_seed());
}

std::optional<std::set<std::uint64_t>> mounts_now() {
  constexpr std::size_t part = 256;
  std::set<std::uint64_t> all;
  // In a changed root, the mount that has it is not listed.
  struct statx root {};
  if (::statx(AT_FDCWD, "/", 0, mount_mask(), &root) == 0) all.insert(mount_of(root));
  listmount_request request;
  for (std::array<std::uint64_t, part> ids{};;) {
    const auto count = ::syscall(listmount_call, &request, ids.data(), ids.size(), 0U);
    if (count < 0) return std::nullopt;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      all.insert(hash_of(ids[i], boot_seed()));
    if (static_cast<std::size_t>(count) < ids.size()) break;
    request.after = ids.back();
  }
  return all;
}

} // namespace hearth::fingerprints
