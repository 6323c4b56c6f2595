// A store as a process sees it that only finds things: no lock, no thread, no session, no file but
// those of the shards that are asked. So it opens in a tenth of the calls of a whole store.
//
// Owner: one thread. It changes nothing but the marks of hits, which tell eviction what is used.
#pragma once

#include "storage/disk/files/clean_mark.hpp"
#include "storage/disk/shard/shard.hpp"
#include "storage/disk/store.hpp"
#include "storage/disk/store/store_directory.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hearth::storage::disk {

class hit_view {
public:
  /// Opens the store in `directory`, and installs the handler that turns SIGBUS into a miss.
  /// Errors: those of opening a store read-only.
  static expected<std::unique_ptr<hit_view>> open(const std::filesystem::path& directory,
                                                  file_system& files = real_file_system());

  /// Looks a key up. Nothing: its shard has to be opened by a whole store first, which puts in
  /// order what a crash or a restart of the machine has left.
  std::optional<read_result> get(const entry_key& key);

private:
  // A shard that was asked for; null: it could not be opened.
  struct place {
    bool is_open = false;
    std::unique_ptr<shard> opened;
  };

  hit_view(file_system& files, store_directory directory);
  std::unique_ptr<shard> open_shard(unsigned number);

  file_system& files_;
  store_directory directory_;
  clean_mark mark_; // never set here
  std::string boot_id_;
  file shards_folder_;
  std::vector<place> shards_;
};

} // namespace hearth::storage::disk
