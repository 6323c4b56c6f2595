// The canonical encoding of key fields, as described in docs/keys.md.
#include "messages/key_field.hpp"
#include "messages/pack.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <msgpack.hpp>

namespace hearth {
namespace {

void pack_sizes(packer& out, const std::vector<dimension>& sizes) {
  out.pack_array(static_cast<std::uint32_t>(sizes.size()));
  for (const auto& one : sizes) {
    if (const auto* number = std::get_if<std::int64_t>(&one))
      out.pack(*number);
    else
      pack_text(out, std::get<std::string>(one));
  }
}

void pack_field(msgpack::sbuffer& buffer, const key_field& d);

// Writes the array's size, the kind's number and the parts.
struct field_packer {
  msgpack::sbuffer& buffer;
  std::size_t kind;
  packer out{buffer};

  void begin(std::size_t parts) {
    out.pack_array(static_cast<std::uint32_t>(1 + parts));
    out.pack(kind);
  }
  void tensor(const tensor_field& t) {
    pack_text(out, t.dtype);
    pack_sizes(out, t.shape);
    pack_sizes(out, t.strides);
    pack_text(out, t.device);
    pack_text(out, t.layout);
    out.pack(t.requires_grad);
    if (t.storage_bytes)
      out.pack(*t.storage_bytes);
    else
      out.pack_nil();
  }
  void operator()(std::monostate) { begin(0); }
  void operator()(bool b) { begin(1), out.pack(b); }
  void operator()(std::int64_t i) { begin(1), out.pack(i); }
  void operator()(double d) {
    begin(1);
    pack_real(buffer, std::isnan(d) ? std::numeric_limits<double>::quiet_NaN() : d);
  }
  void operator()(const std::string& text) { begin(1), pack_text(out, text); }
  void operator()(const key_field::bytes& b) { begin(1), pack_bytes(out, b.raw); }
  void operator()(const key_field::list& items) {
    begin(items.size());
    for (const auto& item : items)
      pack_field(buffer, item);
  }
  void operator()(const key_field::set& s) { (*this)(s.items); }
  void operator()(const key_field::map& members) {
    begin(2 * members.size());
    for (const auto& [name, member] : members) {
      pack_text(out, name);
      pack_field(buffer, member);
    }
  }
  void operator()(const tensor_field& t) { begin(7), tensor(t); }
  void operator()(const constant_field& c) {
    begin(9);
    tensor(c.tensor);
    pack_bytes(out, c.values.view());
    out.pack(c.bytes);
  }
  void operator()(const symbol_field& s) { begin(1), pack_text(out, s.name); }
  void operator()(const source_field& s) {
    begin(1 + s.patterns.size());
    pack_text(out, s.text);
    for (const auto& pattern : s.patterns)
      pack_text(out, pattern);
  }
  void operator()(const file_field& f) {
    begin(2);
    pack_bytes(out, f.content.view());
    out.pack(f.bytes);
  }
  void operator()(const tree_field& t) {
    begin(3 * t.files.size());
    for (const auto& [path, one] : t.files) {
      pack_text(out, path);
      pack_bytes(out, one.content.view());
      out.pack(one.bytes);
    }
  }
  void operator()(const unsupported_field& u) { begin(1), pack_text(out, u.reason); }
};

void pack_field(msgpack::sbuffer& buffer, const key_field& d) {
  std::visit(field_packer{buffer, d.data().index()}, d.data());
}

// Takes the parts of an array in turn; after the first wrong part every call fails.
class parts {
public:
  explicit parts(const value& v) {
    if (const auto* array = v.as<value::array>())
      items_ = array;
    else
      good_ = false;
  }

  bool good() const { return good_; }
  bool more() const { return good_ && at_ < items_->size(); }
  const value& next() {
    static const value none;
    if (!more()) return good_ = false, none;
    return (*items_)[at_++];
  }
  template <class T>
  T take() {
    const auto* found = next().as<T>();
    if (!found) good_ = false;
    return found ? *found : T{};
  }
  digest take_digest() {
    const auto found = digest::of_bytes(take<binary>().bytes);
    if (!found) good_ = false;
    return found.value_or(digest{});
  }
  std::uint64_t take_size() {
    const auto size = take<std::int64_t>();
    if (size < 0) good_ = false;
    return static_cast<std::uint64_t>(size);
  }
  std::vector<dimension> take_sizes() {
    std::vector<dimension> result;
    parts sizes(next());
    good_ = good_ && sizes.good();
    while (sizes.more()) {
      const auto& one = sizes.next();
      if (const auto* number = one.as<std::int64_t>())
        result.emplace_back(*number);
      else if (const auto* name = one.as<std::string>())
        result.emplace_back(*name);
      else
        return good_ = false, result;
    }
    return result;
  }
  tensor_field take_tensor() {
    tensor_field t;
    t.dtype = take<std::string>();
    t.shape = take_sizes();
    t.strides = take_sizes();
    t.device = take<std::string>();
    t.layout = take<std::string>();
    t.requires_grad = take<bool>();
    const auto& storage = next();
    const auto* size = storage.as<std::int64_t>();
    if (size && *size >= 0)
      t.storage_bytes = static_cast<std::uint64_t>(*size);
    else if (!storage.is_nil())
      good_ = false;
    return t;
  }

private:
  const value::array* items_ = nullptr;
  std::size_t at_ = 0;
  bool good_ = true;
};

} // namespace

// Builds fields from values; a wrong value sets `good` to false.
class key_field_reader {
public:
  bool good = true;

  key_field read(const value& v) {
    parts from(v);
    const auto kind = from.take<std::int64_t>();
    auto result = read_kind(kind, from);
    good = good && from.good() && !from.more();
    return result;
  }

private:
  key_field read_kind(std::int64_t kind, parts& from) {
    switch (kind) {
    case 0: return {};
    case 1: return from.take<bool>();
    case 2: return from.take<std::int64_t>();
    case 3: return from.take<double>();
    case 4: return from.take<std::string>();
    case 5: return key_field::bytes{from.take<binary>().bytes};
    case 6: return read_items(from);
    case 7: return key_field::set_of(read_items(from));
    case 8: return read_members(from);
    case 9: return from.take_tensor();
    case 10: {
      auto tensor = from.take_tensor();
      const auto values = from.take_digest();
      return constant_field{std::move(tensor), values, from.take_size()};
    }
    case 11: return symbol_field{from.take<std::string>()};
    case 12: return key_field(read_source(from));
    case 13: {
      const auto content = from.take_digest();
      return file_field{content, from.take_size()};
    }
    case 14: return read_tree(from);
    case 15: return unsupported_field{from.take<std::string>()};
    default: good = false; return {};
    }
  }

  key_field::list read_items(parts& from) {
    key_field::list items;
    while (from.more())
      items.push_back(read(from.next()));
    return items;
  }

  key_field::map read_members(parts& from) {
    key_field::map members;
    while (from.more()) {
      auto name = from.take<std::string>();
      members.insert_or_assign(std::move(name), read(from.next()));
    }
    return members;
  }

  static source_field read_source(parts& from) {
    source_field source{from.take<std::string>(), {}};
    while (from.more())
      source.patterns.push_back(from.take<std::string>());
    return source;
  }

  static tree_field read_tree(parts& from) {
    tree_field tree;
    while (from.more()) {
      auto path = from.take<std::string>();
      auto& file = tree.files[std::move(path)];
      file.content = from.take_digest();
      file.bytes = from.take_size();
    }
    return tree;
  }
};

std::string encode(const key_field& d) {
  msgpack::sbuffer buffer;
  pack_field(buffer, d);
  return {buffer.data(), buffer.size()};
}

expected<key_field> decode_field(std::string_view bytes) {
  const auto outer = decode_value(bytes);
  if (!outer) return fail(outer.error().within("details"));
  key_field_reader reader;
  auto result = reader.read(*outer);
  if (!reader.good || encode(result) != bytes)
    return fail(errc::malformed, "details: not canonical");
  return result;
}

} // namespace hearth
