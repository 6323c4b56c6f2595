#include "storage/disk/append/append_batch.hpp"

namespace hearth::storage::disk {

void gathered_bytes::add(const void* data, std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes <= max_copied_bytes)
    buffer_.append(static_cast<const char*>(data), bytes);
  else
    outside_.push_back({buffer_.size(), data, bytes});
}

std::vector<iovec> gathered_bytes::parts() const {
  std::vector<iovec> all;
  all.reserve(2 * outside_.size() + 1);
  std::size_t done = 0;
  const auto buffer_until = [&](std::size_t until) {
    if (until > done) all.push_back({const_cast<char*>(buffer_.data()) + done, until - done});
    done = until;
  };
  for (const auto& one : outside_) {
    buffer_until(one.after);
    all.push_back({const_cast<void*>(one.data), one.bytes});
  }
  buffer_until(buffer_.size());
  return all;
}

void append_batch::add(const record_header& header, const entry_key& key, std::string_view metadata,
                       std::string_view payload) {
  bytes.add(&header, sizeof header);
  bytes.add(key.cache->name());
  bytes.add(key.cache->version());
  bytes.add(key.bytes);
  bytes.add(metadata);
  bytes.add(payload);
  bytes.pad(record_size(header) - record_end(header));
  end += record_size(header);
  sequence = header.sequence;
}

void append_batch::add_copy(const record_header& header, std::string_view rest) {
  bytes.add(&header, sizeof header);
  bytes.add(rest);
  end += sizeof header + rest.size();
  sequence = header.sequence;
}

} // namespace hearth::storage::disk
