// A named cache of C++ values: keys and values of any type that msgpack knows, or that has
// MSGPACK_DEFINE. Any number of threads may share one. The only public header that includes
// msgpack.
//
//   struct tuning { int tile; double ms; MSGPACK_DEFINE(tile, ms) };
//   hearth::typed_cache<std::string, tuning> tunings(rt.open("tunings").value());
//   tunings.insert("matmul", {.tile = 32, .ms = 1.5});
//   if (auto found = tunings.get("matmul"); found && *found) use(**found);
#pragma once

#include "messages/key.hpp"
#include "messages/value.hpp"
#include "messages/visibility.hpp"
#include "runtime/api/mapped_future.hpp"
#include "runtime/handle/cache.hpp"

#include <cstdint>
#include <exception>
#include <msgpack.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace HEARTH_PUBLIC hearth {

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
error value_mismatch(const cache& in, const key& k, std::string_view type, const error& why);

/// The name of a type, as the compiler writes it; needs no RTTI.
template <class T>
constexpr std::string_view type_name() noexcept {
  std::string_view text = __PRETTY_FUNCTION__; // "... [with T = int; std::string_view = ...]"
  const auto begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

/// What `typed_cache::lookup_or_compile` tells: as `compile_outcome`.
template <class Value>
struct typed_outcome {
  Value value;
  tier from = tier::none;
  bool compiled = false, waited = false;
  std::chrono::nanoseconds time_saved{0};

  bool hit() const noexcept { return from != tier::none; }
};

/// The calls of `cache`, with keys and values of C++. Errors: those of the call of `cache`;
/// `malformed` for a stored value that is no `Value`; `invalid_key`.
template <class Key, class Value>
class typed_cache {
public:
  using found_value = std::optional<Value>; ///< empty on a miss
  using found_list = std::vector<expected<found_value>>;
  using outcome = typed_outcome<Value>;
  using compile = compile_callback<Value>;

  /// An empty handle, to be assigned. Its calls return `invalid_argument`.
  typed_cache() noexcept = default;
  explicit typed_cache(cache over)
      : cache_(std::move(over)) {}
  explicit operator bool() const noexcept { return static_cast<bool>(cache_); }

  /// A stored nil is a hit: let `Value` be optional, then a hit is an optional in an optional.
  expected<found_value> get(const Key& k, const call_options& options = {}) const;
  future<found_value> get_async(const Key& k, const call_options& options = {}) const;

  /// In the order of the keys.
  found_list get_many(std::span<const Key> keys, const call_options& options = {}) const;
  future<found_list> get_many_async(std::span<const Key> keys,
                                    const call_options& options = {}) const;

  expected<insert_outcome> insert(const Key& k, const Value& v,
                                  const call_options& options = {}) const;
  future<insert_outcome> insert_async(const Key& k, const Value& v,
                                      const call_options& options = {}) const;
  expected<void> put(const Key& k, const Value& v, const call_options& options = {}) const;
  future<done> put_async(const Key& k, const Value& v, const call_options& options = {}) const;
  expected<bool> erase(const Key& k, const call_options& options = {}) const;
  future<bool> erase_async(const Key& k, const call_options& options = {}) const;

  expected<Value> get_or_compile(const Key& k, const compile& make,
                                 const call_options& options = {}) const;
  future<Value> get_or_compile_async(const Key& k, compile make,
                                     const call_options& options = {}) const;
  expected<outcome> lookup_or_compile(const Key& k, const compile& make,
                                      const call_options& options = {}) const;
  future<outcome> lookup_or_compile_async(const Key& k, compile make,
                                          const call_options& options = {}) const;

  cache_counts counts() const noexcept { return cache_.counts(); }
  std::chrono::nanoseconds time_saved() const noexcept { return cache_.time_saved(); }
  const cache& untyped() const noexcept { return cache_; }

private:
  static artifact stored(const Value& v) { return artifact::make(msgpack_codec<Value>::encode(v)); }
  expected<Value> loaded(const key& k, const artifact& from) const {
    auto decoded = msgpack_codec<Value>::decode(from.payload());
    if (!decoded) return fail(value_mismatch(cache_, k, type_name<Value>(), decoded.error()));
    return decoded;
  }
  expected<found_value> answer(const key& k, const expected<lookup>& found) const;
  expected<outcome> answer(const key& k, const expected<compile_outcome>& made) const;

  // The keys that can be made, and where their answers go.
  struct made_keys {
    std::vector<key> keys;
    std::vector<std::size_t> positions;
    found_list answers; // the errors of the others
  };
  static made_keys make_keys(std::span<const Key> keys);
  found_list answers(made_keys asked, const lookup_list& found) const;

  // Calls `make` for the untyped cache.
  static auto untyped_callback(const compile& make) {
    return [&make](const std::stop_token& stop) { return stored_outcome(make(stop)); };
  }
  static expected<artifact> stored_outcome(const expected<Value>& made) {
    if (!made) return fail(made.error());
    return stored(*made);
  }

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
auto typed_cache<Key, Value>::answer(const key& k, const expected<lookup>& found) const
    -> expected<found_value> {
  if (!found) return fail(found.error());
  if (!found->hit()) return found_value();
  auto v = loaded(k, found->value);
  if (!v) return fail(v.error());
  return found_value(std::move(*v));
}

template <class Key, class Value>
auto typed_cache<Key, Value>::answer(const key& k, const expected<compile_outcome>& made) const
    -> expected<outcome> {
  if (!made) return fail(made.error());
  auto v = loaded(k, made->value);
  if (!v) return fail(v.error());
  return outcome{std::move(*v), made->from, made->compiled, made->waited, made->time_saved()};
}

// --- get ---------------------------------------------------------------------------------------

template <class Key, class Value>
auto typed_cache<Key, Value>::get(const Key& k, const call_options& options) const
    -> expected<found_value> {
  const auto made = make_key(k);
  if (!made) return fail(made.error());
  return answer(*made, cache_.get(*made, options));
}

template <class Key, class Value>
auto typed_cache<Key, Value>::get_async(const Key& k, const call_options& options) const
    -> future<found_value> {
  const auto made = make_key(k);
  if (!made) return expected<found_value>(fail(made.error()));
  return mapped<found_value>(
      cache_.get_async(*made, options),
      [self = *this, at = *made](const expected<lookup>& found) { return self.answer(at, found); });
}

template <class Key, class Value>
auto typed_cache<Key, Value>::make_keys(std::span<const Key> keys) -> made_keys {
  made_keys all;
  for (const auto& k : keys) {
    auto made = make_key(k);
    all.answers.push_back(found_value());
    if (!made) {
      all.answers.back() = fail(made.error());
      continue;
    }
    all.positions.push_back(all.answers.size() - 1);
    all.keys.push_back(std::move(*made));
  }
  return all;
}

template <class Key, class Value>
auto typed_cache<Key, Value>::answers(made_keys asked, const lookup_list& found) const
    -> found_list {
  for (std::size_t i = 0; i < found.size(); ++i)
    asked.answers[asked.positions[i]] = answer(asked.keys[i], found[i]);
  return std::move(asked.answers);
}

template <class Key, class Value>
auto typed_cache<Key, Value>::get_many(std::span<const Key> keys, const call_options& options) const
    -> found_list {
  auto made = make_keys(keys);
  const auto found = cache_.get_many(made.keys, options);
  return answers(std::move(made), found);
}

template <class Key, class Value>
auto typed_cache<Key, Value>::get_many_async(std::span<const Key> keys,
                                             const call_options& options) const
    -> future<found_list> {
  auto made = make_keys(keys);
  auto found = cache_.get_many_async(made.keys, options);
  return mapped<found_list>(std::move(found),
                            [self = *this, made = std::move(made)](
                                const expected<lookup_list>& all) mutable -> expected<found_list> {
                              if (!all) return fail(all.error());
                              return self.answers(std::move(made), *all);
                            });
}

// --- insert, put, erase ------------------------------------------------------------------------

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
future<done> typed_cache<Key, Value>::put_async(const Key& k, const Value& v,
                                                const call_options& options) const {
  const auto made = make_key(k);
  if (!made) return expected<done>(fail(made.error()));
  return cache_.put_async(*made, stored(v), options);
}

template <class Key, class Value>
expected<bool> typed_cache<Key, Value>::erase(const Key& k, const call_options& options) const {
  const auto made = make_key(k);
  if (!made) return fail(made.error());
  return cache_.erase(*made, options);
}

template <class Key, class Value>
future<bool> typed_cache<Key, Value>::erase_async(const Key& k, const call_options& options) const {
  const auto made = make_key(k);
  if (!made) return expected<bool>(fail(made.error()));
  return cache_.erase_async(*made, options);
}

// --- get or compile ----------------------------------------------------------------------------

template <class Key, class Value>
auto typed_cache<Key, Value>::lookup_or_compile(const Key& k, const compile& make,
                                                const call_options& options) const
    -> expected<outcome> {
  const auto made = make_key(k);
  if (!made) return fail(made.error());
  return answer(*made, cache_.lookup_or_compile(*made, untyped_callback(make), options));
}

template <class Key, class Value>
auto typed_cache<Key, Value>::lookup_or_compile_async(const Key& k, compile make,
                                                      const call_options& options) const
    -> future<outcome> {
  const auto made = make_key(k);
  if (!made) return expected<outcome>(fail(made.error()));
  auto make_stored = [make = std::move(make)](const std::stop_token& stop) {
    return stored_outcome(make(stop));
  };
  return mapped<outcome>(cache_.lookup_or_compile_async(*made, std::move(make_stored), options),
                         [self = *this, at = *made](const expected<compile_outcome>& found) {
                           return self.answer(at, found);
                         });
}

template <class Key, class Value>
expected<Value> typed_cache<Key, Value>::get_or_compile(const Key& k, const compile& make,
                                                        const call_options& options) const {
  auto made = lookup_or_compile(k, make, options);
  if (!made) return fail(made.error());
  return std::move(made->value);
}

template <class Key, class Value>
future<Value> typed_cache<Key, Value>::get_or_compile_async(const Key& k, compile make,
                                                            const call_options& options) const {
  return mapped<Value>(lookup_or_compile_async(k, std::move(make), options),
                       [](expected<outcome> made) -> expected<Value> {
                         if (!made) return fail(made.error());
                         return std::move(made->value);
                       });
}

} // namespace hearth
