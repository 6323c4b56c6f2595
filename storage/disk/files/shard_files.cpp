#include "storage/disk/files/shard_files.hpp"

#include "messages/random_number.hpp"
#include "storage/hash/copy_hash.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {
namespace {

std::size_t windows_for(const shard_config& config) noexcept {
  // Twice as many windows as the budget has room for segments, so that two segments rarely share
  // one.
  const auto live = config.budget_bytes / config.segment_bytes + 4;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(live * 2, 32, 16384));
}

// A segment is at most an eighth of the budget, whatever segment size the store was made with.
std::uint64_t roll_limit_for(const shard_config& config) noexcept {
  constexpr std::uint64_t segments_a_budget = 8;
  const auto part = std::max(config.budget_bytes / segments_a_budget, min_segment_bytes);
  return std::min(
      {config.segment_bytes, part / page_bytes * page_bytes, max_segment_bytes - unit_bytes});
}

std::uint64_t new_opening_id() { return (random_number() & head_value_mask) | 2; }

} // namespace

shard_files::shard_files(shard_config with, file in, clean_mark& marked_by, head_file of,
                         std::unique_ptr<shard_lock> locked_by, std::uint64_t id)
    : config(std::move(with))
    , system(*config.system)
    , mark(marked_by)
    , opening_id(id)
    , directory(std::move(in))
    , opened_head(std::move(of))
    , head(opened_head.page())
    , lock(std::move(locked_by))
    , windows({config.system, directory.get(), config.store_id, config.segment_bytes},
              windows_for(config))
    , index(system, directory.get(), head, config.store_id, config.read_only && !config.notes_hits)
    , born_(fork_generation())
    , roll_limit_(roll_limit_for(config)) {}

expected<std::unique_ptr<shard_files>> shard_files::open(shard_config config, file directory,
                                                         clean_mark& mark) {
  auto& system = *config.system;
  const auto id = new_opening_id();
  auto head = head_file::open(system, directory.get(), config.path, config.read_only, id);
  if (!head) return fail(head.error());
  std::unique_ptr<shard_lock> lock;
  if (!config.read_only) {
    auto lockable = head->open_for_lock();
    if (!lockable) return fail(lockable.error());
    lock = std::make_unique<shard_lock>(system, std::move(*lockable));
  }
  return std::unique_ptr<shard_files>(new shard_files(std::move(config), std::move(directory), mark,
                                                      std::move(*head), std::move(lock), id));
}

error shard_files::refusal() const {
  if (is_forked())
    return {errc::forked, "cannot write to " + config.path.string() +
                              " in a forked child: open the store again after the fork"};
  return {errc::read_only, "cannot write to " + config.path.string() +
                               ": the store is open read-only; open it for writing"};
}

error shard_files::unmapped_index() const {
  return {errc::io, "the index of " + config.path.string() + " cannot be mapped"};
}

std::vector<std::string> shard_files::names() const {
  std::vector<std::string> all;
  system.list(directory.get(), all);
  return all;
}

file shard_files::open_file(const std::string& name, int flags) const noexcept {
  return {system, system.open_at(directory.get(), name.c_str(), flags | O_NOFOLLOW, 0600)};
}

std::uint64_t boot_number(std::string_view boot_id) noexcept {
  return (hash_bytes(boot_id) & head_value_mask) | 1;
}

bool is_process_error(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EACCES;
}

} // namespace hearth::storage::disk
