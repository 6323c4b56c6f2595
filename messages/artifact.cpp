#include "messages/artifact.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace hearth {
namespace {

constexpr auto time_member = "time_taken_ns";
// How metadata begins that has no other member: a map of one, and a text of 13 bytes.
constexpr std::string_view time_alone = "\x81\xad"
                                        "time_taken_ns";

std::chrono::nanoseconds time_of(const value* stored) {
  const auto* const time = stored ? stored->as<std::int64_t>() : nullptr;
  return std::chrono::nanoseconds(time ? std::max<std::int64_t>(*time, 0) : 0);
}

} // namespace

artifact_body* artifact_body::allocate(std::uint32_t metadata_size,
                                       std::uint64_t payload_size) noexcept {
  static_assert(sizeof(artifact_body) <= header_size);
  if (payload_size > max_payload_bytes || metadata_size > max_metadata_bytes) return nullptr;
  const auto bytes = header_size + payload_offset(metadata_size) + payload_size;
  void* memory = std::malloc(bytes);
  return memory ? new (memory) artifact_body(metadata_size, payload_size) : nullptr;
}

std::size_t artifact_body::allocated_bytes() const noexcept {
  return header_size + payload_offset(metadata_size_) + payload_size_;
}

void artifact_body::destroy() const noexcept {
  this->~artifact_body();
  std::free(const_cast<artifact_body*>(this)); // NOLINT: allocated by malloc above
}

artifact artifact::make(std::string_view payload, std::string_view metadata) {
  auto* body = artifact_body::allocate(static_cast<std::uint32_t>(metadata.size()), payload.size());
  if (!body) throw std::bad_alloc{};
  if (!metadata.empty()) std::memcpy(body->metadata_data(), metadata.data(), metadata.size());
  if (!payload.empty()) std::memcpy(body->payload_data(), payload.data(), payload.size());
  return adopt(body);
}

artifact artifact::make(std::string_view payload, const value::map& metadata) {
  return make(payload, metadata.empty() ? std::string{} : encode(value{metadata}));
}

expected<value::map> artifact::metadata() const {
  if (metadata_bytes().empty()) return value::map{};
  auto decoded = decode_value(metadata_bytes());
  if (!decoded) return fail(decoded.error().within("metadata"));
  auto* members = decoded->as<value::map>();
  if (!members) return fail(errc::malformed, "metadata: not a map");
  return std::move(*members);
}

std::chrono::nanoseconds time_taken(const artifact& made) {
  const auto bytes = made.metadata_bytes();
  if (bytes.starts_with(time_alone)) { // nearly always; a map need not be made
    const auto time = decode_value(bytes.substr(time_alone.size()));
    return time_of(time ? &*time : nullptr);
  }
  const auto members = made.metadata();
  if (!members) return {};
  const auto at = members->find(time_member);
  return time_of(at == members->end() ? nullptr : &at->second);
}

artifact with_time_taken(artifact made, std::chrono::nanoseconds time) {
  auto members = made.metadata();
  if (!members || !members->try_emplace(time_member, std::int64_t{time.count()}).second)
    return made;
  return artifact::make(made.payload(), *members);
}

} // namespace hearth
