// What a structural key is made of: typed, nested details, each with one canonical encoding.
//
// Plain values; pure functions, any thread. docs/keys.md has the encoding byte for byte, so that
// another language can compute the same key.
#pragma once

#include "messages/digest.hpp"
#include "messages/error.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hearth {

/// Deepest nesting of lists, sets and maps in a detail.
inline constexpr int max_detail_depth = 60;

/// A size that is a number or a symbol's name.
using dimension = std::variant<std::int64_t, std::string>;

/// A tensor by what a compiler sees of it: not its values, and not where in its storage it starts.
struct tensor_detail {
  std::string dtype; ///< "f32"
  std::vector<dimension> shape;
  std::vector<dimension> strides; ///< in elements
  std::string device = "cpu";
  std::string layout = "strided";
  bool requires_grad = false;
  /// For a tensor whose address is compiled in; else it says nothing about the program.
  std::optional<std::uint64_t> storage_bytes;
};

/// A tensor by all of its values, whatever their size.
struct constant_detail {
  tensor_detail tensor;
  digest values; ///< SHA-256 of their bytes
  std::uint64_t bytes = 0;
};

/// A symbolic integer, by its name.
struct symbol_detail {
  std::string name;
};

/// Program text without what matches one of the patterns, such as running indices in names.
struct source_detail {
  std::string text; ///< what is left
  std::vector<std::string> patterns;
};

/// A file's content. Its path is no part of it.
struct file_detail {
  digest content;
  std::uint64_t bytes = 0;
};

/// The files below a folder, by their paths in it.
struct tree_detail {
  std::map<std::string, file_detail> files;
};

/// What no key can hold, and why: a structure with one of these bypasses the cache.
struct unsupported_detail {
  std::string reason;
};

/// One detail. The kinds are told apart: the text "1", the number 1, the number 1.0 and `true` are
/// four different details.
class detail {
public:
  struct bytes {
    std::string raw;
  };
  using list = std::vector<detail>;
  /// Items in the order of their encodings, each once.
  struct set {
    list items;
  };
  using map = std::map<std::string, detail>;
  /// The order is that of the kinds' numbers in the encoding.
  using storage = std::variant<std::monostate, bool, std::int64_t, double, std::string, bytes, list,
                               set, map, tensor_detail, constant_detail, symbol_detail,
                               source_detail, file_detail, tree_detail, unsupported_detail>;

  detail() = default; ///< nil
  detail(bool b)
      : data_(b) {}
  detail(std::int64_t number)
      : data_(number) {}
  detail(double number)
      : data_(number) {}
  detail(std::string text)
      : data_(std::move(text)) {}
  detail(bytes raw)
      : data_(std::move(raw)) {}
  detail(list items)
      : data_(std::move(items)) {}
  detail(map members)
      : data_(std::move(members)) {}
  detail(tensor_detail tensor)
      : data_(std::move(tensor)) {}
  detail(constant_detail constant)
      : data_(std::move(constant)) {}
  detail(symbol_detail symbol)
      : data_(std::move(symbol)) {}
  detail(file_detail file)
      : data_(std::move(file)) {}
  detail(tree_detail tree)
      : data_(std::move(tree)) {}
  detail(unsupported_detail why)
      : data_(std::move(why)) {}
  detail(int number)
      : data_(std::int64_t{number}) {}
  detail(const char* text)
      : data_(std::string(text)) {}
  detail(std::string_view text)
      : data_(std::string(text)) {}

  /// A set: order and repetition of `items` do not matter.
  static detail set_of(list items);
  /// Text without all that matches one of the patterns (RE2's syntax), one after the other.
  /// Errors: `malformed`, a pattern that is none.
  static expected<detail> source(std::string_view text, std::vector<std::string> patterns = {});

  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&data_);
  }
  const storage& data() const noexcept { return data_; }

  /// "text", "int", "tensor", ...
  std::string_view kind() const noexcept;
  /// For people, in one line of at most about `limit` bytes: `"relu"`, `[1, 2, ...]`,
  /// `f32[2, s0] on cuda:0`.
  std::string describe(std::size_t limit = 80) const;

  /// Whether they have the same encoding: 0.0 and -0.0 are two, every NaN is one.
  friend bool operator==(const detail& a, const detail& b);

private:
  friend class detail_reader;
  explicit detail(source_detail source)
      : data_(std::move(source)) {}
  explicit detail(set items)
      : data_(std::move(items)) {}

  storage data_;
};

/// The canonical encoding (docs/keys.md): equal details have equal bytes, different ones different.
std::string encode(const detail& d);

/// The detail of exactly these bytes. Errors: `malformed`, also for bytes that are not canonical.
expected<detail> decode_detail(std::string_view bytes);

/// The first place, in canonical order, of something unsupported: its path and the reason.
std::optional<std::pair<std::string, std::string>> find_unsupported(const detail& d);

} // namespace hearth
