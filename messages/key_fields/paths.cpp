#include "messages/key_fields/paths.hpp"

#include <algorithm>

namespace hearth::key_fields {
namespace {

using visitor = std::function<void(const std::string&, const key_field&)>;

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_word);
}

key_field sizes(const std::vector<dimension>& all) {
  key_field::list items;
  for (const auto& one : all) {
    if (const auto* number = std::get_if<std::int64_t>(&one))
      items.emplace_back(*number);
    else
      items.emplace_back(symbol_field{std::get<std::string>(one)});
  }
  return items;
}

struct part_visitor {
  const visitor& visit;

  void each(const key_field::list& items) const {
    for (std::size_t i = 0; i < items.size(); ++i)
      visit(index_step(i), items[i]);
  }
  void tensor(const tensor_field& t) const {
    visit(".dtype", t.dtype);
    visit(".shape", sizes(t.shape));
    visit(".strides", sizes(t.strides));
    visit(".device", t.device);
    visit(".layout", t.layout);
    visit(".requires_grad", t.requires_grad);
    if (t.storage_bytes) visit(".storage_bytes", static_cast<std::int64_t>(*t.storage_bytes));
  }
  void operator()(const key_field::list& l) const { each(l); }
  void operator()(const key_field::set& s) const { each(s.items); }
  void operator()(const key_field::map& m) const {
    for (const auto& [name, item] : m)
      visit(member_step(name), item);
  }
  void operator()(const tensor_field& t) const { tensor(t); }
  void operator()(const constant_field& c) const {
    tensor(c.tensor);
    visit(".values", file_field{c.values, c.bytes});
  }
  void operator()(const source_field& s) const {
    visit(".text", s.text);
    visit(".patterns", key_field::list(s.patterns.begin(), s.patterns.end()));
  }
  void operator()(const tree_field& t) const {
    for (const auto& [path, one] : t.files)
      visit(member_step(path), one);
  }
  template <class T>
  void operator()(const T&) const {} // has no parts
};

} // namespace

std::string member_name(std::string_view name) {
  return is_identifier(name) ? std::string(name) : key_field(name).describe(200);
}

std::string member_step(std::string_view name) {
  return is_identifier(name) ? "." + std::string(name) : "[" + member_name(name) + "]";
}

std::string index_step(std::size_t index) { return "[" + std::to_string(index) + "]"; }

void each_part(const key_field& d, const visitor& visit) {
  std::visit(part_visitor{visit}, d.data());
}

} // namespace hearth::key_fields
