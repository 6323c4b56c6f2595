#include "messages/details/paths.hpp"

#include <algorithm>

namespace hearth::details {
namespace {

using visitor = std::function<void(const std::string&, const detail&)>;

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_word);
}

detail sizes(const std::vector<dimension>& all) {
  detail::list items;
  for (const auto& one : all) {
    if (const auto* number = std::get_if<std::int64_t>(&one))
      items.emplace_back(*number);
    else
      items.emplace_back(symbol_detail{std::get<std::string>(one)});
  }
  return items;
}

struct part_visitor {
  const visitor& visit;

  void each(const detail::list& items) const {
    for (std::size_t i = 0; i < items.size(); ++i)
      visit(index_step(i), items[i]);
  }
  void tensor(const tensor_detail& t) const {
    visit(".dtype", t.dtype);
    visit(".shape", sizes(t.shape));
    visit(".strides", sizes(t.strides));
    visit(".device", t.device);
    visit(".layout", t.layout);
    visit(".requires_grad", t.requires_grad);
    if (t.storage_bytes) visit(".storage_bytes", static_cast<std::int64_t>(*t.storage_bytes));
  }
  void operator()(const detail::list& l) const { each(l); }
  void operator()(const detail::set& s) const { each(s.items); }
  void operator()(const detail::map& m) const {
    for (const auto& [name, item] : m)
      visit(member_step(name), item);
  }
  void operator()(const tensor_detail& t) const { tensor(t); }
  void operator()(const constant_detail& c) const {
    tensor(c.tensor);
    visit(".values", file_detail{c.values, c.bytes});
  }
  void operator()(const source_detail& s) const {
    visit(".text", s.text);
    visit(".patterns", detail::list(s.patterns.begin(), s.patterns.end()));
  }
  void operator()(const tree_detail& t) const {
    for (const auto& [path, one] : t.files)
      visit(member_step(path), one);
  }
  template <class T>
  void operator()(const T&) const {} // has no parts
};

} // namespace

std::string member_name(std::string_view name) {
  return is_identifier(name) ? std::string(name) : detail(name).describe(200);
}

std::string member_step(std::string_view name) {
  return is_identifier(name) ? "." + std::string(name) : "[" + member_name(name) + "]";
}

std::string index_step(std::size_t index) { return "[" + std::to_string(index) + "]"; }

void each_part(const detail& d, const visitor& visit) { std::visit(part_visitor{visit}, d.data()); }

} // namespace hearth::details
