#include "actors/autotune_cache.hpp"

#include "actors/answer.hpp"

#include <chrono>
#include <utility>

namespace hearth::actors {
namespace {

using self_pointer = autotune_cache_actor::stateful_pointer<autotune_cache_state>;

constexpr auto answer_timeout = std::chrono::minutes{2};
constexpr std::int64_t ns_in_ms = 1'000'000;

// What is stored answers only for the candidates that it was chosen from.
expected<autotune_record> match(const lookup& found, const std::string& configs_hash) {
  if (!found.hit()) return fail(errc::not_found, "nothing is known of this key");
  auto record = decode_record(found.value);
  if (record && record->configs_hash != configs_hash)
    return fail(errc::not_found, "what is known was chosen from other configurations");
  return record;
}

caf::result<autotune_record> best(self_pointer self, const cache_key& key,
                                  const std::string& configs_hash) {
  answer<autotune_record> promise(self->make_response_promise<autotune_record>());
  self->request(self->state.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then([promise, configs_hash](
                const lookup& found) mutable { promise.deliver(match(found, configs_hash)); },
            [promise](const caf::error& why) mutable { promise.deliver(fail(from_caf(why))); });
  return promise.promise();
}

caf::result<done> save(self_pointer self, const cache_key& key, const autotune_record& record) {
  const owed<done> promise(self->make_response_promise<done>());
  const auto& shard = self->state.shards.owner_of(key);
  const auto stored = encode_record(record);
  const auto failed = [promise](const caf::error& why) { promise.deliver(why); };
  // An insert first: a put makes other processes drop what they hold in memory.
  self->request(shard, answer_timeout, verb::insert_v, key, stored)
      .then(
          [=](insert_outcome outcome) mutable {
            if (outcome == insert_outcome::inserted) {
              promise.deliver(done{});
              return;
            }
            self->request(self->state.shards.owner_of(key), answer_timeout, verb::put_v, key,
                          stored)
                .then([promise](const done&) { promise.deliver(done{}); }, failed);
          },
          failed);
  return promise.promise();
}

} // namespace

artifact encode_record(const autotune_record& record) {
  return artifact::make(encode(value{value::map{
      {"config", record.config},
      {"configs_hash", record.configs_hash},
      {"found_by_coordesc", record.found_by_coordesc},
      {"time_taken_ms", record.time_ns / ns_in_ms},
      {"time_taken_ns", record.time_ns},
  }}));
}

expected<autotune_record> decode_record(const artifact& stored) {
  const auto decoded = decode_value(stored.payload());
  if (!decoded) return fail(decoded.error().within("autotune record"));
  const auto* config = decoded->find("config");
  const auto* hash = decoded->find("configs_hash");
  const auto* found = decoded->find("found_by_coordesc");
  const auto* time = decoded->find("time_taken_ns");
  const bool whole = config && config->as<value::map>() && hash && hash->as<std::string>() &&
                     found && found->as<bool>() && time && time->as<std::int64_t>();
  if (!whole) return fail(errc::malformed, "autotune record: a field is missing");
  return autotune_record{*config->as<value::map>(), *hash->as<std::string>(),
                         *time->as<std::int64_t>(), *found->as<bool>()};
}

autotune_cache_actor::behavior_type autotune_cache(self_pointer self, shard_router shards) {
  self->state.shards = std::move(shards);
  return {
      [self](verb::best, const cache_key& key, const std::string& configs_hash) {
        return best(self, key, configs_hash);
      },
      [self](verb::save, const cache_key& key, const autotune_record& record) {
        return save(self, key, record);
      },
  };
}

} // namespace hearth::actors
