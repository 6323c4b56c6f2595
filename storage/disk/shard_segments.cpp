// The segment that is appended to: opened, given blocks, left for the next one.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {

expected<void> shard::open_active() {
  const auto end = tail();
  const auto name = segment_name(end.segment);
  if (!active_file_ || active_segment_ != end.segment) {
    auto opened = std::make_shared<file>(
        files_, files_.open_at(directory_.get(), name.c_str(), O_RDWR | O_NOFOLLOW, 0));
    if (opened->error() == ENOENT) return begin_segment();
    if (!*opened) return fail(system_error(opened->error(), "open", path_of(name)));
    segment_header header;
    const int error = read_segment_header(windows_.place(), *opened, end.segment, header);
    if (error == EBADMSG) return begin_segment();
    if (error) return fail(system_error(error, "read", path_of(name)));
    active_file_ = std::move(opened);
    active_segment_ = end.segment;
    allocated_ = 0;
  }
  struct stat about {};
  if (const int stated = files_.status(active_file_->get(), about); stated < 0)
    return fail(system_error(-stated, "read", path_of(name)));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size < end.offset) { // somebody cut it: what were appended could not be read
    active_file_.reset();
    return begin_segment();
  }
  allocated_ = std::max(allocated_, size);
  return {};
}

expected<void> shard::allocate_to(std::uint64_t end) {
  if (end <= allocated_) return {};
  const auto chunk = std::clamp<std::uint64_t>(roll_limit() / 8, 64u << 10, 8u << 20);
  const auto wanted = std::max(end, std::min(round_up(end, chunk), roll_limit()));
  for (const auto target : {wanted, end}) {
    const int made = files_.allocate(active_file_->get(), allocated_, target - allocated_);
    if (made == 0) {
      allocated_ = target;
      return {};
    }
    if (made == -EOPNOTSUPP || made == -ENOSYS) return {}; // the write itself extends the file
    if (target == end)
      return fail(system_error(-made, "make room in", path_of(segment_name(active_segment_))));
  }
  return {};
}

segment_header shard::header_of_segment(std::uint64_t number, bool large) const noexcept {
  segment_header header;
  header.shard = config_.number;
  header.store_id = config_.store_id;
  header.segment = number;
  header.large = large;
  header.sum = hash_seeded(&header, offsetof(segment_header, sum), 0);
  return header;
}

expected<std::uint64_t> shard::take_segment_number() {
  const auto number = head_.get(head_word::next_segment);
  if (number > max_segment)
    return fail(errc::unsupported,
                config_.path.string() + " has used up its segment numbers; make a new store");
  head_.set(head_word::next_segment, number + 1);
  return number;
}

expected<file> shard::make_segment(std::uint64_t& number) {
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    const auto taken = take_segment_number();
    if (!taken) return fail(taken.error());
    number = *taken;
    const auto name = segment_name(number);
    file made(files_, files_.open_at(directory_.get(), name.c_str(),
                                     O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600));
    if (made.error() == EEXIST) continue;
    if (!made) return fail(system_error(made.error(), "make", path_of(name)));
    const auto header = header_of_segment(number, false);
    const auto wrote = write_fully(files_, made.get(), &header, sizeof header, 0);
    if (!wrote.error) return made;
    files_.remove_at(directory_.get(), name.c_str());
    return fail(system_error(wrote.error, "write", path_of(name)));
  }
  return fail(errc::io, "too many left-over segments in " + config_.path.string());
}

// The next segment, unless it does not fit into the budget: then false.
expected<bool> shard::roll() {
  const auto use = measure();
  const auto room = room_to_roll();
  if (!has_room(use, room.needed)) return false;
  if (auto begun = begin_segment(); !begun) return fail(begun.error());
  if (!has_room(use, room.wanted)) eviction_due_.store(true, std::memory_order_relaxed);
  return true;
}

expected<void> shard::begin_segment() {
  if (auto cleared = mark_.remove_before_write(); !cleared) return cleared;
  std::uint64_t number = 0;
  auto made = make_segment(number);
  if (!made) return fail(made.error());
  const auto left = tail();
  if (active_file_ && active_segment_ == left.segment) {
    // Its records end where the file does. Nobody reads above the tail.
    files_.resize(active_file_->get(), left.offset);
    unsynced_.emplace(left.segment, std::move(active_file_));
    to_seal_.push_back(left.segment);
    written_.seal(left);
  }
  written_.drop_below(oldest());
  written_.begin(number);
  directory_unsynced_ = true;
  const location start{number, first_record_offset};
  head_.set(head_word::reserved, start);
  head_.set(head_word::active, start);
  active_file_ = std::make_shared<file>(std::move(*made));
  active_segment_ = number;
  allocated_ = first_record_offset;
  return {};
}

} // namespace hearth::storage::disk
