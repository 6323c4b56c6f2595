#include "storage/disk/repair/verification.hpp"

#include "storage/disk/os/errors.hpp"
#include "storage/disk/segment/segment_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace hearth::storage::disk {
namespace {

constexpr std::size_t max_findings = 1000;

bool is_entry(const record_header& header) noexcept {
  return header.kind == record_kind::value || header.kind == record_kind::tombstone;
}

std::string at_text(const std::filesystem::path& path, std::uint64_t offset) {
  return path.string() + " at " + std::to_string(offset);
}

} // namespace

// The result of one scan of a segment. `damage`: damaged ranges outside holes.
struct verification::segment_check {
  std::uint64_t records = 0, bytes = 0;
  ranges damage;
  bool bad_header = false;
  int error = 0;

  bool is_intact() const { return damage.empty() && !bad_header && !error; }
};

void verification::add_finding(std::string text) {
  if (report_.findings.size() < max_findings) report_.findings.push_back(std::move(text));
}

void verification::check(const step_callback& step) {
  step(0);
  for (const auto segment : space_.measure().segments) {
    struct stat about {};
    if (segment >= files_.oldest()) check_segment(segment);
    if (files_.system.status_at(files_.directory.get(), segment_name(segment).c_str(), about) == 0)
      step(static_cast<std::uint64_t>(about.st_blocks) * 512);
  }
  check_newest();
  look_again_at_unindexed();
  check_slots();
  report_.unindexed += unindexed_.size();
}

void verification::note_newest(const record_header& header, location where) {
  if (!is_entry(header)) return;
  auto& known = newest_[header.hash];
  if (header.sequence >= known.sequence) known = {header.sequence, where, header.kind};
}

// Whether a segment was removed during its check: evicted, or the only value in it was replaced.
bool verification::is_gone(std::uint64_t segment) const {
  struct stat about {};
  return segment < files_.oldest() ||
         files_.system.status_at(files_.directory.get(), segment_name(segment).c_str(), about) ==
             -ENOENT;
}

verification::segment_check verification::scan(std::uint64_t segment, location end) {
  segment_check result;
  segment_scan scanned(files_.place(), segment);
  if (segment == end.segment) scanned.limit(0, end.offset);
  ranges holes;
  ranges torn;
  std::uint64_t table_end = no_limit;
  record_header header;
  location where;
  while (scanned.next(header, where)) {
    const auto record_end_at = where.offset + record_size(header);
    ++result.records;
    result.bytes += record_size(header);
    if (!scanned.is_intact(header, where)) {
      torn.emplace_back(where.offset, record_end_at);
      continue;
    }
    if (header.kind == record_kind::hole) holes.emplace_back(header.hash, where.offset);
    if (header.kind == record_kind::table) table_end = record_end_at;
    if (is_entry(header)) intact_.insert(where.packed());
    note_newest(header, where);
  }
  result.error = scanned.error() == ERANGE ? 0 : scanned.error();
  // An empty segment is no damage: its maker was killed or the power was lost.
  const bool begun = !scanned.damage().empty() || result.records > 0;
  result.bad_header = begun && scanned.has_bad_header();
  for (auto range : scanned.damage())
    if (range.first < table_end && !scanned.is_unfinished_table(range.first, range.second))
      torn.push_back(range); // behind a table is only its footer
  std::copy_if(torn.begin(), torn.end(), std::back_inserter(result.damage), [&](const auto& range) {
    return std::none_of(holes.begin(), holes.end(), [&](const auto& hole) {
      return range.first >= hole.first && range.second <= hole.second;
    });
  });
  return result;
}

void verification::check_segment(std::uint64_t segment) {
  auto result = scan(segment, end_);
  if (!result.is_intact()) {
    // Another process may be removing the segment. Taking the lock repairs what a killed writer
    // left.
    (void)access_.lock();
    if (is_gone(segment)) return;
    result = scan(segment, files_.tail());
    if (is_gone(segment)) return;
  }
  report_segment(segment, result);
}

void verification::report_segment(std::uint64_t segment, const segment_check& result) {
  const auto path = files_.path_of_segment(segment);
  report_.records += result.records;
  report_.bytes += result.bytes;
  if (result.error) {
    ++report_.damaged;
    add_finding(system_error(result.error, "read", path).text());
    return;
  }
  if (result.bad_header) {
    ++report_.damaged;
    bad_headers_.push_back(segment);
    add_finding(at_text(path, 0) + ": a damaged header; `--repair` writes it again");
  }
  for (const auto& [begin, end] : result.damage) {
    ++report_.damaged;
    damaged_.push_back({segment, begin, end});
    add_finding(at_text(path, begin) + ": " + std::to_string(end - begin) +
                " damaged bytes; `--repair` drops them");
  }
}

// Reads the records written since the check began: they may have replaced or erased earlier ones.
void verification::read_news() {
  const auto end = files_.tail();
  for (const auto segment : space_.measure().segments) {
    if (segment < end_.segment) continue;
    segment_scan scanned(files_.place(), segment);
    scanned.limit(segment == end_.segment ? end_.offset : 0,
                  segment == end.segment ? end.offset : no_limit);
    record_header header;
    location where;
    while (scanned.next(header, where))
      note_newest(header, where);
  }
  end_ = end;
}

// Keeps the records that are still unindexed, and that were not replaced or erased meanwhile.
void verification::look_again_at_unindexed() {
  if (unindexed_.empty()) return;
  read_news();
  const auto* index = files_.index.current();
  std::erase_if(unindexed_, [&](const auto& one) {
    const auto& [hash, where] = one;
    return newest_[hash].where != where || where.segment < files_.oldest() || !index ||
           index->find_exact(hash, where);
  });
}

// Checks that every key's newest record is in the index, unless it is a tombstone.
void verification::check_newest() {
  const auto* index = files_.index.current();
  for (const auto& [hash, newest] : newest_) {
    if (!index || newest.kind == record_kind::tombstone || newest.where.segment < files_.oldest() ||
        index->find_exact(hash, newest.where))
      continue;
    unindexed_.emplace_back(hash, newest.where);
  }
}

bool verification::points_at_intact(std::uint64_t word) const {
  const auto where = slot_location(word);
  segment_scan scanned(files_.place(), where.segment);
  scanned.limit(where.offset, no_limit);
  record_header header;
  location found;
  return scanned.next(header, found) && found == where && header.kind == record_kind::value &&
         tag_of(header.hash) == slot_tag(word) && scanned.is_intact(header, where);
}

void verification::check_slots() {
  auto* index = files_.index.current();
  for (std::uint64_t position = 0; index && position < index->slots(); ++position) {
    const auto word = index->at(position).load(std::memory_order_acquire);
    if (word == 0 || slot_segment(word) < files_.oldest()) continue;
    const auto where = slot_location(word);
    if (intact_.contains(where.packed()) || points_at_intact(word) ||
        !entries_.is_unchanged(*index, index->at(position), word))
      continue;
    ++report_.dangling;
    bad_slots_.push_back({&index->at(position), word});
    add_finding(files_.path_of(index_name(index->generation())).string() + ": slot " +
                std::to_string(position) + " points at no intact record (" +
                at_text(files_.path_of_segment(where.segment), where.offset) + ")");
  }
}

expected<void> verification::repair() {
  const auto held = access_.lock();
  if (!held) return fail(held.error());
  if (auto cleared = files_.mark.remove_before_write(); !cleared) return cleared;
  empty_bad_slots();
  if (auto indexed = index_unindexed(); !indexed) return indexed;
  for (const auto segment : bad_headers_)
    report_.repaired += write_header_again(segment);
  unfinished_.written.clear(); // it holds the records that are zeroed now
  for (const auto& range : damaged_)
    report_.repaired += zero_range(files_.place(), range.segment, range.begin, range.end);
  files_.head.set(head_word::index_sum, files_.index.current()->sum());
  files_.move_epoch();
  return {};
}

void verification::empty_bad_slots() {
  for (const auto& bad : bad_slots_) {
    auto word = bad.word;
    bool emptied = bad.where->compare_exchange_strong(word, 0);
    if (!emptied && (word & ~hit_bit) == (bad.word & ~hit_bit)) // a reader set the hit bit
      emptied = bad.where->compare_exchange_strong(word, 0);
    report_.repaired += emptied;
  }
}

expected<void> verification::index_unindexed() {
  look_again_at_unindexed();
  for (const auto& [hash, where] : unindexed_) {
    segment_scan scanned(files_.place(), where.segment);
    scanned.limit(where.offset, no_limit);
    record_header header;
    location found;
    if (!scanned.next(header, found) || found != where) continue;
    if (auto applied = recovery_.apply_record(header, scanned.identity(header, where), where);
        !applied)
      return applied;
    ++report_.repaired;
  }
  return {};
}

bool verification::write_header_again(std::uint64_t segment) {
  segment_scan scanned(files_.place(), segment);
  record_header record;
  location where;
  const bool large = scanned.next(record, where) && record_size(record) > files_.large_from();
  const file out = open_segment_to_change(files_.place(), segment);
  const auto header = make_segment_header(files_.place(), files_.config.number, segment, large);
  return out && !write_fully(files_.system, out.get(), &header, sizeof header, 0).error;
}

} // namespace hearth::storage::disk
