// The directory of a store, and its description. The directory is made private to the user. It is
// refused when another user owns it, when a symbolic link leads to it, and on a file system that
// processes cannot share.
//
// Used only while a store is opened, by the thread that opens it.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/format.hpp"
#include "storage/disk/os/file_system.hpp"

#include <filesystem>
#include <functional>

namespace hearth::storage::disk {

/// The parameters of a new store.
struct store_shape {
  unsigned shards = 1;
  std::uint64_t segment_bytes = 0;
};

struct store_directory {
  std::filesystem::path path; ///< path of the format's folder, `store/v1`
  file folder;                ///< that folder
  file description_file;      ///< the file `store` in it
  store_description description;
};

enum class when_missing { make, refuse };
/// What other users may do with a directory.
enum class others_may { read, nothing };

/// Opens a directory below another one (or AT_FDCWD), and checks that this user owns it and that
/// other users may do no more than `others`, and never write. `shown` is its path in errors.
expected<file> open_own_directory(file_system& files, int parent, const std::filesystem::path& name,
                                  const std::filesystem::path& shown, when_missing missing,
                                  others_may others);

/// Opens the store's directory, and makes it and its description unless `read_only`. `choose`
/// returns the shape of a new store in this folder.
expected<store_directory>
open_store_directory(file_system& files, const std::filesystem::path& directory, bool read_only,
                     const std::function<store_shape(const file& folder)>& choose);

/// "00"
std::string shard_folder(unsigned number);

} // namespace hearth::storage::disk
