#include "bench/remote_entries.hpp"

#include "hearth/hearth.hpp"
#include "storage/remote/envelope.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace hearth::bench {

// Inserts in blocks, since the queue of writes to the remote tier is bounded: it drops writes that
// come faster than the server takes them.
void fill_remote(const std::string& url, const dataset& data) {
  const auto block =
      std::clamp<std::size_t>((std::size_t{16} << 20) / data.value_bytes(), 1, 1'000);
  config settings;
  settings.remote.url = url;
  settings.remote.deadline = std::chrono::minutes(1);
  for (std::size_t first = 0; first < data.size(); first += block) {
    runtime host(settings);
    auto entries =
        host.open(remote_cache_name, cache_options().without_memory().without_disk()).value();
    for (std::size_t i = first; i < std::min(first + block, data.size()); ++i)
      if (!entries.insert(data.key(i), data.value(i)))
        throw std::runtime_error("cannot insert into the remote tier");
    host.shutdown();
  }
}

key_list remote_keys(const dataset& data) {
  const auto id = *cache_id::make(remote_cache_name);
  const auto cache = std::make_shared<const named_cache>(named_cache{id, 0, id.seed()});
  key_list keys;
  keys.reserve(data.size());
  for (const auto entry : data.order())
    keys.emplace_back(cache, data.key_bytes(entry));
  return keys;
}

std::size_t envelope_bytes(const dataset& data) {
  return storage::seal_envelope(remote_keys(data).front(), data.value(0), {}).size();
}

} // namespace hearth::bench
