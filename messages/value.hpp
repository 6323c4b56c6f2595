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

/// nil, bool, int (64 bits, signed), float, text, bytes, array or map with text keys.
class value {
public:
  using array = std::vector<value>;
  using map = std::map<std::string, value>;
  using storage =
      std::variant<std::monostate, bool, std::int64_t, double, std::string, binary, array, map>;

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

  const storage& data() const { return data_; }
  friend bool operator==(const value&, const value&);

private:
  storage data_;
};

/// Canonical msgpack: the shortest form of each number, maps sorted by the bytes of their keys.
/// Equal values have equal bytes.
std::string encode(const value& v);

/// Decodes exactly these bytes. Errors: `malformed` (not msgpack, bytes left over, nested deeper
/// than 64, a map key that is not text or occurs twice, an extension type), `overflow` (an integer
/// outside signed 64 bits). Lengths in the bytes are checked against the bytes present.
expected<value> decode_value(std::string_view bytes);

} // namespace hearth
