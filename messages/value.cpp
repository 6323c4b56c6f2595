#include "messages/value.hpp"

#include "messages/pack.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <msgpack.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace hearth {
namespace {

void pack(msgpack::sbuffer& buffer, const value& v);

struct pack_visitor {
  msgpack::sbuffer& buffer;
  packer out{buffer};
  void operator()(std::monostate) { out.pack_nil(); }
  void operator()(bool b) { b ? out.pack_true() : out.pack_false(); }
  void operator()(std::int64_t i) { out.pack_int64(i); }
  void operator()(double d) { pack_real(buffer, d); }
  void operator()(const std::string& text) { pack_text(out, text); }
  void operator()(const binary& b) { pack_bytes(out, b.bytes); }
  void operator()(const value::array& items) {
    out.pack_array(static_cast<std::uint32_t>(items.size()));
    for (const auto& item : items)
      pack(buffer, item);
  }
  void operator()(const value::map& members) {
    out.pack_map(static_cast<std::uint32_t>(members.size()));
    for (const auto& [name, member] : members) {
      pack_text(out, name);
      pack(buffer, member);
    }
  }
  void operator()(const value::keyed_map& members) {
    out.pack_map(static_cast<std::uint32_t>(members.size()));
    for (const auto& [at, member] : members) {
      pack(buffer, at);
      pack(buffer, member);
    }
  }
};

void pack(msgpack::sbuffer& buffer, const value& v) { std::visit(pack_visitor{buffer}, v.data()); }

std::strong_ordering order_of(const value& a, const value& b);

// -NaN and NaNs with other bits are one key.
std::strong_ordering order_of_reals(double a, double b) {
  constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
  return std::strong_order(a != a ? nan : a, b != b ? nan : b);
}

template <class T>
std::strong_ordering order_of_held(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>)
    return order_of_reals(a, b);
  else if constexpr (std::is_same_v<T, value::array>)
    return std::lexicographical_compare_three_way(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const value& x, const value& y) { return order_of(x, y); });
  else if constexpr (std::is_same_v<T, value::map> || std::is_same_v<T, value::keyed_map>)
    return encode(value(a)) <=> encode(value(b)); // no key that can be decoded
  else
    return a <=> b;
}

std::strong_ordering order_of(const value& a, const value& b) {
  if (const auto by_kind = a.data().index() <=> b.data().index(); by_kind != 0) return by_kind;
  return std::visit(
      [&](const auto& held) {
        return order_of_held(held, *b.as<std::remove_cvref_t<decltype(held)>>());
      },
      a.data());
}

// Receives msgpack's parse events and builds a value from them, on a stack of open containers.
class builder : public msgpack::null_visitor {
public:
  bool visit_nil() { return add(value{}); }
  bool visit_boolean(bool b) { return add(value{b}); }
  bool visit_positive_integer(std::uint64_t i) {
    if (i > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return stop(errc::overflow, "an integer above 2^63 - 1");
    return add(value{static_cast<std::int64_t>(i)});
  }
  bool visit_negative_integer(std::int64_t i) { return add(value{i}); }
  bool visit_float32(float f) { return add(value{double{f}}); }
  bool visit_float64(double d) { return add(value{d}); }
  bool visit_str(const char* data, std::uint32_t size) {
    return add(value{std::string_view{data, size}});
  }
  bool visit_bin(const char* data, std::uint32_t size) {
    return add(value{binary{std::string(data, size)}});
  }
  bool visit_ext(const char*, std::uint32_t) { return stop(errc::malformed, "an extension type"); }
  bool start_array(std::uint32_t) { return open(value{value::array{}}); }
  bool end_array() { return close(); }
  bool start_map(std::uint32_t) {
    if (is_in_key()) return stop(errc::malformed, "a map in a map's key");
    return open(value{value::map{}});
  }
  bool end_map() { return close(); }
  bool start_map_key() {
    open_.back().wants_key = true;
    return true;
  }
  bool end_map_key() { return true; }
  void parse_error(std::size_t, std::size_t) { stop(errc::malformed, "not msgpack"); }
  void insufficient_bytes(std::size_t, std::size_t) { stop(errc::malformed, "cut short"); }

  std::optional<error> failure;
  value result;

private:
  // An array, or a map: one with text keys until another key comes.
  struct container {
    value content;
    value key; // of a map's next member
    bool wants_key = false;
  };

  bool stop(errc code, const char* why) {
    if (!failure) failure = error{code, why};
    return false;
  }
  bool is_in_key() const {
    return std::any_of(open_.begin(), open_.end(), [](const auto& one) { return one.wants_key; });
  }
  bool open(value v) {
    if (open_.size() >= static_cast<std::size_t>(max_value_depth))
      return stop(errc::malformed, "nested deeper than 64");
    open_.push_back({std::move(v), {}, false});
    return true;
  }
  bool close() {
    auto content = std::move(open_.back().content);
    open_.pop_back();
    return add(std::move(content));
  }
  bool add(value v) {
    if (open_.empty()) {
      result = std::move(v);
      return true;
    }
    auto& top = open_.back();
    if (auto* items = top.content.as<value::array>()) {
      items->push_back(std::move(v));
      return true;
    }
    if (!std::exchange(top.wants_key, false)) return add_member(top, std::move(v));
    top.key = std::move(v);
    return true;
  }
  bool add_member(container& to, value v) {
    bool is_new = true;
    auto* names = to.content.as<value::map>();
    auto* name = to.key.as<std::string>();
    if (names && name)
      is_new = names->emplace(std::move(*name), std::move(v)).second;
    else if (names)
      to.content = with_any_key(std::move(*names), std::move(to.key), std::move(v));
    else
      is_new = to.content.as<value::keyed_map>()->emplace(std::move(to.key), std::move(v)).second;
    return is_new || stop(errc::malformed, "a map with one key twice");
  }
  static value with_any_key(value::map names, value key, value v) {
    value::keyed_map members;
    for (auto& [name, member] : names)
      members.emplace(name, std::move(member));
    members.emplace(std::move(key), std::move(v));
    return members;
  }

  std::vector<container> open_;
};

} // namespace

const value* value::find(std::string_view name) const {
  const auto* members = as<map>();
  if (!members) return nullptr;
  const auto at = members->find(std::string(name));
  return at == members->end() ? nullptr : &at->second;
}

const value* value::find_key(const value& wanted) const {
  if (const auto* name = wanted.as<std::string>(); name && as<map>()) return find(*name);
  const auto* members = as<keyed_map>();
  if (!members) return nullptr;
  const auto at = members->find(wanted);
  return at == members->end() ? nullptr : &at->second;
}

bool value::key_order::operator()(const value& a, const value& b) const {
  return order_of(a, b) < 0;
}

value::value(keyed_map m) {
  const auto is_text = [](const auto& member) { return member.first.template as<std::string>(); };
  if (!std::all_of(m.begin(), m.end(), is_text)) {
    data_ = std::move(m);
    return;
  }
  map named;
  for (auto& [name, member] : m)
    named.emplace(*name.as<std::string>(), std::move(member));
  data_ = std::move(named);
}

bool operator==(const value& a, const value& b) { return a.data_ == b.data_; }

std::string encode(const value& v) {
  msgpack::sbuffer buffer;
  pack(buffer, v);
  return {buffer.data(), buffer.size()};
}

expected<value> decode_value(std::string_view bytes) {
  builder events;
  std::size_t offset = 0;
  const bool complete = msgpack::parse(bytes.data(), bytes.size(), offset, events);
  if (events.failure) return fail(*events.failure);
  if (!complete) return fail(errc::malformed, "cut short");
  if (offset != bytes.size())
    return fail(errc::malformed,
                std::to_string(bytes.size() - offset) + " bytes left over after the value");
  return std::move(events.result);
}

} // namespace hearth
