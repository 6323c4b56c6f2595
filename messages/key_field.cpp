#include "messages/key_field.hpp"

#include "messages/hex.hpp"
#include "messages/key_fields/paths.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <re2/re2.h>

namespace hearth {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<key_field::storage>> kind_names{
    "nil", "bool",   "int",      "float",  "text",   "bytes", "list", "set",
    "map", "tensor", "constant", "symbol", "source", "file",  "tree", "unsupported"};

std::string describe_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      append_hex_escape(out, c);
    else
      out += c;
  }
  return out + "\"";
}

std::string describe_dimensions(const std::vector<dimension>& all) {
  std::string out = "[";
  for (const auto& one : all) {
    if (out.size() > 1) out += ", ";
    if (const auto* number = std::get_if<std::int64_t>(&one))
      out += std::to_string(*number);
    else
      out += std::get<std::string>(one);
  }
  return out + "]";
}

std::string describe_tensor(const tensor_field& t) {
  auto out = t.dtype + describe_dimensions(t.shape) + " strides " + describe_dimensions(t.strides) +
             " on " + t.device;
  if (t.layout != "strided") out += ", " + t.layout;
  if (t.requires_grad) out += ", requires grad";
  if (t.storage_bytes) out += fmt::format(", {} bytes of storage", *t.storage_bytes);
  return out;
}

// A text that stops growing soon after `limit`.
struct describer {
  std::size_t limit;

  std::string items(const key_field::list& all, std::string_view open,
                    std::string_view close) const {
    std::string out(open);
    for (const auto& one : all) {
      if (out.size() > open.size()) out += ", ";
      if (out.size() > limit) break;
      out += one.describe(limit);
    }
    return out + std::string(close);
  }
  std::string operator()(std::monostate) const { return "nil"; }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(std::int64_t i) const { return std::to_string(i); }
  std::string operator()(double d) const {
    auto text = fmt::format("{}", d);
    return text.find_first_of(".ein") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const std::string& text) const {
    return describe_text(std::string_view(text).substr(0, limit + 1));
  }
  std::string operator()(const key_field::bytes& b) const {
    std::string out = fmt::format("{} bytes ", b.raw.size());
    append_hex(out, std::string_view(b.raw).substr(0, limit / 2));
    return out;
  }
  std::string operator()(const key_field::list& l) const { return items(l, "[", "]"); }
  std::string operator()(const key_field::set& s) const { return items(s.items, "{", "}"); }
  std::string operator()(const key_field::map& m) const {
    std::string out = "{";
    for (const auto& [name, one] : m) {
      if (out.size() > 1) out += ", ";
      if (out.size() > limit) break;
      out += key_fields::member_name(name) + ": " + one.describe(limit);
    }
    return out + "}";
  }
  std::string operator()(const tensor_field& t) const { return describe_tensor(t); }
  std::string operator()(const constant_field& c) const {
    return fmt::format("{} = {} bytes {}", describe_tensor(c.tensor), c.bytes,
                       c.values.hex().substr(0, 16));
  }
  std::string operator()(const symbol_field& s) const { return s.name; }
  std::string operator()(const source_field& s) const {
    return describe_text(std::string_view(s.text).substr(0, limit + 1));
  }
  std::string operator()(const file_field& f) const {
    return fmt::format("{} bytes {}", f.bytes, f.content.hex().substr(0, 16));
  }
  std::string operator()(const tree_field& t) const {
    return fmt::format("{} files", t.files.size());
  }
  std::string operator()(const unsupported_field& u) const { return "unsupported: " + u.reason; }
};

// Cuts between characters.
std::string shortened(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  auto end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end) + "...";
}

} // namespace

key_field key_field::set_of(list items) {
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t i = 0; i < items.size(); ++i)
    order.emplace_back(encode(items[i]), i);
  std::sort(order.begin(), order.end());
  set result;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i == 0 || order[i].first != order[i - 1].first)
      result.items.push_back(std::move(items[order[i].second]));
  return key_field(std::move(result));
}

expected<key_field> key_field::source(std::string_view text, std::vector<std::string> patterns) {
  std::string left(text);
  for (const auto& pattern : patterns) {
    const RE2 compiled(pattern, RE2::Quiet);
    if (!compiled.ok())
      return fail(errc::malformed, "the pattern '" + pattern + "': " + compiled.error());
    RE2::GlobalReplace(&left, compiled, "");
  }
  return key_field(source_field{std::move(left), std::move(patterns)});
}

bool operator==(const key_field& a, const key_field& b) {
  return a.data_.index() == b.data_.index() && encode(a) == encode(b);
}

std::string_view key_field::kind() const noexcept { return kind_names[data_.index()]; }

std::string key_field::describe(std::size_t limit) const {
  return shortened(std::visit(describer{limit}, data_), limit);
}

namespace {

bool holds_unsupported(const key_field& d) {
  if (d.as<unsupported_field>()) return true;
  bool found = false;
  key_fields::each_item(d,
                        [&](const key_field& item) { found = found || holds_unsupported(item); });
  return found;
}

} // namespace

// Makes paths only if there is an unsupported field, because keys of large graphs are built on
// every lookup.
std::optional<std::pair<std::string, std::string>> find_unsupported(const key_field& d) {
  if (!holds_unsupported(d)) return std::nullopt;
  if (const auto* found = d.as<unsupported_field>()) return std::pair{std::string(), found->reason};
  std::optional<std::pair<std::string, std::string>> result;
  key_fields::each_part(d, [&](const std::string& step, const key_field& part) {
    if (result) return;
    result = find_unsupported(part);
    if (result) result->first = step + result->first;
  });
  return result;
}

} // namespace hearth
