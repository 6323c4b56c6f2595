// A value that msgpack can represent: metadata, and cache values that are not raw bytes. Plain
// value; pure functions, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The maximum nesting that is encoded or decoded.
inline constexpr int max_value_depth = 64;

/// Raw bytes, distinct from text.
struct binary {
  std::string bytes;
  friend auto operator<=>(const binary&, const binary&) = default;
};

/// nil, bool, int (64 bits, signed), float, text, bytes, array or map. A map whose keys are all
/// text is a `map`, any other is a `keyed_map`.
class value {
public:
  /// The order of a keyed map: by kind (in the order of `storage`), then by value. Numbers of
  /// different kinds are different keys (1, 1.0 and true), and so are 0.0 and -0.0; every NaN is
  /// one.
  struct key_order {
    bool operator()(const value& a, const value& b) const;
  };
  using array = std::vector<value>;
  using map = std::map<std::string, value>;
  /// Keys are nil, bool, int, float, text, bytes and arrays of these.
  using keyed_map = std::map<value, value, key_order>;
  using storage = std::variant<std::monostate, bool, std::int64_t, double, std::string, binary,
                               array, map, keyed_map>;

  value() = default;
  value(bool b)
      : data_(b) {}
  value(int i)
      : data_(std::int64_t{i}) {}
  value(std::int64_t i)
      : data_(i) {}
  value(double d)
      : data_(d) {}
  value(const char* text)
      : data_(std::string(text)) {}
  value(std::string_view text)
      : data_(std::string(text)) {}
  value(std::string text)
      : data_(std::move(text)) {}
  value(binary b)
      : data_(std::move(b)) {}
  value(array a)
      : data_(std::move(a)) {}
  value(map m)
      : data_(std::move(m)) {}
  /// Becomes a `map` when all keys are text, so that equal maps are equal values.
  value(keyed_map m);

  bool is_nil() const { return std::holds_alternative<std::monostate>(data_); }
  /// The value as a `T`, or null if it has another type.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&data_);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&data_);
  }
  /// The map's member with this name, or null.
  const value* find(std::string_view name) const;
  /// The map's member with this key, or null.
  const value* find_key(const value& wanted) const;

  const storage& data() const { return data_; }
  friend bool operator==(const value&, const value&);

private:
  storage data_;
};

/// Canonical msgpack: the shortest form of each number; maps sorted, those with text keys alone by
/// the bytes of their keys, others by `value::key_order`. Equal values have equal bytes.
std::string encode(const value& v);

/// Decodes exactly these bytes. Errors: `malformed` (not msgpack, bytes left over, nested deeper
/// than 64, a map key that is or holds a map or that occurs twice, an extension type), `overflow`
/// (an integer outside signed 64 bits). Lengths in the bytes are checked against the bytes present.
expected<value> decode_value(std::string_view bytes);

} // namespace hearth
