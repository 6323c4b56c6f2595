#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <random>
#include <unistd.h>

namespace hearth::storage::disk {
namespace {

constexpr const char* head_name = "head";
// At opening the lock may be held by whoever rebuilds the index.
constexpr std::chrono::milliseconds rebuild_deadline{60000};

std::size_t windows_for(const shard_config& config) noexcept {
  // Twice what the budget lets live, so that segments that come and go rarely share a window.
  const auto live = config.budget_bytes / config.segment_bytes + 4;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(live * 2, 32, 16384));
}

// A segment is an eighth of the budget at most, whatever the store was made with.
std::uint64_t roll_limit_for(const shard_config& config) noexcept {
  constexpr std::uint64_t segments_a_budget = 8;
  const auto part = std::max(config.budget_bytes / segments_a_budget, min_segment_bytes);
  return std::min(
      {config.segment_bytes, part / page_bytes * page_bytes, max_segment_bytes - unit_bytes});
}

} // namespace

shard::shard(shard_config config, file directory, clean_mark& mark)
    : config_(std::move(config))
    , files_(*config_.files)
    , mark_(mark)
    , born_(fork_generation())
    , head_path_((config_.path / head_name).string())
    , roll_limit_(roll_limit_for(config_))
    , directory_(std::move(directory))
    , windows_({config_.files, directory_.get(), config_.store_id, config_.segment_bytes},
               windows_for(config_)) {}

// Random, and neither of the values of `head_word::dropped` that are no opened store.
std::uint64_t shard::number_of_opening() {
  std::random_device source;
  return ((std::uint64_t{source()} << 16 ^ source()) & head_value_mask) | 2;
}

// Of nobody else: not of a process with the same number in another container, nor of one that had
// it before a power loss and left its file behind.
std::string shard::temporary_name(std::string_view what) const {
  static std::atomic<std::uint64_t> count{0};
  std::string name(what);
  for (const auto part : {static_cast<std::uint64_t>(::getpid()), count.fetch_add(1), opening_})
    name.append(".").append(std::to_string(part));
  return name.append(temporary_suffix);
}

shard::~shard() {
  auto* index = private_index_ ? nullptr : index_.load();
  while (index) {
    auto* older = index->older;
    delete index;
    index = older;
  }
}

expected<std::unique_ptr<shard>> shard::open(shard_config config, file directory,
                                             clean_mark& mark) {
  std::unique_ptr<shard> opened(new shard(std::move(config), std::move(directory), mark));
  if (auto head = opened->open_head(); !head) return fail(head.error());
  if (auto checked = opened->check_at_open(); !checked) return fail(checked.error());
  return opened;
}

expected<void> shard::open_head() {
  const int flags = (config_.read_only ? O_RDONLY : O_RDWR) | O_NOFOLLOW;
  file head(files_, files_.open_at(directory_.get(), head_name, flags, 0));
  if (head.error() == ENOENT && !config_.read_only) {
    auto made = make_head();
    if (!made) return fail(made.error());
    head = std::move(*made);
  }
  if (!head) return fail(system_error(head.error(), "open", head_path_));
  if (auto mapped = map_head(head); !mapped) return mapped;
  if (config_.read_only) return {};
  // The lock has a file description of its own: a mapping keeps the one that it was made from
  // alive, in a forked child too, and with it a dead parent's lock.
  file lockable(files_, files_.open_at(directory_.get(), head_name, flags, 0));
  if (!lockable) return fail(system_error(lockable.error(), "open", head_path_));
  lock_ = std::make_unique<shard_lock>(files_, std::move(lockable));
  return {};
}

expected<void> shard::map_head(const file& head) {
  struct stat about {};
  if (const int stated = files_.status(head.get(), about); stated < 0)
    return fail(system_error(-stated, "read", head_path_));
  if (static_cast<std::uint64_t>(about.st_size) < page_bytes) {
    // It was cut: what is missing reads as zeros, whose check bits are wrong.
    if (config_.read_only)
      return fail(errc::corrupt, head_path_ + " is cut short; open the store for writing once");
    if (const int made = files_.allocate(head.get(), 0, page_bytes); made < 0)
      return fail(system_error(-made, "make room for", head_path_));
  }
  int error = 0;
  void* page = files_.map(head.get(), page_bytes, !config_.read_only, nullptr, error);
  if (!page) return fail(system_error(error, "map", head_path_));
  head_mapping_ = mapping(files_, page, page_bytes);
  head_ = head_page(head_mapping_.data());
  inode_ = static_cast<std::uint64_t>(about.st_ino) & head_value_mask;
  return {};
}

// A whole head appears under its name at once; of several makers one wins.
expected<file> shard::make_head() {
  const auto name = temporary_name("head");
  const auto broken = [&](int error, std::string_view action) {
    files_.remove_at(directory_.get(), name.c_str());
    return fail(system_error(error, action, path_of("head")));
  };
  file made(files_, files_.open_at(directory_.get(), name.c_str(),
                                   O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600));
  if (!made) return broken(made.error(), "make");
  // Zeros: no word's check bits are right, so that whoever opens it first builds the shard.
  const std::array<char, page_bytes> zeros{};
  const auto wrote = write_fully(files_, made.get(), zeros.data(), zeros.size(), 0);
  if (wrote.error) return broken(wrote.error, "write");
  const int linked = files_.link_at(directory_.get(), name.c_str(), head_name);
  // Gone: whoever made the head meanwhile took ours for one that was abandoned.
  if (linked < 0 && linked != -EEXIST && linked != -ENOENT) return broken(-linked, "link");
  files_.remove_at(directory_.get(), name.c_str());
  file head(files_, files_.open_at(directory_.get(), head_name, O_RDWR | O_NOFOLLOW, 0));
  if (!head) return fail(system_error(head.error(), "open", head_path_));
  return head;
}

// Whether the head says that this very file was in use since the machine started.
bool shard::was_here_before() const noexcept {
  return head_.verify() && head_.store_id() == config_.store_id &&
         head_.get(head_word::inode) == inode_ && head_.get(head_word::boot) == config_.boot;
}

// After a restart that found everything synced, the index is as good as before.
void shard::adopt_boot() noexcept {
  if (head_.verify() && head_.store_id() == config_.store_id &&
      head_.get(head_word::inode) == inode_ && config_.was_clean && head_.get(head_word::boot) != 0)
    head_.set(head_word::boot, config_.boot);
  else
    head_.set(head_word::boot, 0); // so that `recover` rebuilds
}

expected<void> shard::check_at_open() {
  const bool known = was_here_before();
  if (config_.read_only) {
    const bool trusted =
        known || (config_.was_clean && head_.verify() && head_.get(head_word::inode) == inode_);
    return trusted && current_index() ? expected<void>{} : rebuild_privately();
  }
  if (!lock_->lock(known ? std::chrono::milliseconds(0) : rebuild_deadline)) {
    if (known) return {}; // somebody is writing, so somebody has checked
    return fail(errc::busy,
                "cannot lock " + config_.path.string() + ": another process holds it; try again");
  }
  hold held(*this);
  if (!was_here_before()) adopt_boot();
  if (auto ready = recover(); !ready) return ready;
  const auto* index = current_index();
  if (index && index->sum() != head_.get(head_word::index_sum))
    if (auto rebuilt = rebuild(); !rebuilt) return rebuilt;
  remove_abandoned();
  remove_retired_now();
  held.release();
  catch_up();
  return {};
}

bool shard::is_in_place() const noexcept {
  struct stat at_path {};
  return !has_faulted(head_mapping_.data()) &&
         files_.status_at(AT_FDCWD, head_path_.c_str(), at_path) == 0 &&
         (static_cast<std::uint64_t>(at_path.st_ino) & head_value_mask) == inode_;
}

} // namespace hearth::storage::disk
