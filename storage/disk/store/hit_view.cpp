#include "storage/disk/store/hit_view.hpp"

#include "storage/disk/os/sigbus_guard.hpp"

#include <utility>

namespace hearth::storage::disk {

hit_view::hit_view(file_system& files, store_directory directory)
    : files_(files)
    , directory_(std::move(directory))
    , mark_(files, directory_.folder.get(), directory_.path)
    , boot_id_(files.boot_id())
    , shards_(directory_.description.shards) {}

expected<std::unique_ptr<hit_view>> hit_view::open(const std::filesystem::path& directory,
                                                   file_system& files) {
  install_sigbus_guard();
  auto opened =
      open_store_directory(files, directory, true, [](const file&) { return store_shape(); });
  if (!opened) return fail(opened.error());
  std::unique_ptr<hit_view> view(new hit_view(files, std::move(*opened)));
  auto folder = open_own_directory(files, view->directory_.folder.get(), "shards",
                                   view->directory_.path / "shards", when_missing::refuse,
                                   others_may::nothing);
  if (!folder) return fail(folder.error());
  view->shards_folder_ = std::move(*folder);
  return view;
}

std::unique_ptr<shard> hit_view::open_shard(unsigned number) {
  const auto name = shard_folder(number);
  shard_config config;
  config.system = &files_;
  config.path = directory_.path / "shards" / name;
  config.store_id = directory_.description.store_id;
  config.number = number;
  config.shards = directory_.description.shards;
  config.segment_bytes = directory_.description.segment_bytes;
  config.read_only = true;
  config.notes_hits = true;
  config.was_clean = mark_.exists();
  config.boot = boot_number(boot_id_);
  auto folder = open_own_directory(files_, shards_folder_.get(), name, config.path,
                                   when_missing::refuse, others_may::nothing);
  if (!folder) return nullptr;
  auto opened = shard::open(std::move(config), std::move(*folder), mark_);
  return opened ? std::move(*opened) : nullptr;
}

std::optional<read_result> hit_view::get(const entry_key& key) {
  const auto number = shard_of_hash(key.hash, static_cast<unsigned>(shards_.size()));
  auto& in = shards_[number];
  if (!std::exchange(in.is_open, true)) in.opened = open_shard(number);
  return in.opened ? std::optional(in.opened->get(key)) : std::nullopt;
}

} // namespace hearth::storage::disk
