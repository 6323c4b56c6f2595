// The fields of structural keys: typed and nested, each with one canonical encoding. The "details"
// of a key are its top-level map of fields.
//
// Plain values; pure functions, any thread. docs/keys.md has the encoding byte for byte, so that
// another language can compute the same key.
#pragma once

#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The maximum nesting of lists, sets and maps in a field.
inline constexpr int max_field_depth = 60;

/// A size: a number or a symbol's name.
using dimension = std::variant<std::int64_t, std::string>;

/// A tensor by the properties that a compiler sees: neither its values nor its offset in its
/// storage.
struct tensor_field {
  std::string dtype; ///< "f32"
  std::vector<dimension> shape;
  std::vector<dimension> strides; ///< in elements
  std::string device = "cpu";
  std::string layout = "strided";
  bool requires_grad = false;
  /// Set only for a tensor whose address is compiled in; otherwise it does not affect the program.
  std::optional<std::uint64_t> storage_bytes;
};

/// A tensor with all its values, of any size.
struct constant_field {
  tensor_field tensor;
  digest values; ///< SHA-256 of the values' bytes
  std::uint64_t bytes = 0;
};

/// A symbolic integer, by its name.
struct symbol_field {
  std::string name;
};

/// Program text without the matches of the patterns, such as running indices in names.
struct source_field {
  std::string text; ///< the text without the matches
  std::vector<std::string> patterns;
};

/// A file's content, without its path.
struct file_field {
  digest content;
  std::uint64_t bytes = 0;
};

/// The files below a folder, by their paths in it.
struct tree_field {
  std::map<std::string, file_field> files;
};

/// A value that no key can hold, and the reason; details with such a value bypass the cache.
struct unsupported_field {
  std::string reason;
};

/// One field. Kinds are distinct: the text "1", the number 1, the number 1.0 and `true` are four
/// different fields.
class key_field {
public:
  struct bytes {
    std::string raw;
  };
  using list = std::vector<key_field>;
  /// Items in the order of their encodings, each once.
  struct set {
    list items;
  };
  using map = std::map<std::string, key_field>;
  /// The order is that of the kinds' numbers in the encoding.
  using storage = std::variant<std::monostate, bool, std::int64_t, double, std::string, bytes, list,
                               set, map, tensor_field, constant_field, symbol_field, source_field,
                               file_field, tree_field, unsupported_field>;

  key_field() = default; ///< nil
  key_field(bool b)
      : data_(b) {}
  key_field(std::int64_t number)
      : data_(number) {}
  key_field(double number)
      : data_(number) {}
  key_field(std::string text)
      : data_(std::move(text)) {}
  key_field(bytes raw)
      : data_(std::move(raw)) {}
  key_field(list items)
      : data_(std::move(items)) {}
  key_field(map members)
      : data_(std::move(members)) {}
  key_field(tensor_field tensor)
      : data_(std::move(tensor)) {}
  key_field(constant_field constant)
      : data_(std::move(constant)) {}
  key_field(symbol_field symbol)
      : data_(std::move(symbol)) {}
  key_field(file_field file)
      : data_(std::move(file)) {}
  key_field(tree_field tree)
      : data_(std::move(tree)) {}
  key_field(unsupported_field why)
      : data_(std::move(why)) {}
  key_field(int number)
      : data_(std::int64_t{number}) {}
  key_field(const char* text)
      : data_(std::string(text)) {}
  key_field(std::string_view text)
      : data_(std::string(text)) {}

  /// A set: order and repetition of `items` do not matter.
  static key_field set_of(list items);
  /// Text from which the matches of the patterns (RE2's syntax) are removed, one pattern after the
  /// other. Errors: `malformed` for an invalid pattern.
  static expected<key_field> source(std::string_view text, std::vector<std::string> patterns = {});

  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&data_);
  }
  const storage& data() const noexcept { return data_; }

  /// "text", "int", "tensor", ...
  std::string_view kind() const noexcept;
  /// For display, in one line of about `limit` bytes at most: `"relu"`, `[1, 2, ...]`, `f32[2, s0]
  /// on cuda:0`.
  std::string describe(std::size_t limit = 80) const;

  /// Whether the encodings are equal: 0.0 and -0.0 differ, every NaN is the same.
  friend bool operator==(const key_field& a, const key_field& b);

private:
  friend class key_field_reader;
  explicit key_field(source_field source)
      : data_(std::move(source)) {}
  explicit key_field(set items)
      : data_(std::move(items)) {}

  storage data_;
};

/// The canonical encoding (docs/keys.md): equal fields have equal bytes, different fields different
/// bytes.
std::string encode(const key_field& d);

/// Decodes exactly these bytes. Errors: `malformed`, also for bytes that are not canonical.
expected<key_field> decode_field(std::string_view bytes);

/// The path and reason of the first unsupported field, in canonical order.
std::optional<std::pair<std::string, std::string>> find_unsupported(const key_field& d);

} // namespace hearth
