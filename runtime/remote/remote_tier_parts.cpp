#include "runtime/remote/remote_tier_parts.hpp"

#include "actors/thread_unit.hpp"
#include "runtime/files/signing_key_file.hpp"
#include "runtime/remote/redis_server.hpp"
#include "runtime/remote/remote_endpoint.hpp"

#include <memory>
#include <random>
#include <utility>

namespace hearth {
namespace {

expected<remote_endpoint> endpoint_of(const remote_config& settings) {
  auto endpoint = parse_remote_url(settings.url);
  if (!endpoint) return endpoint;
  if (!settings.password_file.empty()) {
    auto password = read_secret_file(settings.password_file);
    if (!password) return fail(password.error());
    endpoint->password = std::move(*password);
  }
  endpoint->verify = settings.verify;
  endpoint->ca_file = settings.ca_file;
  endpoint->certificate_file = settings.certificate_file;
  endpoint->key_file = settings.key_file;
  return endpoint;
}

expected<storage::signing_keys> keys_of(const remote_config& settings) {
  if (settings.signing_key_file.empty()) return storage::signing_keys{};
  return read_signing_keys(settings.signing_key_file);
}

actors::remote_mode mode_of(remote_use use) {
  switch (use) {
  case remote_use::read_write: break;
  case remote_use::read_only: return actors::remote_mode::read_only;
  case remote_use::write_only: return actors::remote_mode::write_only;
  }
  return actors::remote_mode::read_write;
}

// The actors that answers wake.
class actor_work final : public side_work {
public:
  explicit actor_work(caf::actor_system& system)
      : unit_(system) {}
  void run() override { unit_.run(); }
  bool has_more() const override { return unit_.has_woken(); }

private:
  actors::thread_unit unit_;
};

side_work_maker work_of(caf::actor_system* system) {
  if (!system) return {};
  return [system] { return std::make_unique<actor_work>(*system); };
}

// 128 random bits in hexadecimal.
std::string unique_name() {
  std::random_device random;
  std::string name;
  for (int word = 0; word < 4; ++word)
    for (auto bits = random(), digit = 0u; digit < 8; ++digit, bits >>= 4)
      name += "0123456789abcdef"[bits & 15];
  return name;
}

} // namespace

expected<actors::remote_tier_config>
make_remote_tier(const remote_config& settings, actors::log_sink log, caf::actor_system* system) {
  auto keys = keys_of(settings);
  if (!keys) return fail(keys.error());
  auto endpoint = endpoint_of(settings);
  if (!endpoint) return fail(endpoint.error());
  actors::remote_tier_config result;
  result.name = describe(*endpoint);
  auto server = connect_redis(std::move(*endpoint), work_of(system));
  if (!server) return fail(server.error());
  result.server = std::move(*server);
  result.prefix = settings.prefix;
  result.keys = std::move(*keys);
  result.mode = mode_of(settings.use);
  result.deadline = settings.deadline;
  result.lifetime = settings.ttl;
  result.lease_time = settings.lease_time;
  result.most_value_bytes = settings.most_value_bytes;
  result.queue.bytes = settings.queue_bytes;
  result.queue.entries = settings.queue_entries;
  result.breaker.seed = std::random_device{}();
  result.holder = unique_name();
  result.log = std::move(log);
  return result;
}

} // namespace hearth
