// A segment's file: its name, its header, and the ways to open it.
//
// Free functions; any thread. A damaged header hides no record: each record has a sum of its own
// that binds it to its place.
#pragma once

#include "storage/disk/format.hpp"
#include "storage/disk/os/file_system.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace hearth::storage::disk {

/// "000017.seg"
std::string segment_name(std::uint64_t segment);
/// The number in a segment's name; 0: the name is not a segment's.
std::uint64_t segment_number(const std::string& name) noexcept;

/// Where the segments of a shard are, and the expected values of their headers.
struct segment_place {
  file_system* files;
  int directory;
  std::uint64_t store_id;
  std::uint64_t segment_bytes;
};

/// Makes a header with its sum. `large`: the segment holds one large value.
segment_header make_segment_header(const segment_place& place, unsigned shard,
                                   std::uint64_t segment, bool large) noexcept;
/// Whether the header is whole and belongs to this segment. A large value that an eviction kept has
/// a higher segment number than its header states.
bool is_header_of(const segment_header& header, const segment_place& place,
                  std::uint64_t segment) noexcept;
/// Reads a segment's header. Returns EBADMSG when it is damaged or another store's, else 0 or an
/// errno.
int read_segment_header(const segment_place& place, const file& from, std::uint64_t segment,
                        segment_header& header);

/// Opens a segment for reading, whether its header is whole or not. `sealed_as`: the number with
/// which its records were sealed. It differs from `segment` when an eviction kept a large value.
file open_segment(const segment_place& place, std::uint64_t segment, std::uint64_t& size,
                  std::uint64_t* sealed_as = nullptr);
/// Opens a segment to change its bytes, not to append.
file open_segment_to_change(const segment_place& place, std::uint64_t segment);

/// The header of a large value's record; nothing when the segment holds no large value.
std::optional<record_header> read_large_record(const segment_place& place, std::uint64_t segment);

/// Overwrites a range of offsets with zeros. False: the write failed or was incomplete.
bool zero_range(const segment_place& place, std::uint64_t segment, std::uint64_t begin,
                std::uint64_t end);

} // namespace hearth::storage::disk
