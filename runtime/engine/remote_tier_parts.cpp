#include "runtime/engine/remote_tier_parts.hpp"

#include "actors/thread_unit.hpp"
#include "messages/hex.hpp"
#include "messages/random_number.hpp"
#include "runtime/api/blocking_region.hpp"
#include "runtime/net/redis_client.hpp"
#include "runtime/net/remote_endpoint.hpp"
#include "runtime/os/files/signing_key_file.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

namespace hearth::engine {
namespace {

expected<net::remote_endpoint> endpoint_of(const remote_config& settings) {
  auto endpoint = net::parse_remote_url(settings.url);
  if (!endpoint) return endpoint;
  if (!settings.password_file.empty()) {
    auto password = net::read_secret_file(settings.password_file);
    if (!password) return fail(password.error());
    if (!endpoint->password.empty())
      return fail(errc::invalid_argument,
                  "the URL has a password, and " + settings.password_file.string() +
                      " has one: give one of them; a user alone is USER:@HOST");
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
  return os::read_signing_keys(settings.signing_key_file);
}

// Runs the actors that answers wake. Created, used and destroyed by the connections' thread.
class actor_work final : public net::side_work, blocking_observer {
public:
  explicit actor_work(caf::actor_system& system)
      : unit_(system)
      , before_(set_blocking_observer(this)) {}
  actor_work(const actor_work&) = delete;
  actor_work& operator=(const actor_work&) = delete;
  ~actor_work() override { set_blocking_observer(before_); }

  void run() override { unit_.run(); }
  bool has_more() const override { return unit_.has_woken(); }

private:
  // Before a wait, the actors that this thread has woken go to the system's workers: the wait may
  // need their answers.
  void wait_begins() override { unit_.leave_to_workers(); }
  void wait_ends() override {}

  actors::thread_unit unit_;
  blocking_observer* const before_;
};

net::side_work_maker work_of(caf::actor_system* system) {
  if (!system) return {};
  return [system] { return std::make_unique<actor_work>(*system); };
}

// 128 random bits in hexadecimal.
std::string unique_name() {
  std::random_device random;
  std::string bytes, name;
  for (int i = 0; i < 16; ++i)
    bytes += static_cast<char>(random());
  append_hex(name, bytes);
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
  result.name = net::describe(*endpoint);
  result.naming.has_hash_tags = endpoint->form == net::remote_form::cluster;
  endpoint->jitter_seed = random_number();
  auto server = net::connect_redis(std::move(*endpoint), work_of(system));
  if (!server) return fail(server.error());
  result.server = std::move(*server);
  result.naming.prefix = settings.prefix;
  result.keys = std::move(*keys);
  result.mode = settings.mode;
  result.deadline = settings.deadline;
  result.ttl = settings.ttl;
  result.lease_time = settings.lease_time;
  result.max_value_bytes = settings.max_value_bytes;
  result.queue.bytes = settings.queue_bytes;
  result.queue.entries = settings.queue_entries;
  result.breaker.seed = random_number();
  result.holder = unique_name();
  result.drain_deadline = settings.drain_deadline;
  result.log = std::move(log);
  return result;
}

bool takes_cache(const remote_config& settings, const cache_id& id) {
  const auto& names = settings.caches;
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return id.name() == name || id.name().starts_with(name + ".");
         });
}

} // namespace hearth::engine
