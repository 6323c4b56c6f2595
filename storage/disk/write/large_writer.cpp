#include "storage/disk/write/large_writer.hpp"

#include "storage/disk/head/temporary_files.hpp"
#include "storage/disk/os/errors.hpp"

#include <cerrno>
#include <fcntl.h>
#include <utility>
#include <vector>

namespace hearth::storage::disk {

void large_writer::apply(write_request& request, prepared_write& ready) {
  const auto needed = is_to_be_written(request, ready);
  if (needed && !*needed) return;
  const auto result = needed ? write_and_publish(request, ready) : fail(needed.error());
  if (!result) refuse(request, result.error(), files_.counts);
}

expected<void> large_writer::write_and_publish(write_request& request, prepared_write& ready) {
  const auto name = temporary_name("large", files_.opening_id);
  auto made = reserve(name, first_record_offset + record_size(ready.header));
  if (!made) return fail(made.error());
  auto result = write(*made, request, ready);
  if (result) {
    if (const auto held = access_.lock(); held) {
      files_.counts.add(counter::groups);
      result = publish(request, ready, *made, name);
    } else {
      result = fail(held.error());
    }
  }
  if (*made) files_.remove(name); // false: the file has its final name
  return result;
}

expected<bool> large_writer::is_to_be_written(write_request& request, const prepared_write& ready) {
  const auto held = access_.lock();
  if (!held) return fail(held.error());
  const auto old = index_.find(request.key);
  if (old.error) return fail(system_error(old.error, "look up a key in", files_.config.path));
  if (is_answered(request, old.header, old.is_live(unix_time_ms()), files_.counts)) return false;
  if (auto fits = check_size(ready); !fits) return fail(fits.error());
  if (auto cleared = files_.mark.remove_before_write(); !cleared) return fail(cleared.error());
  return true;
}

// Checks that the value fits in addition to the minimum size of a store.
expected<void> large_writer::check_size(const prepared_write& ready) {
  const auto bytes = first_record_offset + record_size(ready.header);
  const auto* index = files_.index.current();
  const auto least =
      (index ? index->slots() * sizeof(slot) : 0) + files_.roll_limit() + space_.reserve_bytes();
  const auto limit = space_.limit(space_.measure());
  if (bytes + least <= limit) return {};
  return fail(errc::too_large,
              "a value of " + std::to_string(ready.header.payload_bytes) +
                  " bytes does not fit into " + files_.config.path.string() + ", which may take " +
                  std::to_string(limit) + " bytes (the budget over " +
                  std::to_string(files_.config.shards) + " shards); raise the budget");
}

// Makes a file of its final size, once there is room for it in the budget.
expected<file> large_writer::reserve(const std::string& name, std::uint64_t bytes) {
  constexpr unsigned max_waits = 64; // waits for room that other processes took again
  const auto needed = bytes + space_.reserve_bytes();
  for (unsigned waits = 0; waits < max_waits; ++waits) {
    {
      const auto held = access_.lock();
      if (!held) return fail(held.error());
      if (space_.has_room(space_.measure(), needed)) return make_file(name, bytes);
    }
    if (auto room = eviction_.make_room({needed, needed}); !room) return fail(room.error());
  }
  return fail(errc::busy, "others fill " + files_.config.path.string() +
                              " faster than it can be evicted; try again");
}

// The caller holds the lock, so that another process neither removes the file as abandoned before
// it is locked, nor takes the same room.
expected<file> large_writer::make_file(const std::string& name, std::uint64_t bytes) {
  file made = files_.open_file(name, O_CREAT | O_EXCL | O_RDWR);
  if (!made)
    return fail(system_error(made.error(), "make a file for a value in", files_.config.path));
  int error = -files_.system.try_lock(made.get(), true);
  if (!error) error = -files_.system.resize(made.get(), bytes);
  if (!error) return made;
  files_.remove(name);
  return fail(system_error(error, "make room for a value in", files_.config.path));
}

// Writes everything except the two headers.
expected<void> large_writer::write(const file& to, const write_request& request,
                                   const prepared_write& ready) {
  const int allocated =
      files_.system.allocate(to.get(), 0, first_record_offset + record_size(ready.header));
  if (allocated < 0 && allocated != -EOPNOTSUPP && allocated != -ENOSYS)
    return fail(system_error(-allocated, "make room for a value in", files_.config.path));
  gathered_bytes bytes;
  bytes.add(request.key.cache->name());
  bytes.add(request.key.cache->version());
  bytes.add(request.key.bytes);
  bytes.add(request.value.metadata_bytes());
  bytes.add(ready.payload);
  bytes.pad(record_size(ready.header) - record_end(ready.header));
  auto parts = bytes.parts();
  const auto wrote =
      write_fully(files_.system, to.get(), parts, first_record_offset + sizeof(record_header));
  if (wrote.error) return fail(system_error(wrote.error, "write a value in", files_.config.path));
  return {};
}

expected<void> large_writer::write_headers(const file& to, record_header& header, location at) {
  header.sequence = files_.head.get(head_word::sequence) + 1;
  seal(header, files_.config.store_id, at);
  auto front = make_segment_header(files_.place(), files_.config.number, at.segment, true);
  std::vector<iovec> parts{{&front, sizeof front}, {&header, sizeof header}};
  const auto wrote = write_fully(files_.system, to.get(), parts, 0);
  if (wrote.error) return fail(system_error(wrote.error, "write a value in", files_.config.path));
  return {};
}

// Gives the file its final name and publishes its slot. Returns 0 or minus an errno.
int large_writer::rename_and_publish(const std::string& name, const planned_record& record,
                                     location at) {
  files_.head.set(head_word::sequence, record.sequence);
  files_.head.set(head_word::pending, at);
  const int renamed = files_.system.rename_at(files_.directory.get(), name.c_str(),
                                              segment_name(at.segment).c_str());
  if (renamed == 0) index_.publish({&record, 1});
  files_.head.set(head_word::pending, 0);
  return renamed;
}

// The caller holds the lock. Takes the file over on success.
expected<void> large_writer::publish(write_request& request, prepared_write& ready, file& written,
                                     const std::string& name) {
  const auto old = index_.find(request.key);
  if (old.error) return fail(system_error(old.error, "look up a key in", files_.config.path));
  if (is_answered(request, old.header, old.is_live(unix_time_ms()), files_.counts)) return {};
  if (!old.where) index_.outdate_missing(request.kind);
  const auto place =
      old.where ? expected<slot*>(old.where) : growth_.claim_or_make(request.key.hash);
  if (!place) return fail(place.error());
  if (!*place) return fail(errc::internal, "no slot for a value in " + files_.config.path.string());
  const auto number = active_.take_number();
  if (!number) return fail(number.error());
  const location at{*number, first_record_offset};
  auto& header = ready.header;
  if (auto wrote = write_headers(written, header, at); !wrote) return wrote;
  planned_record record;
  record.where = *place;
  record.word = make_slot(header.hash, at);
  record.old_bytes = old.where ? record_size(old.header) : 0;
  record.bytes = record_size(header);
  record.replaces = old.where != nullptr;
  record.hash = header.hash;
  record.sequence = header.sequence;
  if (const int named = rename_and_publish(name, record, at); named < 0)
    return fail(system_error(-named, "name a value in", files_.config.path));
  files_.system.unlock(written.get());
  unfinished_.add_large(*number, std::move(written));
  if (old.where && slot_location(old.word).offset == first_record_offset)
    files_.may_have_dead_large.store(true, std::memory_order_relaxed);
  confirm(request, files_.counts);
  return {};
}

} // namespace hearth::storage::disk
