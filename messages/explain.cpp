#include "messages/explain.hpp"

#include "messages/key_fields/paths.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace hearth {
namespace {

constexpr std::size_t shown_bytes = 80;

// The part of a text around the first difference, with the number of its line.
std::string around(const std::string& text, std::size_t place) {
  const auto before = std::string_view(text).substr(0, place);
  const auto line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  auto start = std::max(line_start, place > 30 ? place - 30 : 0);
  while (start > 0 && start < text.size() &&
         (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80)
    --start;
  const auto end = text.find('\n', place);
  const auto shown =
      key_field(std::string_view(text).substr(start, end - start)).describe(shown_bytes);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const bool lines = text.find('\n') != std::string::npos;
  return (lines ? "line " + std::to_string(line) + ": " : "") + (start > line_start ? "..." : "") +
         shown;
}

class comparison {
public:
  explicit comparison(std::size_t max)
      : max_(max) {}

  void compare(const std::string& path, const key_field& first, const key_field& second) {
    if (full() || first == second) return;
    if (first.data().index() != second.data().index()) return changed(path, first, second);
    if (const auto* items = first.as<key_field::list>())
      return compare_lists(path, *items, *second.as<key_field::list>());
    if (const auto* items = first.as<key_field::set>())
      return compare_sets(path, items->items, second.as<key_field::set>()->items);
    compare_parts(path, first, second);
  }

  std::vector<difference> take() { return std::move(found_); }

private:
  using steps = std::map<std::string, key_field>;

  bool full() const { return found_.size() >= max_; }
  void note(difference_kind kind, const std::string& path, std::string first, std::string second) {
    if (full()) return;
    found_.push_back(
        {kind, path.starts_with('.') ? path.substr(1) : path, std::move(first), std::move(second)});
  }
  void only(difference_kind kind, const std::string& path, const key_field& content) {
    const auto text = content.describe(shown_bytes);
    const bool in_first = kind == difference_kind::only_first;
    note(kind, path, in_first ? text : "", in_first ? "" : text);
  }

  void changed(const std::string& path, const key_field& first, const key_field& second) {
    const auto* a = first.as<std::string>();
    const auto* b = second.as<std::string>();
    if (!a || !b || std::max(a->size(), b->size()) <= shown_bytes)
      return note(difference_kind::changed, path, first.describe(shown_bytes),
                  second.describe(shown_bytes));
    const auto end = std::min(a->size(), b->size());
    const auto place = static_cast<std::size_t>(
        std::mismatch(a->begin(), a->begin() + static_cast<std::ptrdiff_t>(end), b->begin()).first -
        a->begin());
    note(difference_kind::changed, path, around(*a, place), around(*b, place));
  }

  // Compares fields with named parts: maps, tensors, constants, sources, trees. A field without
  // parts counts as changed.
  void compare_parts(const std::string& path, const key_field& first, const key_field& second) {
    const auto collect = [](const key_field& of) {
      steps parts;
      key_fields::each_part(
          of, [&](const std::string& step, const key_field& part) { parts.emplace(step, part); });
      return parts;
    };
    const auto a = collect(first);
    const auto b = collect(second);
    if (a.empty() && b.empty()) return changed(path, first, second);
    for (const auto& [step, part] : a) {
      const auto other = b.find(step);
      if (other == b.end())
        only(difference_kind::only_first, path + step, part);
      else
        compare(path + step, part, other->second);
    }
    for (const auto& [step, part] : b)
      if (!a.contains(step)) only(difference_kind::only_second, path + step, part);
  }

  // Both sets are sorted by the encodings of their items.
  void compare_sets(const std::string& path, const key_field::list& first,
                    const key_field::list& second) {
    auto a = first.begin();
    auto b = second.begin();
    while (a != first.end() || b != second.end()) {
      const auto in_a = a != first.end() ? encode(*a) : std::string();
      const auto in_b = b != second.end() ? encode(*b) : std::string();
      if (in_a == in_b) {
        ++a, ++b;
      } else if (b == second.end() || (a != first.end() && in_a < in_b)) {
        only(difference_kind::only_first, path, *a++);
      } else {
        only(difference_kind::only_second, path, *b++);
      }
    }
  }

  void compare_lists(const std::string& path, const key_field::list& first,
                     const key_field::list& second);

  std::size_t max_;
  std::vector<difference> found_;
};

// The matches between the items of two lists.
struct matching {
  std::vector<std::pair<std::size_t, std::size_t>> same; // equal items, by place in the first
  std::vector<std::size_t> first_alone;
  std::vector<std::size_t> second_alone;
};

matching match(const key_field::list& first, const key_field::list& second) {
  matching result;
  std::map<std::string, std::vector<std::size_t>>
      places; // places in the second list, the last one first
  std::vector<bool> taken(second.size());
  std::vector<std::string> encoded;
  for (const auto& one : second)
    encoded.push_back(encode(one));
  // An equal item at the same place is the match, even if other items are equal too.
  std::vector<std::optional<std::size_t>> found(first.size());
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < first.size(); ++i) {
    wanted.push_back(encode(first[i]));
    if (i < second.size() && wanted[i] == encoded[i]) found[i] = i, taken[i] = true;
  }
  for (std::size_t i = second.size(); i-- > 0;)
    if (!taken[i]) places[encoded[i]].push_back(i);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto at = places.find(wanted[i]);
    if (found[i] || at == places.end() || at->second.empty()) continue;
    found[i] = at->second.back();
    at->second.pop_back();
    taken[*found[i]] = true;
  }
  for (std::size_t i = 0; i < first.size(); ++i)
    if (found[i])
      result.same.emplace_back(i, *found[i]);
    else
      result.first_alone.push_back(i);
  for (std::size_t i = 0; i < second.size(); ++i)
    if (!taken[i]) result.second_alone.push_back(i);
  return result;
}

// The pairs that need not move: a longest run whose places ascend in both lists.
std::vector<bool> in_order(const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  std::vector<std::size_t> tails; // by length of run: the last pair with the lowest place
  std::vector<std::size_t> before(pairs.size(), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto at = std::lower_bound(
        tails.begin(), tails.end(), pairs[i].second,
        [&](std::size_t tail, std::size_t place) { return pairs[tail].second < place; });
    if (at != tails.begin()) before[i] = *std::prev(at);
    if (at == tails.end())
      tails.push_back(i);
    else
      *at = i;
  }
  std::vector<bool> stays(pairs.size());
  for (auto i = tails.empty() ? pairs.size() : tails.back(); i < pairs.size(); i = before[i])
    stays[i] = true;
  return stays;
}

void comparison::compare_lists(const std::string& path, const key_field::list& first,
                               const key_field::list& second) {
  const auto items = match(first, second);
  const auto stays = in_order(items.same);
  for (std::size_t i = 0; i < items.same.size(); ++i)
    if (!stays[i]) {
      const auto to = path + key_fields::index_step(items.same[i].second);
      note(difference_kind::moved, path + key_fields::index_step(items.same[i].first),
           first[items.same[i].first].describe(shown_bytes),
           to.starts_with('.') ? to.substr(1) : to);
    }
  const auto both = std::min(items.first_alone.size(), items.second_alone.size());
  for (std::size_t i = 0; i < both; ++i)
    compare(path + key_fields::index_step(items.first_alone[i]), first[items.first_alone[i]],
            second[items.second_alone[i]]);
  for (std::size_t i = both; i < items.first_alone.size(); ++i)
    only(difference_kind::only_first, path + key_fields::index_step(items.first_alone[i]),
         first[items.first_alone[i]]);
  for (std::size_t i = both; i < items.second_alone.size(); ++i)
    only(difference_kind::only_second, path + key_fields::index_step(items.second_alone[i]),
         second[items.second_alone[i]]);
}

} // namespace

std::string_view to_string(difference_kind kind) noexcept {
  switch (kind) {
  case difference_kind::changed: return "changed";
  case difference_kind::only_first: return "only_first";
  case difference_kind::only_second: return "only_second";
  case difference_kind::moved: return "moved";
  }
  return "?";
}

std::string difference::line() const {
  switch (kind) {
  case difference_kind::changed: return path + ": " + first + " -> " + second;
  case difference_kind::only_first: return path + ": only in the first: " + first;
  case difference_kind::only_second: return path + ": only in the second: " + second;
  case difference_kind::moved: return path + ": moved to " + second + ": " + first;
  }
  return path;
}

std::vector<difference> explain(const key_field& first, const key_field& second, std::size_t max) {
  comparison all(max);
  all.compare("", first, second);
  return all.take();
}

} // namespace hearth
