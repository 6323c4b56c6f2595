#include "messages/key_builder.hpp"

#include "messages/key_fields/paths.hpp"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

int depth_of(const key_field& d) {
  int deepest = 0;
  key_fields::each_item(
      d, [&](const key_field& item) { deepest = std::max(deepest, depth_of(item)); });
  return deepest + 1;
}

std::string debug_line(const std::string& path, const key_field& part) {
  return "[" + sha256(encode(part)).base32().substr(0, 16) + "] " + path + ": " +
         part.describe(200);
}

} // namespace

std::string short_base32(const digest& d) { return d.base32().substr(0, 51); }

std::string structural_key::text() const { return "f" + short_base32(identity); }

key_builder& key_builder::add(std::string name, key_field content) {
  if (problem_) return *this;
  if (name.empty())
    problem_ = error{errc::invalid_argument, "a field of a key without a name"};
  else if (!fields_.emplace(name, std::move(content)).second)
    problem_ = error{errc::invalid_argument, "the field '" + name + "' of a key was added twice"};
  return *this;
}

expected<structural_key> key_builder::build() {
  if (problem_) return fail(*problem_);
  return key_of_details(std::exchange(fields_, {}));
}

expected<structural_key> key_of_details(key_field details) {
  if (!details.as<key_field::map>())
    return fail(errc::invalid_argument, "the details of a key are a map of named fields, and no " +
                                            std::string(details.kind()));
  if (depth_of(details) > max_field_depth)
    return fail(errc::too_large,
                "details nested deeper than " + std::to_string(max_field_depth) + " levels");
  structural_key key;
  key.identity = sha256(encode(details));
  if (const auto found = find_unsupported(details)) {
    const auto& [path, reason] = *found;
    key.bypass = (path.starts_with('.') ? path.substr(1) : path) + ": " + reason;
  }
  key.details = std::move(details);
  return key;
}

std::vector<std::string> debug_lines(const key_field& details) {
  std::vector<std::string> lines;
  const auto* fields = details.as<key_field::map>();
  if (!fields) return {debug_line("", details)};
  for (const auto& [name, field] : *fields) {
    const auto path = key_fields::member_name(name);
    const auto before = lines.size();
    if (field.as<key_field::list>() || field.as<key_field::map>() || field.as<key_field::set>())
      key_fields::each_part(field, [&](const std::string& step, const key_field& part) {
        lines.push_back(debug_line(path + step, part));
      });
    if (lines.size() == before) lines.push_back(debug_line(path, field));
  }
  return lines;
}

} // namespace hearth
