#include "runtime/cli/commands/list_command.hpp"

#include "messages/cache_id.hpp"
#include "messages/key.hpp"
#include "runtime/cli/io/entry_origin.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/open_store.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace hearth::cli {
namespace {

using nlohmann::json;
using storage::entry_info;

std::string key_text(const entry_info& entry, std::size_t max_bytes) {
  const auto decoded = key::decode(entry.key);
  return decoded ? printable(decoded->describe(max_bytes)) : "(unreadable)";
}

// Whether more is known of an entry than what the list of the store has.
bool has_origin(const entry_info& entry) {
  return entry.metadata_bytes > 0 || entry.cache.starts_with("autotune");
}

// The store reads an entry as a whole, so nothing is told about what made a large one.
entry_origin origin_in(storage::store& source, const entry_info& entry) {
  constexpr std::uint64_t max_read_bytes = std::uint64_t{1} << 20;
  if (!has_origin(entry) || entry.payload_bytes > max_read_bytes) return {};
  const auto cache = cache_id::make(entry.cache, entry.version);
  if (!cache) return {};
  const auto found = source.get(storage::entry_key(*cache, entry.key));
  return found.status == storage::read_status::hit ? origin_of(entry.cache, found.value)
                                                   : entry_origin();
}

// The first eight digits of the SHA-256 of the version, as PyTorch's caches on disk have them.
json version_tag_of(const entry_info& entry) {
  const auto cache = cache_id::make(entry.cache, entry.version);
  return cache ? json(fmt::format("{:08x}", cache->version_tag())) : json(nullptr);
}

json json_of(const entry_info& entry, const entry_origin& origin) {
  return {
      {"cache", entry.cache},
      {"version", entry.version},
      {"version_tag", version_tag_of(entry)},
      {"key", key_text(entry, 2 * max_key_bytes)}, // a byte is two digits
      {"key_base64", base64(entry.key)},
      {"metadata_bytes", entry.metadata_bytes},
      {"payload_bytes", entry.payload_bytes},
      {"stored_bytes", entry.stored_bytes},
      {"expires_unix_ms", entry.expires_unix_ms == 0 ? json(nullptr) : json(entry.expires_unix_ms)},
      {"made", hearth::cli::json_of(origin)},
      {"shard", entry.shard},
      {"sequence", entry.sequence}};
}

std::string expiry_text(const entry_info& entry) {
  if (entry.expires_unix_ms == 0) return "-";
  const auto seconds = static_cast<std::time_t>(entry.expires_unix_ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  return std::strftime(text, sizeof text, "%Y-%m-%d", &utc) > 0 ? text : "?";
}

// Writes large parts, and not before there is one: an entry's line is short.
class part_writer {
public:
  bool add(std::string_view text) {
    part_ += text;
    return part_.size() < part_bytes || flush();
  }
  bool flush() { return write_stdout(std::exchange(part_, {})); }

private:
  static constexpr std::size_t part_bytes = 16u << 10;
  std::string part_;
};

// The columns of the table. They are chosen before the first line is printed: the lines of a whole
// store may not fit into memory.
class entry_table {
public:
  explicit entry_table(std::size_t width)
      : width_(width) {}

  // Every entry is looked at once before `choose`.
  void look_at(const entry_info& entry) {
    cache_ = std::max(cache_, character_count(printable(entry.cache)));
    key_ = std::max(key_, character_count(key_text(entry, width_)));
    size_ = std::max(size_, human_bytes(entry.payload_bytes).size());
    has_expiry_ = has_expiry_ || entry.expires_unix_ms != 0;
    has_origin_ = has_origin_ || has_origin(entry);
  }
  void choose() {
    constexpr std::size_t max_cache = 16, min_key = 12;
    cache_ = std::min(cache_, max_cache);
    const auto taken = cache_ + gap + size_ + gap + (has_expiry_ ? expiry + gap : 0);
    auto left = std::max(width_, taken + min_key) - taken;
    // Of the room for the key and what made the entry, the key gets what it needs, at most half.
    if (has_origin_) left = std::min(std::max((left - gap) / 2, min_key), left);
    key_ = std::min(key_, left);
    const auto used = taken + key_ + gap;
    made_ = has_origin_ && width_ > used ? width_ - used : 0;
  }
  std::string head() const { return line("CACHE", "KEY", "SIZE", "EXPIRES", "MADE"); }
  std::string row(const entry_info& entry, const entry_origin& origin) const {
    return line(printable(entry.cache), key_text(entry, width_), human_bytes(entry.payload_bytes),
                expiry_text(entry), text_of(origin));
  }

private:
  static constexpr std::size_t gap = 2, expiry = 10;

  std::string line(const std::string& cache, const std::string& key, const std::string& size,
                   const std::string& expires, const std::string& made) const {
    auto text = padded(shortened(cache, cache_), cache_) + "  " +
                padded(shortened(key, key_), key_) + "  " + std::string(size_ - size.size(), ' ') +
                size;
    if (has_expiry_) text += "  " + padded(expires, expiry);
    if (made_ > 0) text += "  " + shortened(made, made_);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  const std::size_t width_;
  std::size_t cache_ = 5, key_ = 3, size_ = 4, made_ = 0; // at least the names in the head
  bool has_expiry_ = false;
  bool has_origin_ = false;
};

// The entries that are asked for.
template <class Visit>
expected<void> each_entry(storage::store& source, const list_arguments& arguments, Visit visit) {
  return source.list([&](const entry_info& entry) {
    return (arguments.cache && entry.cache != *arguments.cache) || visit(entry);
  });
}

status end_of_list(const expected<void>& listed, bool written) {
  if (!listed) return store_trouble(listed.error());
  return written ? yes : unwritten();
}

// Prints one entry at a time: the JSON of a whole store may not fit into memory.
status list_json(storage::store& source, const list_arguments& arguments) {
  part_writer out;
  bool written = out.add("[");
  bool is_first = true;
  const auto listed = each_entry(source, arguments, [&](const entry_info& entry) {
    auto line = dump(json_of(entry, origin_in(source, entry)));
    line.pop_back(); // removes the line break
    written = written && out.add((std::exchange(is_first, false) ? "" : ",\n") + line);
    return written;
  });
  return end_of_list(listed, written && out.add("]\n") && out.flush());
}

status list_table(storage::store& source, const list_arguments& arguments) {
  entry_table table(output_width());
  const auto seen = each_entry(source, arguments, [&](const entry_info& entry) {
    table.look_at(entry);
    return true;
  });
  if (!seen) return store_trouble(seen.error());
  table.choose();
  part_writer out;
  bool written = out.add(table.head());
  const auto listed = each_entry(source, arguments, [&](const entry_info& entry) {
    written = written && out.add(table.row(entry, origin_in(source, entry)));
    return written;
  });
  return end_of_list(listed, written && out.flush());
}

} // namespace

status list(const config& settings, const list_arguments& arguments) {
  if (arguments.cache)
    if (const auto id = cache_id::make(*arguments.cache); !id) return report(id.error());
  const auto source = open_store(settings, store_use::look);
  if (!source) return store_trouble(source.error());
  return arguments.json ? list_json(**source, arguments) : list_table(**source, arguments);
}

} // namespace hearth::cli
