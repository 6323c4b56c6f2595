// A named cache of C++ values: keys and values of any type that msgpack knows, or that has
// MSGPACK_DEFINE. Any number of threads may share one. The only public header that includes
// msgpack.
//
//   struct tuning { int tile; double ms; MSGPACK_DEFINE(tile, ms) };
//   hearth::typed_cache<std::string, tuning> tunings(*rt.open("tunings", {.version = "1"}));
//   tunings.insert("matmul", {.tile = 32, .ms = 1.5});
//   if (auto found = tunings.get("matmul"); found && *found) use(**found);
#pragma once

#include "messages/key.hpp"
#include "messages/value.hpp"
#include "runtime/handle/cache.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace hearth {

/// Converts a type to msgpack and back. Specialise it for types that msgpack does not know.
template <class T>
struct msgpack_codec {
  static std::string encode(const T& object) {
    msgpack::sbuffer buffer;
    msgpack::pack(buffer, object);
    return {buffer.data(), buffer.size()};
  }
  /// Errors: `malformed`, also for a length that exceeds the bytes.
  static expected<T> decode(std::string_view bytes);
};

template <>
struct msgpack_codec<value> {
  static std::string encode(const value& v) { return hearth::encode(v); }
  static expected<value> decode(std::string_view bytes) { return decode_value(bytes); }
};

/// Converts a value to a key: its msgpack must be that of a str, int, bin or array of keys. Errors:
/// `invalid_key`.
template <class T>
expected<key> make_key(const T& object) {
  return key::decode(msgpack_codec<T>::encode(object));
}
inline expected<key> make_key(const key& k) { return k; }
inline expected<key> make_key(const std::string& text) { return key(text); }

/// The error for a stored value of another type: names the cache, key and type.
error value_mismatch(const cache& in, const key& k, const std::type_info& type, const error& why);

template <class Key, class Value>
class typed_cache {
public:
  using compile = std::function<expected<Value>()>;

  explicit typed_cache(cache over)
      : cache_(std::move(over)) {}

  /// The value, or empty on a miss (a stored nil is a hit: let `Value` be optional). Errors: those
  /// of `cache::get`; `malformed` for a value that is no `Value`; `invalid_key`.
  expected<std::optional<Value>> get(const Key& k, const call_options& options = {}) const;
  future<std::optional<Value>> get_async(const Key& k, const call_options& options = {}) const;

  expected<insert_outcome> insert(const Key& k, const Value& v,
                                  const call_options& options = {}) const;
  future<insert_outcome> insert_async(const Key& k, const Value& v,
                                      const call_options& options = {}) const;
  expected<void> put(const Key& k, const Value& v, const call_options& options = {}) const;
  expected<bool> erase(const Key& k, const call_options& options = {}) const;

  /// As `cache::get_or_compile`.
  expected<Value> get_or_compile(const Key& k, const compile& make,
                                 const call_options& options = {}) const;

  const cache& untyped() const noexcept { return cache_; }

private:
  static artifact stored(const Value& v) { return artifact::make(msgpack_codec<Value>::encode(v)); }
  expected<Value> loaded(const key& k, const artifact& from) const {
    auto decoded = msgpack_codec<Value>::decode(from.payload());
    if (!decoded) return fail(value_mismatch(cache_, k, typeid(Value), decoded.error()));
    return decoded;
  }
  expected<std::optional<Value>> answer(const key& k, const expected<lookup>& found) const;

  cache cache_;
};

template <class T>
expected<T> msgpack_codec<T>::decode(std::string_view bytes) {
  try {
    const auto max_bytes = bytes.size();
    const msgpack::unpack_limit limit(max_bytes, max_bytes, max_bytes, max_bytes, max_bytes,
                                      max_value_depth);
    std::size_t end = 0;
    const auto object = msgpack::unpack(bytes.data(), bytes.size(), end, nullptr, nullptr, limit);
    if (end != bytes.size())
      return fail(errc::malformed, std::to_string(bytes.size() - end) + " bytes are left over");
    return object->template as<T>();
  } catch (const msgpack::type_error&) {
    return fail(errc::malformed, "it has other parts");
  } catch (const std::exception& e) {
    return fail(errc::malformed, e.what());
  }
}

template <class Key, class Value>
expected<std::optional<Value>>
typed_cache<Key, Value>::answer(const key& k, const expected<lookup>& found) const {
  if (!found) return fail(found.error());
  if (!found->hit()) return std::optional<Value>();
  auto v = loaded(k, found->value);
  if (!v) return fail(v.error());
  return std::optional<Value>(std::move(*v));
}

template <class Key, class Value>
expected<std::optional<Value>> typed_cache<Key, Value>::get(const Key& k,
                                                            const call_options& options) const {
  const auto made = make_key(k);
  if (!made) return fail(made.error());
  return answer(*made, cache_.get(*made, options));
}

template <class Key, class Value>
future<std::optional<Value>> typed_cache<Key, Value>::get_async(const Key& k,
                                                                const call_options& options) const {
  using result = expected<std::optional<Value>>;
  const auto made = make_key(k);
  if (!made) return result(fail(made.error()));
  auto found = cache_.get_async(*made, options);
  if (found.ready()) return answer(*made, found.get());
  auto state = std::make_shared<completion_state<std::optional<Value>>>();
  found.then([self = *this, at = *made, waiting = completion<std::optional<Value>>(state)](
                 expected<lookup> came) { waiting.deliver(self.answer(at, came)); });
  return future<std::optional<Value>>(std::move(state));
}

template <class Key, class Value>
expected<insert_outcome> typed_cache<Key, Value>::insert(const Key& k, const Value& v,
                                                         const call_options& options) const {
  return insert_async(k, v, options).get();
}

template <class Key, class Value>
future<insert_outcome> typed_cache<Key, Value>::insert_async(const Key& k, const Value& v,
                                                             const call_options& options) const {
  const auto made = make_key(k);
  if (!made) return expected<insert_outcome>(fail(made.error()));
  return cache_.insert_async(*made, stored(v), options);
}

template <class Key, class Value>
expected<void> typed_cache<Key, Value>::put(const Key& k, const Value& v,
                                            const call_options& options) const {
  const auto made = make_key(k);
  if (!made) return fail(made.error());
  return cache_.put(*made, stored(v), options);
}

template <class Key, class Value>
expected<bool> typed_cache<Key, Value>::erase(const Key& k, const call_options& options) const {
  const auto made = make_key(k);
  if (!made) return fail(made.error());
  return cache_.erase(*made, options);
}

template <class Key, class Value>
expected<Value> typed_cache<Key, Value>::get_or_compile(const Key& k, const compile& make,
                                                        const call_options& options) const {
  const auto made = make_key(k);
  if (!made) return fail(made.error());
  const auto binary = cache_.get_or_compile(
      *made,
      [&]() -> expected<artifact> {
        auto v = make();
        if (!v) return fail(v.error());
        return stored(*v);
      },
      options);
  if (!binary) return fail(binary.error());
  return loaded(*made, *binary);
}

} // namespace hearth
