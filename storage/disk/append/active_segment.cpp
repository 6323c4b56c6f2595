#include "storage/disk/append/active_segment.hpp"

#include "storage/disk/os/errors.hpp"
#include "storage/disk/segment/segment_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <span>

namespace hearth::storage::disk {

// False: the segment is gone, or its header is damaged.
expected<bool> active_segment::open_file(location end) {
  if (file_ && segment_ == end.segment) return true;
  const auto name = segment_name(end.segment);
  auto opened = std::make_shared<file>(files_.open_file(name, O_RDWR));
  if (opened->error() == ENOENT) return false;
  if (!*opened) return fail(system_error(opened->error(), "open", files_.path_of(name)));
  segment_header header;
  const int error = read_segment_header(files_.place(), *opened, end.segment, header);
  if (error == EBADMSG) return false;
  if (error) return fail(system_error(error, "read", files_.path_of(name)));
  file_ = std::move(opened);
  segment_ = end.segment;
  allocated_ = 0;
  return true;
}

expected<void> active_segment::open() {
  const auto end = files_.tail();
  const auto opened = open_file(end);
  if (!opened) return fail(opened.error());
  if (!*opened) return begin_next();
  struct stat about {};
  if (const int stated = files_.system.status(file_->get(), about); stated < 0)
    return fail(system_error(-stated, "read", files_.path_of_segment(end.segment)));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size < end.offset) { // the file was cut: readers could not read an appended record
    file_.reset();
    return begin_next();
  }
  allocated_ = std::max(allocated_, size);
  return {};
}

expected<void> active_segment::allocate_to(std::uint64_t end) {
  if (end <= allocated_) return {};
  const auto chunk = std::clamp<std::uint64_t>(files_.roll_limit() / 8, 64u << 10, 8u << 20);
  const auto wanted = std::max(end, std::min(round_up(end, chunk), files_.roll_limit()));
  for (const auto target : {wanted, end}) {
    const int made = files_.system.allocate(file_->get(), allocated_, target - allocated_);
    if (made == 0) {
      allocated_ = target;
      return {};
    }
    if (made == -EOPNOTSUPP || made == -ENOSYS) return {}; // the write itself extends the file
    if (target == end)
      return fail(system_error(-made, "make room in", files_.path_of_segment(segment_)));
  }
  return {};
}

append_result active_segment::append(append_batch& work) {
  auto& head = files_.head;
  auto ready = files_.mark.remove_before_write();
  if (ready) ready = allocate_to(work.end);
  if (!ready) return {0, ready.error()};
  head.set(head_word::sequence, work.sequence);
  head.set(head_word::reserved, location{work.start.segment, work.end});
  head.set(head_word::pending, work.start);
  auto parts = work.bytes.parts();
  const auto wrote = write_fully(files_.system, file_->get(), parts, work.start.offset);
  append_result result;
  while (result.complete < work.items.size() &&
         work.items[result.complete].end - work.start.offset <= wrote.written)
    ++result.complete;
  const auto complete = std::span(work.items).first(result.complete);
  const auto reached = complete.empty() ? work.start.offset : complete.back().end;
  head.set(head_word::active, location{work.start.segment, reached});
  index_.publish(complete);
  for (const auto& one : complete)
    unfinished_.written.append({work.start.segment, one.end - one.bytes}, one.end, one.hash,
                               one.sequence,
                               one.word ? record_kind::value : record_kind::tombstone);
  head.set(head_word::reserved, location{work.start.segment, reached});
  head.set(head_word::pending, 0);
  if (wrote.error)
    result.why = system_error(wrote.error, "append to", files_.path_of_segment(work.start.segment));
  return result;
}

bool active_segment::append_hole(location start) {
  const auto at = files_.tail();
  record_header hole;
  const location end{at.segment, at.offset + record_size(hole)};
  if (end.offset > files_.segment_limit() || !open() || !allocate_to(end.offset)) return false;
  hole.kind = record_kind::hole;
  hole.hash = start.offset;
  hole.sequence = files_.head.get(head_word::sequence);
  hole.identity_sum = hole.metadata_sum = hole.payload_sum = hash_bytes(std::string_view{});
  seal(hole, files_.config.store_id, at);
  files_.head.set(head_word::reserved, end);
  if (write_fully(files_.system, file_->get(), &hole, sizeof hole, at.offset).error) return false;
  files_.head.set(head_word::active, end);
  return true;
}

expected<std::uint64_t> active_segment::take_number() {
  const auto number = files_.head.get(head_word::next_segment);
  if (number > max_segment)
    return fail(errc::unsupported,
                files_.config.path.string() + " has used up its segment numbers; make a new store");
  files_.head.set(head_word::next_segment, number + 1);
  return number;
}

expected<file> active_segment::make_next(std::uint64_t& number) {
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    const auto taken = take_number();
    if (!taken) return fail(taken.error());
    number = *taken;
    const auto name = segment_name(number);
    file made = files_.open_file(name, O_CREAT | O_EXCL | O_RDWR);
    if (made.error() == EEXIST) continue;
    if (!made) return fail(system_error(made.error(), "make", files_.path_of(name)));
    const auto header = make_segment_header(files_.place(), files_.config.number, number, false);
    const auto wrote = write_fully(files_.system, made.get(), &header, sizeof header, 0);
    if (!wrote.error) return made;
    files_.remove(name);
    return fail(system_error(wrote.error, "write", files_.path_of(name)));
  }
  return fail(errc::io, "too many abandoned segment files in " + files_.config.path.string());
}

expected<bool> active_segment::roll() {
  const auto use = space_.measure();
  const auto room = space_.room_to_roll();
  if (!space_.has_room(use, room.needed)) return false;
  if (auto begun = begin_next(); !begun) return fail(begun.error());
  if (!space_.has_room(use, room.wanted))
    files_.eviction_due.store(true, std::memory_order_relaxed);
  return true;
}

expected<void> active_segment::begin_next() {
  if (auto cleared = files_.mark.remove_before_write(); !cleared) return cleared;
  std::uint64_t number = 0;
  auto made = make_next(number);
  if (!made) return fail(made.error());
  const auto left = files_.tail();
  if (file_ && segment_ == left.segment) {
    // Its records end where the file ends. No reader reads above the tail.
    files_.system.resize(file_->get(), left.offset);
    unfinished_.add_left(left, std::move(file_));
  }
  unfinished_.written.drop_below(files_.oldest());
  unfinished_.written.begin(number);
  const location start{number, first_record_offset};
  files_.head.set(head_word::reserved, start);
  files_.head.set(head_word::active, start);
  file_ = std::make_shared<file>(std::move(*made));
  segment_ = number;
  allocated_ = first_record_offset;
  return {};
}

} // namespace hearth::storage::disk
