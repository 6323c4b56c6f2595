#include "runtime/server/streams/stream_log.hpp"

#include <algorithm>
#include <utility>

namespace hearth::server {
namespace {

using kind = stream_record::kind;

// The file is made anew once it has more than twice what counts, and this.
constexpr std::uint64_t spare_file_bytes = std::uint64_t{4} << 20;

// What an entry takes in memory, about.
std::uint64_t bytes_of(const std::vector<std::string>& words) {
  constexpr std::uint64_t entry = 96, word = 40;
  std::uint64_t bytes = entry + word * words.size();
  for (const auto& one : words)
    bytes += one.size();
  return bytes;
}

auto first_from(const std::deque<stream_entry_ptr>& entries, const stream_id& from) {
  return std::lower_bound(
      entries.begin(), entries.end(), from,
      [](const stream_entry_ptr& one, const stream_id& id) { return one->id < id; });
}

auto first_above(const std::deque<stream_entry_ptr>& entries, const stream_id& id) {
  return std::upper_bound(
      entries.begin(), entries.end(), id,
      [](const stream_id& bound, const stream_entry_ptr& one) { return bound < one->id; });
}

// Copies the entries of both ranges in one order, at most `count`.
template <class Iterator, class Before>
std::vector<stream_entry_ptr> merged(Iterator a, Iterator a_end, Iterator b, Iterator b_end,
                                     std::size_t count, Before before) {
  std::vector<stream_entry_ptr> all;
  while (all.size() < count && (a != a_end || b != b_end)) {
    const bool takes_a = b == b_end || (a != a_end && before((*a)->id, (*b)->id));
    all.push_back(takes_a ? *a++ : *b++);
  }
  return all;
}

const std::deque<stream_entry_ptr> no_entries;

} // namespace

stream_log::stream_log(stream_settings settings)
    : settings_(std::move(settings)) {
  if (!settings_.file.empty()) problem_ = error(errc::io, "the streams have not been read");
}

// --- changes -----------------------------------------------------------------------------------

template <class T, class Change>
void stream_log::change(Change work, std::function<void(expected<T>)> answer) {
  auto task = [self = shared_from_this(), work = std::move(work), answer = std::move(answer)] {
    expected<T> result = [&]() -> expected<T> {
      const std::lock_guard one(self->changes_);
      if (auto good = self->open_now(); !good) return fail(good.error());
      return work(*self);
    }();
    answer(std::move(result));
  };
  settings_.run ? settings_.run(std::move(task)) : task();
}

expected<void> stream_log::open() {
  const std::lock_guard one(changes_);
  return open_now();
}

// Precondition: changes_ is held, here and in all that follow.
expected<void> stream_log::open_now() {
  if (settings_.file.empty() || file_) return {};
  auto opened = stream_file::open(settings_.file, [this](const stream_record& record) {
    static_cast<void>(apply(record)); // nobody waits before the file is read
  });
  const std::lock_guard lock(mutex_);
  if (!opened) {
    streams_.clear();
    bytes_.clear();
    live_bytes_ = 0;
    problem_ = opened.error();
    return fail(opened.error());
  }
  file_.emplace(std::move(*opened));
  problem_.reset();
  return {};
}

expected<void> stream_log::sync() {
  const std::lock_guard one(changes_);
  return file_ ? file_->sync() : expected<void>();
}

expected<void> stream_log::store(const stream_record& record) {
  if (file_) {
    if (auto good = file_->append(record); !good) return good;
  }
  for (const auto& ready : apply(record))
    ready();
  compact_if_large();
  return {};
}

void stream_log::append(stream_name at, std::vector<std::string> words,
                        std::optional<std::uint64_t> max_length,
                        std::function<void(expected<stream_id>)> answer) {
  stream_record record;
  record.at = std::move(at);
  record.words = std::move(words);
  if (max_length) record.max_length = *max_length;
  change<stream_id>(
      [record = std::move(record)](stream_log& self) { return self.append_now(record); },
      std::move(answer));
}

expected<stream_id> stream_log::append_now(stream_record record) {
  if (auto good = check_room(record, bytes_of(record.words)); !good) return fail(good.error());
  record.id = next_id();
  if (auto good = store(record); !good) return fail(good.error());
  return record.id;
}

// The entries that the new one pushes out count no more.
expected<void> stream_log::check_room(const stream_record& record, std::uint64_t bytes) const {
  const auto& limits = settings_.limits;
  const auto& name_space = record.at.name_space;
  if (bytes > limits.entry_bytes)
    return fail(errc::no_space, "an entry of a stream has at most 1 MiB");
  const auto found = streams_.find(record.at);
  if (found == streams_.end()) {
    const auto count = std::count_if(streams_.begin(), streams_.end(), [&](const auto& one) {
      return one.first.name_space == name_space;
    });
    if (static_cast<std::size_t>(count) >= limits.streams)
      return fail(errc::no_space, "the namespace has too many streams; drop one (DEL)");
  }
  const auto used = bytes_.find(name_space);
  auto taken = bytes + (used == bytes_.end() ? 0 : used->second);
  if (found != streams_.end()) {
    const auto& entries = found->second.entries;
    for (std::size_t i = 0; i < entries.size() && entries.size() - i >= record.max_length; ++i)
      taken -= entries[i]->bytes;
  }
  if (taken > limits.bytes)
    return fail(errc::no_space, "the namespace's streams are full; trim (XADD with MAXLEN) or drop "
                                "one (DEL)");
  return {};
}

// A clock that goes back does not lead to an id twice.
stream_id stream_log::next_id() const {
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(settings_.now_ms(), 1));
  return now > last_.time ? stream_id{now, 0} : next_of(last_).value_or(last_);
}

void stream_log::erase(stream_name at, std::function<void(expected<bool>)> answer) {
  change<bool>(
      [at = std::move(at)](stream_log& self) -> expected<bool> {
        if (!self.streams_.contains(at)) return false;
        stream_record record;
        record.what = kind::erase;
        record.at = at;
        if (auto good = self.store(record); !good) return fail(good.error());
        return true;
      },
      std::move(answer));
}

void stream_log::erase_all(std::string name_space, unsigned database,
                           std::function<void(expected<void>)> answer) {
  change<void>(
      [name_space = std::move(name_space), database](stream_log& self) -> expected<void> {
        const auto is_there =
            std::any_of(self.streams_.begin(), self.streams_.end(), [&](const auto& one) {
              return one.first.name_space == name_space && one.first.database == database;
            });
        if (!is_there) return {};
        stream_record record;
        record.what = kind::erase_all;
        record.at = {name_space, database, {}};
        return self.store(record);
      },
      std::move(answer));
}

// --- the state ---------------------------------------------------------------------------------

// Returns whom to tell.
std::vector<std::function<void()>> stream_log::apply(const stream_record& record) {
  const std::lock_guard lock(mutex_);
  last_ = std::max(last_, record.id);
  switch (record.what) {
  case kind::append: add(record); return take_woken(record.at);
  case kind::cut: streams_[record.at].cut = record.id; break;
  case kind::erase:
    if (const auto at = streams_.find(record.at); at != streams_.end()) drop_stream(at);
    break;
  case kind::erase_all:
    for (auto at = streams_.begin(); at != streams_.end();) {
      const auto one = at++;
      if (one->first.name_space == record.at.name_space &&
          one->first.database == record.at.database)
        drop_stream(one);
    }
    break;
  case kind::last: break;
  }
  return {};
}

void stream_log::add(const stream_record& record) {
  auto& to = streams_[record.at];
  const auto bytes = bytes_of(record.words);
  to.entries.push_back(
      std::make_shared<const stream_entry>(stream_entry{record.id, record.words, bytes}));
  bytes_[record.at.name_space] += bytes;
  live_bytes_ += bytes;
  while (to.entries.size() > record.max_length)
    drop_first(record.at.name_space, to);
}

void stream_log::drop_first(const std::string& name_space, stream& from) {
  const auto& first = *from.entries.front();
  from.cut = first.id;
  bytes_[name_space] -= first.bytes;
  live_bytes_ -= first.bytes;
  from.entries.pop_front();
}

void stream_log::drop_stream(std::map<stream_name, stream>::iterator at) {
  while (!at->second.entries.empty())
    drop_first(at->first.name_space, at->second);
  streams_.erase(at);
}

void stream_log::compact_if_large() {
  if (!file_ || file_->size() <= std::max(2 * live_bytes_ + spare_file_bytes, compact_above_))
    return;
  compact_above_ = 0;
  if (auto good = file_->replace(snapshot()); !good) {
    compact_above_ = 2 * file_->size();
    if (settings_.log)
      settings_.log(log_level::warning, "the streams' file stays large: " + good.error().text());
  }
}

std::vector<stream_record> stream_log::snapshot() const {
  std::vector<stream_record> all;
  stream_record last;
  last.what = kind::last;
  last.id = last_;
  all.push_back(last);
  for (const auto& [name, one] : streams_) {
    stream_record record;
    record.at = name;
    record.what = kind::cut;
    record.id = one.cut;
    all.push_back(record);
    record.what = kind::append;
    for (const auto& entry : one.entries) {
      record.id = entry->id;
      record.words = entry->words;
      all.push_back(record);
    }
  }
  return all;
}

// --- reading -----------------------------------------------------------------------------------

expected<void> stream_log::check_open() const {
  if (problem_) return fail(*problem_);
  return {};
}

// Of two streams that are read as one, nothing is seen before what either has lost: a reader that
// knows an older place has to find that it is gone.
stream_log::view stream_log::view_of(const stream_name& at) const {
  const auto find = [this](const stream_name& name) {
    const auto found = streams_.find(name);
    return found == streams_.end() ? nullptr : &found->second;
  };
  view seen;
  seen.own = find(at);
  if (!at.name_space.empty()) seen.trusted = find({{}, at.database, at.key});
  for (const auto* const one : {seen.own, seen.trusted})
    if (one) seen.cut = std::max(seen.cut, one->cut);
  return seen;
}

expected<std::vector<stream_entry_ptr>> stream_log::read(const stream_name& at,
                                                         const stream_range& range,
                                                         std::size_t count,
                                                         bool is_backwards) const {
  const std::lock_guard lock(mutex_);
  if (auto good = check_open(); !good) return fail(good.error());
  const auto seen = view_of(at);
  const auto first = std::max(range.first, next_of(seen.cut).value_or(last_stream_id));
  if (range.last < first) return std::vector<stream_entry_ptr>();
  const auto& own = seen.own ? seen.own->entries : no_entries;
  const auto& trusted = seen.trusted ? seen.trusted->entries : no_entries;
  const auto own_begin = first_from(own, first), own_end = first_above(own, range.last);
  const auto other_begin = first_from(trusted, first);
  const auto other_end = first_above(trusted, range.last);
  if (!is_backwards)
    return merged(own_begin, own_end, other_begin, other_end, count, std::less<>());
  return merged(std::make_reverse_iterator(own_end), std::make_reverse_iterator(own_begin),
                std::make_reverse_iterator(other_end), std::make_reverse_iterator(other_begin),
                count, std::greater<>());
}

expected<std::size_t> stream_log::length(const stream_name& at) const {
  const std::lock_guard lock(mutex_);
  if (auto good = check_open(); !good) return fail(good.error());
  const auto seen = view_of(at);
  std::size_t count = 0;
  for (const auto* const one : {seen.own, seen.trusted})
    if (one)
      count += static_cast<std::size_t>(one->entries.end() - first_above(one->entries, seen.cut));
  return count;
}

expected<stream_id> stream_log::last_id(const stream_name& at) const {
  const auto last = read(at, {}, 1, true);
  if (!last) return fail(last.error());
  if (!last->empty()) return last->front()->id;
  const std::lock_guard lock(mutex_);
  return view_of(at).cut;
}

bool stream_log::has(const stream_name& at) const {
  const std::lock_guard lock(mutex_);
  const auto seen = view_of(at);
  return seen.own || seen.trusted;
}

bool stream_log::has_own(const stream_name& at) const {
  const std::lock_guard lock(mutex_);
  return streams_.contains(at);
}

// --- waiting -----------------------------------------------------------------------------------

bool stream_log::has_later(const stream_place& place) const {
  const auto seen = view_of(place.at);
  for (const auto* const one : {seen.own, seen.trusted})
    if (one && !one->entries.empty() && one->entries.back()->id > std::max(place.after, seen.cut))
      return true;
  return false;
}

std::shared_ptr<void> stream_log::await(const std::vector<stream_place>& places,
                                        std::function<void()> ready) {
  const std::lock_guard lock(mutex_);
  if (std::any_of(places.begin(), places.end(),
                  [this](const auto& place) { return has_later(place); })) {
    ready();
    return nullptr;
  }
  const auto number = ++last_waiter_;
  for (const auto& place : places)
    waiting_at_[{place.at.database, place.at.key}].insert(number);
  waiters_.emplace(number, waiter{places, std::move(ready)});
  return {nullptr, [weak = weak_from_this(), number](void*) {
            if (const auto self = weak.lock()) self->end_waiting(number);
          }};
}

std::size_t stream_log::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiters_.size();
}

std::vector<std::function<void()>> stream_log::take_woken(const stream_name& at) {
  std::vector<std::function<void()>> woken;
  const auto waiting = waiting_at_.find({at.database, at.key});
  if (waiting == waiting_at_.end()) return woken;
  for (const auto number : waiting->second) {
    auto& one = waiters_.at(number);
    const bool has_news = std::any_of(one.places.begin(), one.places.end(),
                                      [this](const auto& place) { return has_later(place); });
    if (has_news && one.ready) woken.push_back(std::exchange(one.ready, nullptr));
  }
  return woken;
}

void stream_log::end_waiting(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto node = waiters_.extract(number);
  for (const auto& place : node.mapped().places) {
    const auto at = waiting_at_.find({place.at.database, place.at.key});
    if (at == waiting_at_.end()) continue; // a stream was named twice
    at->second.erase(number);
    if (at->second.empty()) waiting_at_.erase(at);
  }
}

} // namespace hearth::server
