#include "storage/disk/store/store_directory.hpp"

#include "messages/hex.hpp"
#include "messages/random_number.hpp"
#include "storage/disk/os/errors.hpp"
#include "storage/disk/store/recover_description.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace hearth::storage::disk {
namespace {

constexpr const char* description_name = "store";
constexpr std::uint64_t copy_distance = page_bytes / description_copies;

// File systems whose locks and shared mappings are local to one machine.
constexpr std::array<long, 7> known_file_systems{
    0xEF53,     // ext2, ext3, ext4
    0x58465342, // xfs
    0x9123683E, // btrfs
    0x2FC12FC1, // zfs
    0xF2F52010, // f2fs
    0x01021994, // tmpfs
    0x794C7630, // overlay
};

expected<void> check_file_system(file_system& files, const file& folder,
                                 const std::filesystem::path& path) {
  const long type = files.type_of(folder.get());
  if (type < 0) return fail(system_error(static_cast<int>(-type), "look at", path));
  if (std::find(known_file_systems.begin(), known_file_systems.end(), type) !=
      known_file_systems.end())
    return {};
  return fail(errc::unsupported,
              path.string() + " is on a network or unknown file system, on which a store cannot "
                              "be shared: name a local directory, and use a remote tier to share "
                              "between machines");
}

using page = std::array<char, page_bytes>;

page encode(store_description d) {
  page bytes{};
  d.sum = sum_of(d);
  for (std::uint64_t copy = 0; copy < description_copies; ++copy)
    std::copy_n(reinterpret_cast<const char*>(&d), sizeof d, bytes.data() + copy * copy_distance);
  return bytes;
}

// The description that most of the intact copies agree on: one of them may be another store's.
std::optional<store_description> decode(const page& bytes) {
  std::optional<store_description> best;
  std::ptrdiff_t votes = 0;
  std::array<store_description, description_copies> copies;
  for (std::uint64_t copy = 0; copy < description_copies; ++copy)
    std::copy_n(bytes.data() + copy * copy_distance, sizeof copies[copy],
                reinterpret_cast<char*>(&copies[copy]));
  for (const auto& one : copies) {
    const auto same = std::count_if(copies.begin(), copies.end(), [&](const auto& other) {
      return is_usable(other) && other.store_id == one.store_id;
    });
    if (!is_usable(one) || same <= votes) continue;
    best = one;
    votes = same;
  }
  return best;
}

// Links a complete description to its name atomically; if several processes make one, the first
// wins.
expected<void> make_description(file_system& files, store_directory& in,
                                const store_description& d) {
  const auto name = "store." + std::to_string(::getpid()) + "." + std::to_string(random_number());
  const auto broken = [&](int error, std::string_view action) {
    files.remove_at(in.folder.get(), name.c_str());
    return fail(system_error(error, action, in.path / description_name));
  };
  const file made(files, files.open_at(in.folder.get(), name.c_str(),
                                       O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600));
  if (!made) return broken(made.error(), "make");
  const auto bytes = encode(d);
  const auto wrote = write_fully(files, made.get(), bytes.data(), bytes.size(), 0);
  if (wrote.error) return broken(wrote.error, "write");
  if (const int synced = files.sync(made.get()); synced < 0) return broken(-synced, "sync");
  const int linked = files.link_at(in.folder.get(), name.c_str(), description_name);
  if (linked < 0 && linked != -EEXIST) return broken(-linked, "link");
  files.remove_at(in.folder.get(), name.c_str());
  files.sync(in.folder.get());
  return {};
}

expected<void> read_description(file_system& files, store_directory& in, bool read_only,
                                const std::function<store_description()>& make_fresh) {
  const auto path = in.path / description_name;
  page bytes{};
  const auto got = read_fully(files, in.description_file.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) return fail(system_error(static_cast<int>(-got), "read", path));
  auto found = decode(bytes);
  const bool damaged = !found;
  std::optional<store_description> fresh;
  if (damaged) {
    fresh = make_fresh();
    found = recover_description(files, in.folder, *fresh);
  }
  if (!found && read_only)
    return fail(errc::corrupt, path.string() + " is damaged; open the store for writing once");
  in.description = found ? *found : *fresh;
  if (in.description.format != format_version)
    return fail(errc::unsupported, path.string() + " is of format " +
                                       std::to_string(in.description.format) +
                                       ", which this version does not know; name another store");
  if (damaged && !read_only) {
    const auto repaired = encode(in.description);
    write_fully(files, in.description_file.get(), repaired.data(), repaired.size(), 0);
    files.sync(in.description_file.get());
  }
  return {};
}

// Makes a folder, durably, so that files flushed into it later survive a power loss.
int make_folder(file_system& files, int parent, const std::filesystem::path& name) {
  const int made = files.make_directory_at(parent, name.c_str(), 0700);
  if (made < 0) return made;
  const auto above = name.has_parent_path() ? name.parent_path() : std::filesystem::path(".");
  const file holder(files, files.open_at(parent, above.c_str(), O_RDONLY | O_DIRECTORY, 0));
  if (holder) files.sync(holder.get()); // if this user may open it
  return made;
}

} // namespace

std::string shard_folder(unsigned number) {
  const char byte = static_cast<char>(number);
  std::string name;
  append_hex(name, {&byte, 1});
  return name;
}

expected<file> open_own_directory(file_system& files, int parent, const std::filesystem::path& name,
                                  const std::filesystem::path& shown, when_missing missing,
                                  others_may others) {
  if (missing == when_missing::make) {
    const int made = make_folder(files, parent, name);
    if (made == -ENOENT && name.has_parent_path() && name.parent_path() != name) {
      auto above = name.parent_path();
      std::error_code ignored;
      std::filesystem::create_directories(above, ignored);
      make_folder(files, parent, name);
    } else if (made < 0 && made != -EEXIST) {
      return fail(system_error(-made, "make", shown));
    }
  }
  file opened(files, files.open_at(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0));
  if (opened.error() == ELOOP || opened.error() == ENOTDIR)
    return fail(errc::permission,
                shown.string() + " is a symbolic link or no directory: name the real one");
  if (!opened) return fail(system_error(opened.error(), "open", shown));
  struct stat about {};
  if (const int stated = files.status(opened.get(), about); stated < 0)
    return fail(system_error(-stated, "look at", shown));
  if (about.st_uid != ::geteuid())
    return fail(errc::permission,
                shown.string() + " belongs to another user: name a directory of your own");
  const bool is_private = others == others_may::nothing;
  if ((about.st_mode & (is_private ? 077u : 022u)) != 0)
    return fail(errc::permission, shown.string() + " is open to other users: run chmod go-" +
                                      (is_private ? "rwx " : "w ") + shown.string());
  return opened;
}

expected<store_directory>
open_store_directory(file_system& files, const std::filesystem::path& directory, bool read_only,
                     const std::function<store_shape(const file& folder)>& choose) {
  const auto missing = read_only ? when_missing::refuse : when_missing::make;
  auto top = open_own_directory(files, AT_FDCWD, directory, directory, missing, others_may::read);
  if (!top) return fail(top.error());
  store_directory opened{directory / "v1", {}, {}, {}};
  auto folder =
      open_own_directory(files, top->get(), "v1", opened.path, missing, others_may::nothing);
  if (!folder) return fail(folder.error());
  opened.folder = std::move(*folder);
  if (auto known = check_file_system(files, opened.folder, opened.path); !known)
    return fail(known.error());
  // Choosing looks at all files of the store.
  const auto make_fresh = [&] {
    const auto shape = choose(opened.folder);
    store_description fresh;
    fresh.shards = shape.shards;
    fresh.segment_bytes = shape.segment_bytes;
    fresh.store_id = random_number();
    return fresh;
  };
  const int flags = (read_only ? O_RDONLY : O_RDWR) | O_NOFOLLOW;
  const auto open = [&] {
    opened.description_file =
        file(files, files.open_at(opened.folder.get(), description_name, flags, 0));
  };
  open();
  if (opened.description_file.error() == ENOENT && missing == when_missing::make) {
    const auto fresh = make_fresh();
    const auto recovered = recover_description(files, opened.folder, fresh);
    if (auto made = make_description(files, opened, recovered.value_or(fresh)); !made)
      return fail(made.error());
    open();
  }
  if (!opened.description_file)
    return fail(
        system_error(opened.description_file.error(), "open", opened.path / description_name));
  if (auto read = read_description(files, opened, read_only, make_fresh); !read)
    return fail(read.error());
  return opened;
}

} // namespace hearth::storage::disk
