#include "storage/text/json_value.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace hearth {
namespace {

using nlohmann::json;

struct lossless_json {
  expected<json> operator()(std::monostate) const { return json(nullptr); }
  expected<json> operator()(const binary&) const {
    return fail(errc::unsupported, "JSON has no raw bytes");
  }
  expected<json> operator()(double real) const {
    if (!std::isfinite(real)) return fail(errc::unsupported, "JSON has no infinity and no NaN");
    return json(real);
  }
  expected<json> operator()(const std::string& text) const {
    json made(text);
    try {
      static_cast<void>(made.dump());
    } catch (const json::exception&) {
      return fail(errc::unsupported, "a text is no UTF-8");
    }
    return made;
  }
  expected<json> operator()(const value::array& items) const {
    auto made = json::array();
    for (const auto& item : items) {
      auto one = json_of(item);
      if (!one) return one;
      made.push_back(std::move(*one));
    }
    return made;
  }
  expected<json> operator()(const value::map& members) const {
    auto made = json::object();
    for (const auto& [name, member] : members) {
      auto one = json_of(member);
      if (!one) return fail(one.error().within(name));
      made[name] = std::move(*one);
    }
    return made;
  }
  expected<json> operator()(const value::keyed_map&) const {
    return fail(errc::unsupported,
                "a map has a key that is no text, which JSON has not; make texts of the keys, or "
                "keep the value as msgpack");
  }
  template <class T>
  expected<json> operator()(const T& plain) const {
    return json(plain);
  }
};

expected<value> value_at(const json& from, int depth);

expected<value> array_of(const json& from, int depth) {
  value::array items;
  for (const auto& item : from) {
    auto one = value_at(item, depth);
    if (!one) return one;
    items.push_back(std::move(*one));
  }
  return value{std::move(items)};
}

expected<value> map_of(const json& from, int depth) {
  value::map members;
  for (const auto& [name, member] : from.items()) {
    auto one = value_at(member, depth);
    if (!one) return fail(one.error().within(name));
    members.emplace(name, std::move(*one));
  }
  return value{std::move(members)};
}

expected<value> value_at(const json& from, int depth) {
  if (depth > max_value_depth) return fail(errc::too_large, "nested deeper than 64");
  switch (from.type()) {
  case json::value_t::boolean: return value(from.get<bool>());
  case json::value_t::number_integer: return value(from.get<std::int64_t>());
  case json::value_t::number_unsigned:
    if (from.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
      return fail(errc::overflow, from.dump() + " does not fit into signed 64 bits");
    return value(from.get<std::int64_t>());
  case json::value_t::number_float: return value(from.get<double>());
  case json::value_t::string: return value(from.get<std::string>());
  case json::value_t::array: return array_of(from, depth + 1);
  case json::value_t::object: return map_of(from, depth + 1);
  case json::value_t::null:
  case json::value_t::binary:
  case json::value_t::discarded: break;
  }
  return value();
}

} // namespace

expected<json> json_of(const value& v) { return std::visit(lossless_json{}, v.data()); }

expected<value> value_of(const json& from) { return value_at(from, 1); }

} // namespace hearth
