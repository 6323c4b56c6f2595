// Checks every record and every slot of a shard, and repairs damage.
//
// Other threads and processes may write meanwhile: a finding is checked again before it is
// reported.
//
// Owner: a shard; one object for one check, used by one thread. It takes the lock to recheck a
// damaged segment, and for the repair.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/files/step_callback.hpp"
#include "storage/disk/repair/write_access.hpp"
#include "storage/disk/store.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace hearth::storage::disk {

class verification {
public:
  verification(shard_files& files, const disk_budget& space, entry_reader& entries,
               unfinished_segments& unfinished, recovery& recovers, write_access& access,
               verify_report& report)
      : files_(files)
      , space_(space)
      , entries_(entries)
      , unfinished_(unfinished)
      , recovery_(recovers)
      , access_(access)
      , report_(report)
      , end_(files.tail()) {}

  /// Reads every record and slot, and adds the findings to the report.
  void check(const step_callback& step);
  /// Called after `check`: empties slots that point at no record, gives a slot to each record
  /// without one, and zeroes damaged bytes, at which no slot points any more.
  expected<void> repair();

private:
  struct newest_record {
    std::uint64_t sequence = 0;
    location where{};
    record_kind kind = record_kind::value;
  };
  struct bad_slot {
    slot* where;
    std::uint64_t word;
  };
  struct damaged_range {
    std::uint64_t segment, begin, end;
  };
  using ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>; // pairs of offsets
  struct segment_check;

  void check_segment(std::uint64_t segment);
  segment_check scan(std::uint64_t segment, location end);
  void report_segment(std::uint64_t segment, const segment_check& result);
  void note_newest(const record_header& header, location where);
  void read_news();
  void check_newest();
  void look_again_at_unindexed();
  void check_slots();
  bool points_at_intact(std::uint64_t word) const;
  bool is_gone(std::uint64_t segment) const;
  void add_finding(std::string text);

  void empty_bad_slots();
  expected<void> index_unindexed();
  bool write_header_again(std::uint64_t segment);

  shard_files& files_;
  const disk_budget& space_;
  entry_reader& entries_;
  unfinished_segments& unfinished_;
  recovery& recovery_;
  write_access& access_;
  verify_report& report_;

  location end_; // the tail up to which records are known
  std::unordered_map<std::uint64_t, newest_record> newest_;   // by hash
  std::vector<std::pair<std::uint64_t, location>> unindexed_; // hash and place
  std::unordered_set<std::uint64_t> intact_;                  // packed locations
  std::vector<bad_slot> bad_slots_;
  std::vector<damaged_range> damaged_;
  std::vector<std::uint64_t> bad_headers_; // segments with a damaged header
};

} // namespace hearth::storage::disk
