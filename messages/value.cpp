#include "messages/value.hpp"

#include "messages/pack.hpp"

#include <limits>
#include <msgpack.hpp>
#include <optional>

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
};

void pack(msgpack::sbuffer& buffer, const value& v) { std::visit(pack_visitor{buffer}, v.data()); }

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
    if (expects_name()) return take_name({data, size});
    return add(value{std::string_view{data, size}});
  }
  bool visit_bin(const char* data, std::uint32_t size) {
    return add(value{binary{std::string(data, size)}});
  }
  bool visit_ext(const char*, std::uint32_t) { return stop(errc::malformed, "an extension type"); }
  bool start_array(std::uint32_t) { return open(value{value::array{}}); }
  bool end_array() { return close(); }
  bool start_map(std::uint32_t) { return open(value{value::map{}}); }
  bool end_map() { return close(); }
  bool start_map_key() {
    open_.back().wants_name = true;
    return true;
  }
  bool end_map_key() { return true; }
  void parse_error(std::size_t, std::size_t) { stop(errc::malformed, "not msgpack"); }
  void insufficient_bytes(std::size_t, std::size_t) { stop(errc::malformed, "cut short"); }

  std::optional<error> failure;
  value result;

private:
  struct container {
    value content;
    std::string name; // name of a map's next member
    bool wants_name = false;
  };

  bool stop(errc code, const char* why) {
    if (!failure) failure = error{code, why};
    return false;
  }
  bool expects_name() const { return !open_.empty() && open_.back().wants_name; }
  bool take_name(std::string_view name) {
    auto& top = open_.back();
    if (top.content.as<value::map>()->contains(std::string(name)))
      return stop(errc::malformed, "a map with one key twice");
    top.name = name;
    top.wants_name = false;
    return true;
  }
  bool open(value v) {
    if (expects_name()) return stop(errc::malformed, "a map key that is not text");
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
    if (expects_name()) return stop(errc::malformed, "a map key that is not text");
    auto& top = open_.back();
    if (auto* items = top.content.as<value::array>())
      items->push_back(std::move(v));
    else
      top.content.as<value::map>()->insert_or_assign(std::move(top.name), std::move(v));
    return true;
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
