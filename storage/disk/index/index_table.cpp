#include "storage/disk/index/index_table.hpp"

#include "storage/disk/head/head.hpp"
#include "storage/hash/copy_hash.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <vector>

namespace hearth::storage::disk {
namespace {

std::uint64_t sum_of(const index_header& header) noexcept {
  return hash_seeded(&header, offsetof(index_header, sum), 0);
}

constexpr std::uint64_t file_bytes(std::uint64_t buckets) noexcept {
  return sizeof(index_header) + buckets * slots_per_bucket * sizeof(slot);
}

// Allocates blocks for the whole file: on a full disk, an access to a hole would be a SIGBUS.
int fill(file_system& files, int fd, std::uint64_t bytes) {
  const int allocated = files.allocate(fd, 0, bytes);
  if (allocated != -EOPNOTSUPP && allocated != -ENOSYS) return -allocated;
  const std::vector<char> zeros(std::size_t{1} << 16);
  for (std::uint64_t done = 0; done < bytes; done += zeros.size()) {
    const auto part = std::min<std::uint64_t>(zeros.size(), bytes - done);
    const auto wrote = write_fully(files, fd, zeros.data(), part, done);
    if (wrote.error) return wrote.error;
  }
  return 0;
}

} // namespace

std::string index_name(std::uint64_t generation) { return "index." + std::to_string(generation); }

int index_table::create(file_system& files, int directory, std::uint64_t generation,
                        std::uint64_t store_id, std::uint64_t buckets) {
  const auto name = index_name(generation);
  const int removed = files.remove_at(directory, name.c_str());
  if (removed < 0 && removed != -ENOENT) return -removed;
  file made(files,
            files.open_at(directory, name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600));
  if (!made) return made.error();
  int error = fill(files, made.get(), file_bytes(buckets));
  if (!error) {
    index_header header;
    header.store_id = store_id;
    header.generation = generation;
    header.buckets = buckets;
    header.sum = sum_of(header);
    error = write_fully(files, made.get(), &header, sizeof header, 0).error;
  }
  if (error) files.remove_at(directory, name.c_str());
  return error;
}

std::unique_ptr<index_table> index_table::map(file_system& files, int directory,
                                              std::uint64_t generation, std::uint64_t store_id,
                                              bool writable, int& error) {
  const auto name = index_name(generation);
  file opened(files, files.open_at(directory, name.c_str(),
                                   (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW, 0));
  error = opened.error();
  if (error) return nullptr;
  index_header header;
  struct stat about {};
  const auto got = read_fully(files, opened.get(), &header, sizeof header, 0);
  error = got < 0 ? static_cast<int>(-got) : -files.status(opened.get(), about);
  if (error) return nullptr;
  error = EBADMSG;
  if (got != sizeof header || header.magic != index_magic || header.sum != sum_of(header) ||
      header.store_id != store_id || header.generation != generation || header.buckets == 0 ||
      header.buckets > (std::uint64_t{1} << 40) ||
      static_cast<std::uint64_t>(about.st_size) < file_bytes(header.buckets))
    return nullptr;
  const auto bytes = static_cast<std::size_t>(file_bytes(header.buckets));
  void* address = files.map(opened.get(), bytes, writable, nullptr, error);
  if (!address) return nullptr;
  auto table = std::make_unique<index_table>();
  table->file_ = mapping(files, address, bytes);
  table->slots_ = reinterpret_cast<slot*>(table->file_.data() + sizeof(index_header));
  table->buckets_ = header.buckets;
  table->generation_ = generation;
  return table;
}

std::unique_ptr<index_table> index_table::in_memory(std::uint64_t buckets) {
  auto table = std::make_unique<index_table>();
  table->memory_ = std::make_unique<slot[]>(buckets * slots_per_bucket);
  table->slots_ = table->memory_.get();
  table->buckets_ = buckets;
  return table;
}

slot* index_table::find_exact(std::uint64_t hash, location where) const noexcept {
  const auto wanted = make_slot(hash, where);
  for (slot* bucket : buckets_of(hash))
    for (slot* one = bucket; one < bucket + slots_per_bucket; ++one)
      if ((one->load(std::memory_order_acquire) & ~hit_bit) == wanted) return one;
  return nullptr;
}

std::uint64_t index_table::sum() const noexcept {
  std::uint64_t total = 0;
  for (std::uint64_t position = 0; position < slots(); ++position)
    total += slot_sum(slots_[position].load(std::memory_order_relaxed), position);
  return total & head_value_mask;
}

} // namespace hearth::storage::disk
