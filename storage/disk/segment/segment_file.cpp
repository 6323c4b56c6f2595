#include "storage/disk/segment/segment_file.hpp"

#include "storage/disk/segment/record.hpp"
#include "storage/hash/copy_hash.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <vector>

namespace hearth::storage::disk {
namespace {

std::uint64_t sum_of(const segment_header& header) noexcept {
  return hash_seeded(&header, offsetof(segment_header, sum), 0);
}

} // namespace

std::string segment_name(std::uint64_t segment) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%06llu.seg", static_cast<unsigned long long>(segment));
  return text.data();
}

std::uint64_t segment_number(const std::string& name) noexcept {
  constexpr std::string_view suffix = ".seg";
  if (name.size() < 6 + suffix.size() || !name.ends_with(suffix)) return 0;
  std::uint64_t number = 0;
  const char* end = name.data() + name.size() - suffix.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end && number <= max_segment ? number : 0;
}

segment_header make_segment_header(const segment_place& place, unsigned shard,
                                   std::uint64_t segment, bool large) noexcept {
  segment_header header;
  header.shard = shard;
  header.store_id = place.store_id;
  header.segment = segment;
  header.large = large;
  header.sum = sum_of(header);
  return header;
}

bool is_header_of(const segment_header& header, const segment_place& place,
                  std::uint64_t segment) noexcept {
  return header.magic == segment_magic && header.format == format_version &&
         header.store_id == place.store_id &&
         (header.segment == segment || (header.large && header.segment < segment)) &&
         header.sum == sum_of(header);
}

int read_segment_header(const segment_place& place, const file& from, std::uint64_t segment,
                        segment_header& header) {
  const auto got = read_fully(*place.files, from.get(), &header, sizeof header, 0);
  if (got < 0) return static_cast<int>(-got);
  return got == sizeof header && is_header_of(header, place, segment) ? 0 : EBADMSG;
}

file open_segment(const segment_place& place, std::uint64_t segment, std::uint64_t& size,
                  std::uint64_t* sealed_as) {
  auto& files = *place.files;
  const auto name = segment_name(segment);
  file opened(files, files.open_at(place.directory, name.c_str(), O_RDONLY | O_NOFOLLOW, 0));
  if (!opened) return opened;
  struct stat about {};
  if (const int stated = files.status(opened.get(), about); stated < 0) return {files, stated};
  if (sealed_as) {
    segment_header header;
    const int error = read_segment_header(place, opened, segment, header);
    if (error && error != EBADMSG) return {files, -error};
    *sealed_as = error ? segment : header.segment;
  }
  size = static_cast<std::uint64_t>(about.st_size);
  return opened;
}

file open_segment_to_change(const segment_place& place, std::uint64_t segment) {
  return {*place.files, place.files->open_at(place.directory, segment_name(segment).c_str(),
                                             O_WRONLY | O_NOFOLLOW, 0)};
}

std::optional<record_header> read_large_record(const segment_place& place, std::uint64_t segment) {
  std::uint64_t size = 0;
  std::uint64_t sealed_as = 0;
  const file opened = open_segment(place, segment, size, &sealed_as);
  struct {
    segment_header segment;
    record_header record;
  } front;
  static_assert(sizeof front == sizeof(segment_header) + sizeof(record_header));
  if (!opened || read_fully(*place.files, opened.get(), &front, sizeof front, 0) != sizeof front ||
      front.segment.large == 0 ||
      !is_sealed(front.record, place.store_id, {sealed_as, first_record_offset}))
    return std::nullopt;
  return front.record;
}

bool zero_range(const segment_place& place, std::uint64_t segment, std::uint64_t begin,
                std::uint64_t end) {
  constexpr std::uint64_t max_at_once = std::uint64_t{1} << 20;
  const file out = open_segment_to_change(place, segment);
  const std::vector<char> zeros(static_cast<std::size_t>(std::min(end - begin, max_at_once)));
  for (auto at = begin; out && at < end; at += zeros.size()) {
    const auto part = std::min<std::uint64_t>(zeros.size(), end - at);
    if (write_fully(*place.files, out.get(), zeros.data(), static_cast<std::size_t>(part), at)
            .error)
      return false;
  }
  return static_cast<bool>(out);
}

} // namespace hearth::storage::disk
