#include "runtime/server/entries/hash_fields.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

namespace hearth::server {
namespace {

// The member of an entry's metadata that names its type; a string has none.
constexpr std::string_view type_member = "serve_type";
constexpr std::string_view hash_type = "hash";

constexpr std::size_t length_bytes = 4;
constexpr std::size_t head_bytes = 2 * length_bytes;

std::uint32_t read_length(std::string_view bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;)
    length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  return length;
}

void append_length(std::string& to, std::size_t length) {
  for (std::size_t i = 0; i < length_bytes; ++i)
    to += static_cast<char>(length >> (8 * i) & 0xff);
}

std::uint64_t bytes_of(const hash_field& field) {
  return head_bytes + field.name.size() + field.bytes.size();
}

} // namespace

std::string_view to_string(entry_type type) noexcept {
  return type == entry_type::hash ? hash_type : "string";
}

entry_type type_in(std::string_view metadata) {
  // Most entries have no metadata, or an expiry and no more.
  if (metadata.find(type_member) == std::string_view::npos) return entry_type::string;
  const auto members = artifact::make({}, metadata).metadata();
  if (!members) return entry_type::string;
  const auto found = members->find(std::string(type_member));
  const auto* const text = found == members->end() ? nullptr : found->second.as<std::string>();
  return text && *text == hash_type ? entry_type::hash : entry_type::string;
}

std::optional<hash_fields> hash_fields::read(std::string_view payload) {
  hash_fields made;
  made.bytes_ = payload.size();
  while (!payload.empty()) {
    if (payload.size() < head_bytes) return std::nullopt;
    const std::uint64_t name = read_length(payload);
    const std::uint64_t bytes = read_length(payload.substr(length_bytes));
    payload.remove_prefix(head_bytes);
    if (name + bytes > payload.size()) return std::nullopt;
    made.fields_.push_back({payload.substr(0, name), payload.substr(name, bytes)});
    payload.remove_prefix(name + bytes);
  }
  made.index();
  if (made.places_.size() != made.fields_.size()) return std::nullopt;
  return made;
}

void hash_fields::index() {
  places_.clear();
  places_.reserve(fields_.size());
  for (std::size_t i = 0; i < fields_.size(); ++i)
    places_.emplace(fields_[i].name, i);
}

const hash_field* hash_fields::find(std::string_view name) const {
  const auto at = places_.find(name);
  return at == places_.end() ? nullptr : &fields_[at->second];
}

bool hash_fields::set(const hash_field& field) {
  const auto [at, is_new] = places_.try_emplace(field.name, fields_.size());
  bytes_ += bytes_of(field);
  if (is_new) {
    fields_.push_back(field);
  } else {
    auto& before = fields_[at->second];
    bytes_ -= bytes_of(before);
    is_changed_ = is_changed_ || before.bytes != field.bytes;
    before.bytes = field.bytes;
  }
  is_changed_ = is_changed_ || is_new;
  return is_new;
}

void hash_fields::join(const hash_fields& others) {
  for (const auto& field : others.all())
    if (!find(field.name)) set(field);
}

std::size_t hash_fields::remove(const std::vector<std::string_view>& names) {
  const std::unordered_set<std::string_view> gone(names.begin(), names.end());
  const auto removed = std::erase_if(fields_, [&](const hash_field& field) {
    const bool goes = gone.contains(field.name);
    if (goes) bytes_ -= bytes_of(field);
    return goes;
  });
  if (removed == 0) return 0;
  is_changed_ = true;
  index();
  return removed;
}

artifact hash_fields::store(expiry_ms expires) const {
  std::string payload;
  payload.reserve(bytes_);
  for (const auto& field : fields_) {
    append_length(payload, field.name.size());
    append_length(payload, field.bytes.size());
    payload.append(field.name).append(field.bytes);
  }
  return make_value(payload, expires, {{std::string(type_member), value(std::string(hash_type))}});
}

} // namespace hearth::server
