#include "storage/disk/segment/written_records.hpp"

#include <utility>

namespace hearth::storage::disk {
namespace {

// 24 MiB a shard. Beyond that the oldest are dropped, and read from disk when they are needed.
constexpr std::size_t max_entries = std::size_t{1} << 20;

} // namespace

void written_records::begin(std::uint64_t segment) {
  segments_.try_emplace(segment);
  bound();
}

void written_records::append(location start, std::uint64_t end, std::uint64_t hash,
                             std::uint64_t sequence, record_kind kind) {
  const auto at = segments_.find(start.segment);
  if (at == segments_.end()) return;
  if (at->second.end != start.offset) {
    count_ -= at->second.entries.size();
    segments_.erase(at);
    return;
  }
  at->second.end = end;
  at->second.entries.push_back(table_entry_of(hash, sequence, start.offset, end, kind));
  ++count_;
}

void written_records::seal(location end) {
  const auto at = segments_.find(end.segment);
  if (at == segments_.end()) return;
  if (at->second.end == end.offset) {
    at->second.sealed = true;
    return;
  }
  count_ -= at->second.entries.size();
  segments_.erase(at);
}

void written_records::drop_below(std::uint64_t segment) {
  while (!segments_.empty() && segments_.begin()->first < segment) {
    count_ -= segments_.begin()->second.entries.size();
    segments_.erase(segments_.begin());
  }
}

void written_records::bound() {
  while (count_ > max_entries)
    drop_below(segments_.begin()->first + 1);
}

const std::vector<table_entry>* written_records::find(std::uint64_t segment,
                                                      location tail) const noexcept {
  const auto at = segments_.find(segment);
  if (at == segments_.end()) return nullptr;
  const auto& known = at->second;
  const bool ends_here = tail.segment == segment && tail.offset == known.end;
  return known.sealed || ends_here ? &known.entries : nullptr;
}

std::vector<table_entry> written_records::take(std::uint64_t segment) {
  const auto at = segments_.find(segment);
  if (at == segments_.end() || !at->second.sealed) return {};
  auto entries = std::move(at->second.entries);
  count_ -= entries.size();
  segments_.erase(at);
  return entries;
}

} // namespace hearth::storage::disk
