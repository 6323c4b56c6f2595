// Names of the parts of a field: `.shape[1]`, `["a name"]`. Pure functions, any thread.
#pragma once

#include "messages/key_field.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace hearth::key_fields {

/// The name, in quotes unless it is an identifier.
std::string member_name(std::string_view name);
/// `.name` or `["a name"]`.
std::string member_step(std::string_view name);
/// `[3]`
std::string index_step(std::size_t index);

/// Calls `visit` with each part of a list, set, map, tensor, constant, source or tree and the step
/// that leads to it; not at all for other fields. Sizes and texts of a tensor are parts too.
void each_part(const key_field& d,
               const std::function<void(const std::string& step, const key_field& part)>& visit);

/// Calls `visit` with each item of a list or set, or member of a map. Other fields contain no
/// fields and are not taken apart.
template <class Visit>
void each_item(const key_field& d, Visit visit) {
  if (const auto* members = d.as<key_field::map>()) {
    for (const auto& [name, member] : *members)
      visit(member);
    return;
  }
  const auto* items = d.as<key_field::list>();
  if (const auto* set = d.as<key_field::set>()) items = &set->items;
  if (!items) return;
  for (const auto& item : *items)
    visit(item);
}

} // namespace hearth::key_fields
