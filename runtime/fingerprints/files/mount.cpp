#include "runtime/fingerprints/files/mount.hpp"

#include "messages/hash.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>

namespace hearth::fingerprints {
namespace {

// Not in the headers of Debian 12. Linux 5.8 and 6.8.
constexpr unsigned mask_id = 0x1000;
constexpr unsigned mask_unique_id = 0x4000;

// The random number of this boot; of this process where there is none.
std::uint64_t boot_seed() {
  static const std::uint64_t seed = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string text;
    std::getline(file, text);
    return text.empty() ? process_seed() : fast_hash(text);
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

} // namespace hearth::fingerprints
