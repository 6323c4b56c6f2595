#include "storage/disk/append/unfinished_segments.hpp"

namespace hearth::storage::disk {

void unfinished_segments::add_left(location end, std::shared_ptr<file> opened) {
  unsynced_.emplace(end.segment, std::move(opened));
  untabled_.push_back(end.segment);
  written.seal(end);
}

void unfinished_segments::add_large(std::uint64_t segment, file opened) {
  unsynced_.emplace(segment, std::make_shared<file>(std::move(opened)));
}

void unfinished_segments::forget(std::uint64_t segment) {
  unsynced_.erase(segment);
  std::erase(untabled_, segment);
}

void unfinished_segments::forget_synced(const open_files& synced, std::uint64_t active) {
  for (const auto& [segment, one] : synced)
    if (segment != active) unsynced_.erase(segment);
}

std::vector<unfinished_segments::table_to_write> unfinished_segments::take_untabled() {
  std::vector<table_to_write> all;
  for (const auto segment : std::exchange(untabled_, {}))
    all.emplace_back(segment, written.take(segment));
  return all;
}

} // namespace hearth::storage::disk
