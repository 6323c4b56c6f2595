#include "storage/disk/change_journal.hpp"

#include "messages/hash.hpp"
#include "messages/hex.hpp"
#include "storage/disk/format.hpp"
#include "storage/disk/head/temporary_files.hpp"
#include "storage/disk/os/errors.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <type_traits>
#include <utility>

namespace hearth::storage {
namespace {

using change_kind = unheard_change::kind;

constexpr std::string_view journal_start = "unheard.";
// A journal is written anew when it is longer than this and most of it counts no more.
constexpr std::uint64_t long_journal = std::uint64_t{1} << 20;
// Longer journals are damaged.
constexpr std::uint64_t max_journal_bytes = std::uint64_t{64} << 20;

// The file that orders the changes of the host's processes: how many there were, how many of them
// are in journals, then the number of the last change of an entry whose hash falls there. The first
// change has the number 2, so that 1 is before all. Behind them, two words an entry whose hash
// falls there: the number of the last change that a fleet has heard of, and that number mixed and
// combined with the hash of fleet and entry. The second shows what the first is about, and that
// both belong together: they are not written at once.
constexpr const char* order_name = "changes";
constexpr std::size_t order_words = 4096;
constexpr std::size_t told_slots = 1024;
constexpr std::size_t order_bytes = (order_words + 2 * told_slots) * sizeof(std::uint64_t);

std::atomic_ref<std::uint64_t> word_at(const disk::mapping& order, std::size_t at) {
  return std::atomic_ref(reinterpret_cast<std::uint64_t*>(order.data())[at]);
}

std::size_t place_of(std::uint64_t hash) { return 2 + hash % (order_words - 2); }

std::size_t told_place_of(std::uint64_t hash) { return order_words + 2 * (hash % told_slots); }

std::uint64_t told_check(std::uint64_t hash, std::uint64_t number) {
  return hash ^ disk::mix64(number);
}

constexpr std::uint32_t settled_flag = 0x100; // in `record_head::what`

// A record: this head, then the texts of cache, version and key. A settled change has no texts.
struct record_head {
  std::uint64_t check = 0; // of all that follows
  std::uint64_t which = 0;
  std::uint64_t journal = 0; // of the process that made the change; 0: this one
  std::uint64_t value = 0;
  std::uint32_t what = 0;
  std::uint32_t cache_bytes = 0;
  std::uint32_t version_bytes = 0;
  std::uint32_t key_bytes = 0;
};
static_assert(sizeof(record_head) == 48 && std::is_trivially_copyable_v<record_head>);

std::string record_of(std::uint64_t which, const unheard_change* change,
                      std::uint64_t journal = 0) {
  record_head head;
  head.which = which;
  head.journal = journal;
  head.what = change ? static_cast<std::uint32_t>(change->what) : settled_flag;
  std::string texts;
  if (change) {
    head.value = change->value;
    head.cache_bytes = static_cast<std::uint32_t>(change->cache.size());
    head.version_bytes = static_cast<std::uint32_t>(change->version.size());
    head.key_bytes = static_cast<std::uint32_t>(change->key.size());
    texts.append(change->cache).append(change->version).append(change->key);
  }
  std::string record(reinterpret_cast<const char*>(&head), sizeof head);
  record += texts;
  const auto check = fast_hash(std::string_view(record).substr(sizeof head.check));
  std::memcpy(record.data(), &check, sizeof check);
  return record;
}

// The address of what a change is about.
std::string address_of(const unheard_change& change) {
  std::string address(change.cache);
  address.append(1, '\0').append(change.version).append(1, '\0');
  if (change.what != change_kind::whole_cache) address.append("k").append(change.key);
  return address;
}

// The hash by which the order of changes is kept: `cache_key::disk_hash` of the entry.
std::uint64_t hash_of_entry(const unheard_change& change) {
  const auto id = cache_id::make(change.cache, change.version);
  return fast_hash(change.key, id ? id->seed() : 0);
}

std::size_t bytes_of(const unheard_change& change) {
  return change.cache.size() + change.version.size() + change.key.size();
}

// Takes the record at the start of `bytes` off. Nothing: it is torn or damaged, as is all behind
// it.
std::optional<std::pair<record_head, unheard_change>> take_record(std::string_view& bytes) {
  record_head head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto size = sizeof head + std::uint64_t{head.cache_bytes} + head.version_bytes +
                    std::uint64_t{head.key_bytes};
  if (bytes.size() < size) return std::nullopt;
  const auto record = bytes.substr(0, size);
  const auto is_known = head.what <= static_cast<std::uint32_t>(change_kind::whole_cache) ||
                        head.what == settled_flag;
  if (fast_hash(record.substr(sizeof head.check)) != head.check || !is_known) return std::nullopt;
  unheard_change change;
  auto texts = record.substr(sizeof head);
  const auto take = [&](std::size_t count) {
    const auto text = texts.substr(0, count);
    texts.remove_prefix(count);
    return std::string(text);
  };
  change.what =
      head.what == settled_flag ? change_kind::erase : static_cast<change_kind>(head.what);
  change.value = head.value;
  change.cache = take(head.cache_bytes);
  change.version = take(head.version_bytes);
  change.key = take(head.key_bytes);
  bytes.remove_prefix(size);
  return std::pair(head, std::move(change));
}

using changes_by_address = std::map<std::string, change_journal::numbered_change>;

// The changes in a journal that count.
changes_by_address changes_in(std::string_view bytes, std::uint64_t journal) {
  changes_by_address all;
  std::unordered_map<std::uint64_t, std::string> addresses;
  while (auto record = take_record(bytes)) {
    auto& [head, change] = *record;
    if (head.what == settled_flag) {
      const auto address = addresses.find(head.which);
      if (address == addresses.end()) continue;
      const auto settled = all.find(address->second);
      if (settled != all.end() && settled->second.which == head.which) all.erase(settled);
      continue;
    }
    const auto address = address_of(change);
    addresses[head.which] = address;
    all[address] = {head.which, std::move(change), head.journal ? head.journal : journal, journal};
  }
  return all;
}

// The `id` of the journal with this name.
std::uint64_t id_in(std::string_view name) {
  const auto digits = name.substr(name.rfind('.') + 1);
  std::uint64_t id = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  return id;
}

// Of two changes of an entry the later one counts.
void add_later(changes_by_address& all, changes_by_address more) {
  for (auto& [address, one] : more) {
    auto& kept = all[address];
    if (kept.which < one.which) kept = std::move(one);
  }
}

std::optional<std::string> read_whole(file_system& files, int fd) {
  struct stat about {};
  if (files.status(fd, about) < 0) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > max_journal_bytes) return std::string();
  std::string bytes(size, '\0');
  const auto got = disk::read_fully(files, fd, bytes.data(), bytes.size(), 0);
  if (got < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

// The names of journals, sorted, or a negative error.
int list_journals(file_system& files, int folder, std::string_view start,
                  std::vector<std::string>& names) {
  if (const int listed = files.list(folder, names); listed < 0) return listed;
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(start); });
  std::sort(names.begin(), names.end());
  return 0;
}

std::string start_of(std::string_view fleet) {
  const auto hash = fast_hash_128(fleet);
  std::string start(journal_start);
  append_hex(start, hash.view());
  return start;
}

} // namespace

change_journal::change_journal(file_system& files, int folder, std::filesystem::path path,
                               std::string_view fleet, std::uint64_t opening_id)
    : files_(&files)
    , folder_(folder)
    , path_(std::move(path))
    , start_(start_of(fleet))
    , fleet_hash_(fast_hash(fleet))
    , opening_id_(opening_id) {}

expected<std::unique_ptr<change_journal>> change_journal::open(file_system& files, int folder,
                                                               std::filesystem::path path,
                                                               std::string_view fleet,
                                                               std::uint64_t opening_id) {
  std::unique_ptr<change_journal> made(
      new change_journal(files, folder, std::move(path), fleet, opening_id));
  if (auto mapped = made->map_order(); !mapped) return fail(mapped.error());
  return made;
}

change_journal::~change_journal() { close(); }

expected<void> change_journal::map_order() {
  const auto broken = [&](int error, std::string_view action) {
    return fail(disk::system_error(error, action, path_ / order_name));
  };
  const disk::file opened(
      *files_, files_->open_at(folder_, order_name, O_CREAT | O_RDWR | O_NOFOLLOW, 0600));
  if (!opened) return broken(opened.error(), "open");
  struct stat about {};
  if (const int known = files_->status(opened.get(), about); known < 0)
    return broken(-known, "look at");
  if (static_cast<std::uint64_t>(about.st_size) < order_bytes)
    if (const int made = files_->allocate(opened.get(), 0, order_bytes); made < 0)
      return broken(-made, "allocate");
  int error = 0;
  order_ = disk::mapping(*files_, files_->map(opened.get(), order_bytes, true, nullptr, error),
                         order_bytes);
  if (!order_) return broken(error, "map");
  raise_number(last_told());
  return {};
}

change_journal::number change_journal::last() const noexcept {
  return order_ ? word_at(order_, 0).load(std::memory_order_acquire) + 1 : 0;
}

std::uint64_t change_journal::written() const noexcept {
  return order_ ? word_at(order_, 1).load(std::memory_order_acquire) : 0;
}

bool change_journal::is_overtaken(std::uint64_t hash, number which) const noexcept {
  const auto is_later = [&](std::uint64_t of) {
    return word_at(order_, place_of(of)).load(std::memory_order_acquire) > which;
  };
  return order_ && (is_later(hash) || is_later(told_hash(hash)));
}

bool change_journal::is_overtaken_for_any(const cache_key& key, number which) const noexcept {
  return is_overtaken(key, which) ||
         std::any_of(companions_.begin(), companions_.end(),
                     [&](const companion& one) { return one.journal->is_overtaken(key, which); });
}

void change_journal::note_told(const cache_key& key, number which) noexcept {
  if (!order_) return;
  const auto hash = told_hash(key.disk_hash);
  const auto place = told_place_of(hash);
  if (was_told_since(key.disk_hash, which)) return;
  word_at(order_, place).store(which, std::memory_order_release);
  word_at(order_, place + 1).store(told_check(hash, which), std::memory_order_release);
}

bool change_journal::was_told_since(std::uint64_t entry, number which) const noexcept {
  if (!order_) return false;
  const auto hash = told_hash(entry);
  const auto place = told_place_of(hash);
  const auto check = word_at(order_, place + 1).load(std::memory_order_acquire);
  const auto told = word_at(order_, place).load(std::memory_order_acquire);
  return told > which && check == told_check(hash, told);
}

// The highest number of a change that a fleet has heard of.
change_journal::number change_journal::last_told() const noexcept {
  number last = 0;
  for (std::size_t i = 0; i < told_slots; ++i)
    last = std::max(last, word_at(order_, order_words + 2 * i).load(std::memory_order_relaxed));
  return last;
}

// `hash`: of the entry that is being changed; for a change that this fleet alone is told again,
// `told_hash`.
change_journal::number change_journal::next_number(std::optional<std::uint64_t> hash) {
  if (!order_) return ++last_;
  const auto next = word_at(order_, 0).fetch_add(1, std::memory_order_acq_rel) + 2;
  if (!hash) return next;
  auto word = word_at(order_, place_of(*hash));
  for (auto before = word.load(); before < next;)
    if (word.compare_exchange_weak(before, next, std::memory_order_acq_rel)) break;
  return next;
}

// Numbers begin anew after a power loss, which the journals may have survived.
void change_journal::raise_number(number to) {
  if (!order_) return;
  auto count = word_at(order_, 0);
  for (auto before = count.load(); before + 1 < to;)
    if (count.compare_exchange_weak(before, to - 1, std::memory_order_acq_rel)) break;
}

void change_journal::close() noexcept {
  if (!files_ || fork_generation() != born_ || !open_.empty()) return;
  if (file_) files_->remove_at(folder_, name_.c_str());
  remove_ended();
}

namespace {

unheard_change change_of(const cache_key& key, change_kind what, std::uint64_t value) {
  const auto& id = key.cache->id;
  return {what, id.name(), id.version(), std::string(std::string_view(key.bytes)), value};
}

} // namespace

change_journal::noted change_journal::note_alone(const cache_key& key, change_kind what,
                                                 std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  const auto which = next_number(key.disk_hash);
  return {which, note_as(key, what, value, which)};
}

change_journal::noted change_journal::note_again(const cache_key& key, change_kind what,
                                                 std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  const auto which = next_number(told_hash(key.disk_hash));
  return {which, note_as(key, what, value, which)};
}

change_journal::noted change_journal::note(const cache_key& key, change_kind what,
                                           std::uint64_t value) {
  if (companions_.empty() && !takes_) return note_alone(key, what, value);
  noted all;
  {
    const std::lock_guard lock(mutex_);
    all.which = next_number(key.disk_hash);
  }
  const auto note_in = [&](change_journal& one, const cache_filter& takes) {
    if (takes && !takes(key.cache->id)) return;
    const std::lock_guard lock(one.mutex_);
    auto kept = one.note_as(key, what, value, all.which);
    if (!kept && all.kept) all.kept = std::move(kept);
  };
  note_in(*this, takes_);
  for (const auto& one : companions_)
    note_in(*one.journal, one.takes);
  return all;
}

expected<void> change_journal::note_as(const cache_key& key, change_kind what, std::uint64_t value,
                                       number which) {
  auto made = note_change(change_of(key, what, value), which);
  if (made.which != which) noted_as_[which] = made.which;
  return std::move(made.kept);
}

void change_journal::note_also_in(std::vector<companion> others, cache_filter takes) {
  companions_ = std::move(others);
  takes_ = std::move(takes);
}

change_journal::number change_journal::take_number(number which) {
  const std::lock_guard lock(mutex_);
  const auto other = noted_as_.extract(which);
  return other.empty() ? which : other.mapped();
}

bool change_journal::is_full() const noexcept {
  return open_.size() >= max_changes || open_bytes_ >= max_bytes;
}

change_journal::noted change_journal::note_change(unheard_change change, number as) {
  const auto [which, is_new] = add(as, std::move(change), 0);
  if (!is_new && !lacks_records_) return {which, {}};
  const auto& one = open_.at(which);
  auto kept = append(record_of(which, &one.change, one.journal));
  tell_others();
  return {which, std::move(kept)};
}

// Adds a change, which no record has yet, under its number if it can: a whole cache has a number of
// its own. Not new: its whole cache was noted before.
change_journal::added change_journal::add(number as, unheard_change change, std::uint64_t journal) {
  const unheard_change whole{change_kind::whole_cache, change.cache, change.version, {}, 0};
  if (const auto before = newest_.find(address_of(whole)); before != newest_.end())
    return {before->second, false};
  if (is_full() && !newest_.contains(address_of(change))) change = whole;
  const bool is_whole = change == whole;
  if (is_whole) drop_all_of(whole);
  const auto which = is_whole || open_.contains(as) ? next_number({}) : as;
  const auto address = address_of(change);
  if (const auto before = newest_.find(address); before != newest_.end())
    forget(open_.find(before->second));
  newest_[address] = which;
  open_bytes_ += bytes_of(change);
  open_[which] = {std::move(change), which == as ? journal : 0};
  lacks_records_ = lacks_records_ || is_whole;
  return {which, true};
}

void change_journal::tell_others() {
  if (order_) word_at(order_, 1).fetch_add(1, std::memory_order_acq_rel);
}

// A change of the whole cache stands for those of its entries. The file keeps them until one that
// has the whole cache takes its place.
void change_journal::drop_all_of(const unheard_change& whole) {
  for (auto at = open_.begin(); at != open_.end();) {
    const auto one = at++;
    const auto& change = one->second.change;
    if (change.cache != whole.cache || change.version != whole.version) continue;
    if (change.what == change_kind::whole_cache) continue; // which the fleet is being told of
    drop_address(address_of(change), one->first);
    forget(one);
  }
}

void change_journal::forget(changes::iterator at) {
  open_bytes_ -= bytes_of(at->second.change);
  open_.erase(at);
}

std::optional<change_kind> change_journal::find(number which) const {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(which);
  return at == open_.end() ? std::nullopt : std::optional(at->second.change.what);
}

std::uint64_t change_journal::origin_of(number which) const {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(which);
  return at == open_.end() || at->second.journal == 0 ? opening_id_ : at->second.journal;
}

void change_journal::begin_telling(number whole) {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(whole);
  if (at != open_.end()) drop_address(address_of(at->second.change), whole);
}

void change_journal::drop_address(const std::string& address, number which) {
  const auto newest = newest_.find(address);
  if (newest != newest_.end() && newest->second == which) newest_.erase(newest);
}

void change_journal::settle(number which) {
  const std::lock_guard lock(mutex_);
  noted_as_.erase(which);
  const auto at = open_.find(which);
  if (at == open_.end()) return;
  std::erase_if(noted_as_, [&](const auto& one) { return one.second == which; });
  drop_address(address_of(at->second.change), which);
  forget(at);
  if (!files_ || fork_generation() != born_) return;
  if (!open_.empty()) {
    if (file_) (void)append(record_of(which, nullptr));
    return;
  }
  if (file_ && files_->resize(file_->get(), 0) != 0) return;
  size_ = 0;
  lacks_records_ = false;
  remove_ended();
}

// Appends to the journal of this process, and makes it if there is none.
expected<void> change_journal::append(std::string record) {
  if (!files_) return {};
  if (fork_generation() != born_)
    return fail(errc::forked, "the journal in " + path_.string() +
                                  " does not outlive a fork: open the store again in the child");
  const bool is_long = size_ > long_journal && size_ > 4 * (open_bytes_ + open_.size() * 64);
  if (!file_ || lacks_records_ || is_long) {
    auto written = write_anew();
    lacks_records_ = !written;
    return written;
  }
  const auto wrote = disk::write_fully(*files_, file_->get(), record.data(), record.size(), size_);
  lacks_records_ = wrote.error != 0;
  if (lacks_records_) return fail(disk::system_error(wrote.error, "append to a journal in", path_));
  size_ += record.size();
  return {};
}

// Makes an empty journal and locks it, which tells other processes that this one has not ended. One
// that takes it for abandoned before it is locked removes it.
disk::file change_journal::make_locked(std::string& name) {
  constexpr unsigned max_attempts = 16;
  for (unsigned i = 0; i < max_attempts; ++i) {
    name = disk::temporary_name(start_, opening_id_);
    name.resize(name.size() - disk::temporary_suffix.size());
    disk::file made(*files_, files_->open_at(folder_, name.c_str(),
                                             O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600));
    if (!made) return made;
    struct stat about {};
    if (files_->try_lock(made.get(), true) == 0 &&
        files_->status_at(folder_, name.c_str(), about) == 0)
      return made;
  }
  return {*files_, -EBUSY};
}

// Syncs a journal with its name: the files whose changes it has may be synced, and go. Returns an
// errno, or 0.
int change_journal::sync(int fd) {
  if (const int synced = files_->sync(fd); synced < 0) return -synced;
  return -std::min(files_->sync(folder_), 0);
}

expected<void> change_journal::write_anew() {
  std::string name;
  auto made = make_locked(name);
  if (!made) return fail(disk::system_error(made.error(), "make a journal in", path_));
  std::string records;
  for (const auto& [which, one] : open_)
    records += record_of(which, &one.change, one.journal);
  const auto wrote = disk::write_fully(*files_, made.get(), records.data(), records.size(), 0);
  const bool replaces = !name_.empty() || !ended_.empty();
  const int error = wrote.error ? wrote.error : replaces ? sync(made.get()) : 0;
  if (error) {
    files_->remove_at(folder_, name.c_str());
    return fail(disk::system_error(error, "write a journal in", path_));
  }
  const auto before = std::exchange(name_, std::move(name));
  // Locked until its name is gone: nobody is to take over what is in the new one.
  const auto file_before =
      std::exchange(file_, std::make_unique<disk::unshared_file>(std::move(made)));
  size_ = records.size();
  if (!before.empty()) files_->remove_at(folder_, before.c_str());
  remove_ended();
  return {};
}

// What a listing of the folder's journals found.
struct change_journal::journals {
  changes_by_address left; // by ended processes, which hold their journals no more
  changes_by_address others;
  bool is_whole = true;
  bool has_moved = false; // a journal went meanwhile; what it held may be in a new one
};

void change_journal::read_journals(journals& into) {
  std::vector<std::string> names;
  into.is_whole = list_journals(*files_, folder_, start_, names) == 0;
  for (const auto& name : names) {
    if (name == name_ || ended_.contains(name)) continue;
    disk::file one(*files_, files_->open_at(folder_, name.c_str(), O_RDWR | O_NOFOLLOW, 0));
    if (one.error() == ENOENT) into.has_moved = true;
    const bool has_ended = one && files_->try_lock(one.get(), true) == 0;
    struct stat about {};
    if (has_ended && files_->status_at(folder_, name.c_str(), about) != 0) {
      into.has_moved = true; // its process has replaced or removed it
      continue;
    }
    const auto bytes = one ? read_whole(*files_, one.get()) : std::nullopt;
    if (!bytes) {
      into.is_whole = false;
      continue;
    }
    add_later(has_ended ? into.left : into.others, changes_in(*bytes, id_in(name)));
    if (has_ended) ended_[name] = std::make_unique<disk::unshared_file>(std::move(one));
  }
}

// Notes the changes of ended processes as this one's, unless a living one has made a later change
// of the entry: it tells the fleet of that. Their journals go once those that stay hold all that
// counts.
void change_journal::take_over(journals& found, std::vector<numbered_change>& taken) {
  std::string records;
  bool relies_on_others = false; // a living process has the later change of an entry
  for (auto& [address, one] : found.left) {
    raise_number(one.which);
    const auto own = newest_.find(address);
    if (own != newest_.end() && own->second > one.which) continue;
    const auto other = found.others.find(address);
    if (other != found.others.end() && other->second.which > one.which) {
      relies_on_others = true;
      continue;
    }
    const auto hash = hash_of_entry(one.change);
    const bool is_whole = one.change.what == change_kind::whole_cache;
    const bool may_have_changed = !is_whole && is_overtaken(hash, one.which);
    // A change that was told itself still counts if the host may have made another meanwhile.
    if (!is_whole && !may_have_changed && was_told_since(hash, one.which - 1)) continue;
    const bool was_passed = !is_whole && was_told_since(hash, one.which);
    if (may_have_changed) {
      one.change.what = change_kind::put;
      one.change.value = 0;
    }
    const auto [which, is_new] = add(one.which, std::move(one.change), one.journal);
    const auto& open = open_.at(which);
    if (is_new) records += record_of(which, &open.change, open.journal);
    taken.push_back({which, open.change, open.journal, one.holder, was_passed});
  }
  if (!records.empty()) {
    (void)append(std::move(records));
    tell_others();
  }
  if (!lacks_records_ && (ended_.empty() || sync_holders(relies_on_others))) remove_ended();
  std::erase_if(taken, [&](const numbered_change& one) { return !open_.contains(one.which); });
}

// Syncs the journals that hold what ended processes have left: this one, or those of others too.
bool change_journal::sync_holders(bool has_others) {
  if (has_others) return bool(sync_journals(*files_, folder_, path_));
  return !file_ || sync(file_->get()) == 0;
}

void change_journal::remove_ended() {
  for (const auto& [name, held] : ended_)
    files_->remove_at(folder_, name.c_str());
  ended_.clear();
}

change_journal::looked change_journal::look() {
  const std::lock_guard lock(mutex_);
  looked now;
  if (!files_) return now;
  now.is_whole = fork_generation() == born_;
  if (!now.is_whole) return now;
  journals found;
  constexpr unsigned max_listings = 16;
  for (unsigned i = 0; i < max_listings; ++i) {
    auto left = std::move(found.left);
    found = {};
    found.left = std::move(left);
    read_journals(found);
    if (!found.has_moved) break;
  }
  now.is_whole = found.is_whole && !found.has_moved;
  take_over(found, now.taken_over);
  for (auto& [address, one] : found.others)
    now.others.push_back(std::move(one));
  return now;
}

std::uint64_t hash_of_value(const artifact& value) {
  return fast_hash(value.payload(), fast_hash(value.metadata_bytes()));
}

expected<void> sync_journals(file_system& files, int folder, const std::filesystem::path& path) {
  constexpr unsigned max_listings = 16;
  bool has_moved = true; // a journal went meanwhile; what it held may be in a new one
  std::vector<std::string> names;
  for (unsigned i = 0; i < max_listings && std::exchange(has_moved, false); ++i) {
    names.clear();
    if (const int listed = list_journals(files, folder, journal_start, names); listed < 0)
      return fail(disk::system_error(-listed, "list", path));
    for (const auto& name : names) {
      const disk::file one(files, files.open_at(folder, name.c_str(), O_RDONLY | O_NOFOLLOW, 0));
      has_moved = has_moved || one.error() == ENOENT;
      if (one.error() == ENOENT) continue;
      if (!one) return fail(disk::system_error(one.error(), "open a journal in", path));
      if (const int synced = files.sync(one.get()); synced < 0)
        return fail(disk::system_error(-synced, "sync a journal in", path));
    }
  }
  if (has_moved) return fail(disk::system_error(EAGAIN, "sync the journals in", path));
  if (names.empty()) return {};
  if (const int synced = files.sync(folder); synced < 0)
    return fail(disk::system_error(-synced, "sync", path));
  return {};
}

} // namespace hearth::storage
