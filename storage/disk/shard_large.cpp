// Values above a quarter of a segment have a segment of their own. Its bytes are written outside
// the lock, under a temporary name; numbered, sealed and published under it. What a killed writer
// leaves under a temporary name is not locked any more, and is removed by the next to open.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {

void shard::apply_large(write_request& request, prepared_write& ready) {
  const auto name = temporary_name("large");
  const auto bytes = first_record_offset + record_size(ready.header);
  file made;
  auto done = decide_large(request, ready);
  if (done && !*done) return;
  if (done) {
    auto opened = reserve_large_file(name, bytes);
    if (opened)
      made = std::move(*opened);
    else
      done = fail(opened.error());
  }
  expected<void> result = done ? expected<void>{} : fail(done.error());
  if (result) result = write_large(made, request, ready);
  if (result) {
    result = lock_for_writing(config_.lock_deadline);
    if (result) {
      const hold held(*this);
      counters_.add(counter::groups);
      result = publish_large(request, ready, made, name);
    }
  }
  if (made) files_.remove_at(directory_.get(), name.c_str());
  if (!result) refuse(request, result.error());
}

// Whether there is something to write.
expected<bool> shard::decide_large(write_request& request, const prepared_write& ready) {
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return fail(locked.error());
  const hold held(*this);
  const auto old = find_for_write(request.key);
  if (old.error) return fail(system_error(old.error, "look up a key in", config_.path));
  if (request.kind == write_kind::insert && old.where &&
      !is_expired(old.header.expires_unix_ms, unix_time_ms())) {
    request.status = write_status::exists;
    counters_.add(counter::existed);
    return false;
  }
  const auto bytes = first_record_offset + record_size(ready.header);
  const auto* index = current_index();
  const auto least = (index ? index->slots() * sizeof(slot) : 0) + roll_limit() + reserve_bytes();
  if (const auto limit = budget(measure()); bytes + least > limit)
    return fail(errc::too_large, "a value of " + std::to_string(ready.header.payload_bytes) +
                                     " bytes does not fit into " + config_.path.string() +
                                     ", which may take " + std::to_string(limit) +
                                     " bytes (the budget over " + std::to_string(config_.shards) +
                                     " shards); raise the budget");
  if (auto cleared = mark_.remove_before_write(); !cleared) return fail(cleared.error());
  return true;
}

// A file of its size that fits into the budget.
expected<file> shard::reserve_large_file(const std::string& name, std::uint64_t bytes) {
  constexpr unsigned max_waits = 64; // for room that others took again
  const auto needed = bytes + reserve_bytes();
  for (unsigned waits = 0; waits < max_waits; ++waits) {
    if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return fail(locked.error());
    hold held(*this);
    if (has_room(measure(), needed)) return make_large_file(name, bytes);
    held.release();
    if (auto room = make_room({needed, needed}); !room) return fail(room.error());
  }
  return fail(errc::busy,
              "others fill " + config_.path.string() + " faster than it can be evicted; try again");
}

// With the lock held, so that nobody takes it for abandoned before it is locked itself, and nobody
// else for the same room.
expected<file> shard::make_large_file(const std::string& name, std::uint64_t bytes) {
  file made(files_, files_.open_at(directory_.get(), name.c_str(),
                                   O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600));
  if (!made) return fail(system_error(made.error(), "make a file for a value in", config_.path));
  int error = -files_.try_lock(made.get(), true);
  if (!error) error = -files_.resize(made.get(), bytes);
  if (!error) return made;
  files_.remove_at(directory_.get(), name.c_str());
  return fail(system_error(error, "make room for a value in", config_.path));
}

expected<void> shard::write_large(const file& to, const write_request& request,
                                  const prepared_write& ready) {
  const int allocated =
      files_.allocate(to.get(), 0, first_record_offset + record_size(ready.header));
  if (allocated < 0 && allocated != -EOPNOTSUPP && allocated != -ENOSYS)
    return fail(system_error(-allocated, "make room for a value in", config_.path));
  gathered_bytes bytes;
  bytes.add(request.key.cache->name());
  bytes.add(request.key.cache->version());
  bytes.add(request.key.bytes);
  bytes.add(request.value.metadata_bytes());
  bytes.add(ready.payload);
  bytes.pad(record_size(ready.header) - record_end(ready.header));
  auto parts = bytes.parts();
  const auto wrote =
      write_fully(files_, to.get(), parts, first_record_offset + sizeof(record_header));
  if (wrote.error) return fail(system_error(wrote.error, "write a value in", config_.path));
  return {};
}

expected<void> shard::publish_large(write_request& request, prepared_write& ready, file& written,
                                    const std::string& name) {
  const auto old = find_for_write(request.key);
  if (old.error) return fail(system_error(old.error, "look up a key in", config_.path));
  if (request.kind == write_kind::insert && old.where &&
      !is_expired(old.header.expires_unix_ms, unix_time_ms())) {
    request.status = write_status::exists;
    counters_.add(counter::existed);
    return {};
  }
  if (!old.where) outdate_dropped();
  slot* place = old.where;
  for (unsigned attempt = 0; !place && attempt < 4; ++attempt) {
    place = claim_slot(word_set{}, request.key.hash);
    if (place) break;
    auto grown = is_flooded() ? drop_oldest_of(request.key.hash) : grow();
    if (!grown) return grown;
  }
  if (!place) return fail(errc::internal, "no slot for a value in " + config_.path.string());
  const auto number = take_segment_number();
  if (!number) return fail(number.error());
  const location at{*number, first_record_offset};
  auto& header = ready.header;
  header.sequence = head_.get(head_word::sequence) + 1;
  seal(header, config_.store_id, at);
  const auto front = header_of_segment(*number, true);
  std::vector<iovec> parts{{const_cast<segment_header*>(&front), sizeof front},
                           {&header, sizeof header}};
  const auto wrote = write_fully(files_, written.get(), parts, 0);
  if (wrote.error) return fail(system_error(wrote.error, "write a value in", config_.path));
  head_.set(head_word::sequence, header.sequence);
  head_.set(head_word::pending, at);
  const auto segment = segment_name(*number);
  const int renamed = files_.rename_at(directory_.get(), name.c_str(), segment.c_str());
  if (renamed == 0) {
    const planned_record one{0,
                             place,
                             make_slot(header.hash, at),
                             old.where ? record_size(old.header) : 0,
                             record_size(header),
                             0,
                             old.where != nullptr};
    publish({&one, 1});
  }
  head_.set(head_word::pending, 0);
  if (renamed < 0) return fail(system_error(-renamed, "name a value in", config_.path));
  files_.unlock(written.get());
  unsynced_.emplace(*number, std::make_shared<file>(std::move(written)));
  directory_unsynced_ = true;
  if (old.where && slot_location(old.word).offset == first_record_offset)
    may_have_dead_large_.store(true, std::memory_order_relaxed);
  const bool insert = request.kind == write_kind::insert;
  request.status = insert ? write_status::inserted : write_status::stored;
  counters_.add(insert ? counter::inserted : counter::put);
  return {};
}

void shard::remove_abandoned() {
  std::vector<std::string> names;
  files_.list(directory_.get(), names);
  for (const auto& name : names) {
    if (!name.ends_with(temporary_suffix)) continue;
    const file one(files_, files_.open_at(directory_.get(), name.c_str(), O_RDWR | O_NOFOLLOW, 0));
    if (one && files_.try_lock(one.get(), true) == 0)
      files_.remove_at(directory_.get(), name.c_str());
  }
}

} // namespace hearth::storage::disk
