// Looking at everything: the list of entries, the figures, and the check of every record and slot.
// Others may write meanwhile: what looks wrong is looked at again before it is called wrong.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

namespace hearth::storage::disk {
namespace {

constexpr std::size_t max_findings = 1000;

void note(verify_report& report, std::string text) {
  if (report.findings.size() < max_findings) report.findings.push_back(std::move(text));
}

std::string at_text(const std::filesystem::path& path, std::uint64_t offset) {
  return path.string() + " at " + std::to_string(offset);
}

} // namespace

struct shard::check_state {
  verify_report& report;
  location end; // the tail up to which records are known
  struct newest {
    std::uint64_t sequence = 0;
    location where{};
    record_kind kind = record_kind::value;
  };
  std::unordered_map<std::uint64_t, newest> by_hash;
  std::vector<std::pair<std::uint64_t, location>> unindexed; // hash and place
  std::unordered_set<std::uint64_t> intact;                  // packed locations
  struct bad_slot {
    slot* where;
    std::uint64_t word;
  };
  std::vector<bad_slot> bad_slots;
  struct damaged_range {
    std::uint64_t segment, begin, end;
  };
  std::vector<damaged_range> ranges;
  std::vector<std::uint64_t> bad_headers; // segments

  check_state(verify_report& to, location tail)
      : report(to)
      , end(tail) {}
  void take_in(const record_header& header, location where);
};

bool shard::describe(std::uint64_t word, entry_info& out) {
  const auto where = slot_location(word);
  segment_reader from(windows_, where.segment, oldest());
  std::string scratch;
  record_header header;
  const char* bytes = from.peek(where.offset, sizeof header, scratch);
  if (!bytes) return false;
  std::memcpy(&header, bytes, sizeof header);
  if (!is_sealed(header, config_.store_id, from.sealed_at(where)) || !has_sane_lengths(header))
    return false;
  const char* identity = from.peek(where.offset + sizeof header, header.identity_bytes(), scratch);
  if (!identity) return false;
  out.cache.assign(identity, header.name_bytes);
  out.version.assign(identity + header.name_bytes, header.version_bytes);
  out.key.assign(identity + header.name_bytes + header.version_bytes, header.key_bytes);
  out.metadata_bytes = header.metadata_bytes;
  out.payload_bytes = header.payload_bytes;
  out.stored_bytes = record_size(header);
  out.expires_unix_ms = header.expires_unix_ms;
  out.sequence = header.sequence;
  out.shard = config_.number;
  return hash_bytes(out.cache + out.version + out.key) == header.identity_sum;
}

expected<void> shard::list(const std::function<bool(const entry_info&)>& visit, bool& go_on) {
  const auto* index = current_index();
  if (!index) return fail(errc::io, "the index of " + config_.path.string() + " cannot be mapped");
  const auto now = unix_time_ms();
  entry_info info{};
  for (std::uint64_t position = 0; go_on && position < index->slots(); ++position) {
    const auto word = index->at(position).load(std::memory_order_acquire);
    if (word == 0 || slot_segment(word) < oldest() || !describe(word, info)) continue;
    if (!is_expired(info.expires_unix_ms, now)) go_on = visit(info);
  }
  return {};
}

void shard::add_stats(store_stats& out) const {
  const auto use = measure();
  out.disk_bytes += use.bytes;
  out.budget_bytes += config_.budget_bytes;
  out.segments += use.segments.size();
  std::uint64_t lowest = 0;
  const auto* index = index_.load(std::memory_order_acquire);
  if (index && head_.load(head_word::oldest, lowest)) {
    for (std::uint64_t i = 0; i < index->slots(); ++i) {
      const auto word = index->at(i).load(std::memory_order_relaxed);
      out.entries += word != 0 && slot_segment(word) >= lowest;
    }
    out.index_bytes += index->slots() * sizeof(slot);
    out.live_bytes += head_.get(head_word::live_bytes);
  }
  const auto add = [&](std::uint64_t& to, counter which) { to += counters_.total(which); };
  add(out.hits, counter::hits);
  add(out.misses, counter::misses);
  add(out.corrupt, counter::corrupt);
  add(out.unreadable, counter::unreadable);
  add(out.expired, counter::expired);
  add(out.inserted, counter::inserted);
  add(out.existed, counter::existed);
  add(out.put, counter::put);
  add(out.erased, counter::erased);
  add(out.failed, counter::failed);
  add(out.evicted, counter::evicted);
  add(out.kept_by_hit, counter::kept_by_hit);
  add(out.rebuilds, counter::rebuilds);
  add(out.groups, counter::groups);
}

// What one look at a segment found. The damage is what no hole excuses.
struct shard::segment_check {
  std::uint64_t records = 0, bytes = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> damage;
  bool bad_header = false;
  int error = 0;

  bool is_intact() const { return damage.empty() && !bad_header && !error; }
};

void shard::check_state::take_in(const record_header& header, location where) {
  if (header.kind != record_kind::value && header.kind != record_kind::tombstone) return;
  auto& known = by_hash[header.hash];
  if (header.sequence >= known.sequence) known = {header.sequence, where, header.kind};
}

// Whether a segment went while it was looked at: evicted, or the only value in it was replaced.
bool shard::is_gone(std::uint64_t segment) const {
  struct stat about {};
  return segment < oldest() ||
         files_.status_at(directory_.get(), segment_name(segment).c_str(), about) == -ENOENT;
}

shard::segment_check shard::scan_segment(std::uint64_t segment, location end, check_state& state) {
  segment_check result;
  segment_scan scan(windows_.place(), segment);
  if (segment == end.segment) scan.limit(0, end.offset);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> torn;
  std::uint64_t table_at = ~std::uint64_t{0};
  record_header header;
  location where;
  while (scan.next(header, where)) {
    ++result.records;
    result.bytes += record_size(header);
    if (!scan.is_intact(header, where)) {
      torn.emplace_back(where.offset, where.offset + record_size(header));
      continue;
    }
    if (header.kind == record_kind::hole) holes.emplace_back(header.hash, where.offset);
    if (header.kind == record_kind::table) table_at = where.offset + record_size(header);
    if (header.kind == record_kind::value || header.kind == record_kind::tombstone)
      state.intact.insert(where.packed());
    state.take_in(header, where);
  }
  result.error = scan.error() == ERANGE ? 0 : scan.error();
  // Where nothing was ever written, its maker was killed or the power was lost.
  const bool begun = !scan.damage().empty() || result.records > 0;
  result.bad_header = begun && scan.has_bad_header();
  for (auto range : scan.damage())
    if (range.first < table_at && !scan.is_unfinished_table(range.first, range.second))
      torn.push_back(range); // a footer follows a table
  std::copy_if(torn.begin(), torn.end(), std::back_inserter(result.damage), [&](const auto& range) {
    return std::none_of(holes.begin(), holes.end(), [&](const auto& hole) {
      return range.first >= hole.first && range.second <= hole.second;
    });
  });
  return result;
}

void shard::check_segment(std::uint64_t segment, check_state& state) {
  auto result = scan_segment(segment, state.end, state);
  if (!result.is_intact()) {
    // Somebody may be taking the segment away, or mending what a killed writer left.
    if (lock_for_writing(config_.lock_deadline)) lock_->unlock();
    if (is_gone(segment)) return;
    result = scan_segment(segment, tail(), state);
    if (is_gone(segment)) return;
  }
  const auto path = path_of(segment_name(segment));
  state.report.records += result.records;
  state.report.bytes += result.bytes;
  if (result.error) {
    ++state.report.damaged;
    note(state.report, system_error(result.error, "read", path).text());
    return;
  }
  if (result.bad_header) {
    ++state.report.damaged;
    state.bad_headers.push_back(segment);
    note(state.report, at_text(path, 0) + ": a damaged header; `--repair` writes it again");
  }
  for (const auto& [begin, end] : result.damage) {
    ++state.report.damaged;
    state.ranges.push_back({segment, begin, end});
    note(state.report, at_text(path, begin) + ": " + std::to_string(end - begin) +
                           " damaged bytes; `--repair` drops them");
  }
}

// What was written since it began: it may have replaced or erased what was found before.
void shard::take_in_news(check_state& state) {
  const auto end = tail();
  for (const auto segment : measure().segments) {
    if (segment < state.end.segment) continue;
    segment_scan scan(windows_.place(), segment);
    scan.limit(segment == state.end.segment ? state.end.offset : 0,
               segment == end.segment ? end.offset : ~std::uint64_t{0});
    record_header header;
    location where;
    while (scan.next(header, where))
      state.take_in(header, where);
  }
  state.end = end;
}

// Those still are that nothing replaced or erased meanwhile.
void shard::look_again_at_unindexed(check_state& state) {
  if (state.unindexed.empty()) return;
  take_in_news(state);
  const auto* index = current_index();
  std::erase_if(state.unindexed, [&](const auto& one) {
    const auto& [hash, where] = one;
    return state.by_hash[hash].where != where || where.segment < oldest() || !index ||
           index->find_exact(hash, where);
  });
}

// Every key's newest record is in the index, unless it is a tombstone.
void shard::check_newest(check_state& state) {
  const auto* index = current_index();
  for (const auto& [hash, newest] : state.by_hash) {
    if (!index || newest.kind == record_kind::tombstone || newest.where.segment < oldest() ||
        index->find_exact(hash, newest.where))
      continue;
    state.unindexed.emplace_back(hash, newest.where);
  }
}

bool shard::is_right(std::uint64_t word) const {
  const auto where = slot_location(word);
  segment_scan scan(windows_.place(), where.segment);
  scan.limit(where.offset, ~std::uint64_t{0});
  record_header header;
  location found;
  return scan.next(header, found) && found == where && header.kind == record_kind::value &&
         tag_of(header.hash) == slot_tag(word) && scan.is_intact(header, where);
}

void shard::check_slots(check_state& state) {
  auto* index = current_index();
  for (std::uint64_t position = 0; index && position < index->slots(); ++position) {
    const auto word = index->at(position).load(std::memory_order_acquire);
    if (word == 0 || slot_segment(word) < oldest()) continue;
    const auto where = slot_location(word);
    if (state.intact.contains(where.packed()) || is_right(word) ||
        !still_there(*index, index->at(position), word))
      continue;
    ++state.report.dangling;
    state.bad_slots.push_back({&index->at(position), word});
    note(state.report, path_of(index_name(index->generation())).string() + ": slot " +
                           std::to_string(position) + " points at no intact record (" +
                           at_text(path_of(segment_name(where.segment)), where.offset) + ")");
  }
}

expected<void> shard::verify(bool with_repair, verify_report& report, const step_callback& step) {
  check_state state(report, tail());
  step(0);
  for (const auto segment : measure().segments) {
    struct stat about {};
    if (segment >= oldest()) check_segment(segment, state);
    if (files_.status_at(directory_.get(), segment_name(segment).c_str(), about) == 0)
      step(static_cast<std::uint64_t>(about.st_blocks) * 512);
  }
  check_newest(state);
  look_again_at_unindexed(state);
  check_slots(state);
  report.unindexed += state.unindexed.size();
  return with_repair ? repair(state) : expected<void>{};
}

// Slots that point at nothing go, records that no slot points at come back, and damaged bytes,
// which nothing points at any more, become zeros.
expected<void> shard::repair(check_state& state) {
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
  const hold held(*this);
  if (auto cleared = mark_.remove_before_write(); !cleared) return cleared;
  for (const auto& bad : state.bad_slots) {
    auto word = bad.word;
    bool dropped = bad.where->compare_exchange_strong(word, 0);
    if (!dropped && (word & ~hit_bit) == (bad.word & ~hit_bit))
      dropped = bad.where->compare_exchange_strong(word, 0);
    state.report.repaired += dropped;
  }
  look_again_at_unindexed(state);
  for (const auto& [hash, where] : state.unindexed) {
    segment_scan scan(windows_.place(), where.segment);
    scan.limit(where.offset, ~std::uint64_t{0});
    record_header header;
    location found;
    if (!scan.next(header, found) || found != where) continue;
    if (auto applied = apply_record(header, scan.identity(header, where), where); !applied)
      return applied;
    ++state.report.repaired;
  }
  for (const auto segment : state.bad_headers)
    state.report.repaired += mend_header(segment);
  written_.clear(); // what is zeroed now is in it too
  for (const auto& range : state.ranges)
    state.report.repaired += zero(range.segment, range.begin, range.end);
  head_.set(head_word::index_sum, current_index()->sum());
  head_.set(head_word::epoch, head_.get(head_word::epoch) + 1);
  return {};
}

bool shard::mend_header(std::uint64_t segment) {
  segment_scan scan(windows_.place(), segment);
  record_header record;
  location where;
  const bool large = scan.next(record, where) && record_size(record) > large_from();
  const file out(files_, files_.open_at(directory_.get(), segment_name(segment).c_str(),
                                        O_WRONLY | O_NOFOLLOW, 0));
  const auto header = header_of_segment(segment, large);
  return out && !write_fully(files_, out.get(), &header, sizeof header, 0).error;
}

bool shard::zero(std::uint64_t segment, std::uint64_t begin, std::uint64_t end) {
  const file out(files_, files_.open_at(directory_.get(), segment_name(segment).c_str(),
                                        O_WRONLY | O_NOFOLLOW, 0));
  const std::vector<char> zeros(
      static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, std::uint64_t{1} << 20)));
  for (auto at = begin; out && at < end; at += zeros.size())
    if (write_fully(files_, out.get(), zeros.data(),
                    static_cast<std::size_t>(std::min<std::uint64_t>(zeros.size(), end - at)), at)
            .error)
      return false;
  return static_cast<bool>(out);
}

} // namespace hearth::storage::disk
