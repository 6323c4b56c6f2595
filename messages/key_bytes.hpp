// The bytes of a key in messages: stored in place if they are few, since keys are copied from actor
// to actor. Plain value, any thread.
#pragma once

#include "messages/visibility.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace HEARTH_PUBLIC hearth {

class key_bytes {
public:
  /// This many bytes need no allocation: enough for a digest's text as msgpack, and for most names.
  static constexpr std::size_t in_place = 64;

  key_bytes() = default;
  key_bytes(std::string_view bytes)
      : size_(bytes.size()) {
    if (size_ > in_place) far_ = std::make_unique_for_overwrite<char[]>(size_);
    std::copy(bytes.begin(), bytes.end(), far_ ? far_.get() : near_.data());
  }
  key_bytes(const key_bytes& other)
      : key_bytes(std::string_view(other)) {}
  key_bytes(key_bytes&& other) noexcept
      : near_(other.near_)
      , far_(std::move(other.far_))
      , size_(std::exchange(other.size_, 0)) {}
  key_bytes& operator=(key_bytes other) noexcept {
    near_ = other.near_;
    far_ = std::move(other.far_);
    size_ = other.size_;
    return *this;
  }
  ~key_bytes() = default;

  const char* data() const noexcept { return far_ ? far_.get() : near_.data(); }
  std::size_t size() const noexcept { return size_; }
  operator std::string_view() const noexcept { return {data(), size_}; }

  friend bool operator==(const key_bytes& a, const key_bytes& b) noexcept {
    return std::string_view(a) == std::string_view(b);
  }

private:
  std::array<char, in_place> near_; // the first `size_` bytes are used, unless `far_` is set
  std::unique_ptr<char[]> far_;
  std::size_t size_ = 0;
};

} // namespace hearth
