// How a script sends a message: its arguments, its receiver, its answer.
#include "runtime/simulation/script/interpreter/interpreter_state.hpp"

namespace hearth::script {

simulation::argument interpreter::resolve(const spoken_argument& spoken, const cache_key* before,
                                          simulation::simulated_process& of) {
  if (const auto* known = std::get_if<simulation::argument>(&spoken)) return *known;
  if (const auto* name = std::get_if<key_name>(&spoken)) return key_of(*name);
  if (const auto* names = std::get_if<key_names>(&spoken)) return keys_of(*names);
  if (const auto* from = std::get_if<answer_number>(&spoken))
    return std::uint64_t{answer(from->answer).number};
  if (const auto* epoch = std::get_if<epoch_number>(&spoken)) {
    if (!before || !of.store()) throw failed{"a key and a disk tier for this epoch", "none"};
    const auto now = of.store()->epoch(of.store()->shard_of(before->disk_hash));
    return std::uint64_t{epoch->is_stale ? now - 1 : now};
  }
  if (const auto* noted = std::get_if<answer_notes>(&spoken)) return notes_of(*noted);
  if (const auto* where = std::get_if<tuning_place>(&spoken)) return address_of(*where);
  if (const auto* cache = std::get_if<cache_name>(&spoken))
    return world_.cache(cache->name, "0").value();
  return tune_request_of(std::get<tuning>(spoken));
}

tuning_notes interpreter::notes_of(const answer_notes& what) {
  return {answer(what.answer).number, 0};
}

// A bundle names entries of the local cache by text.
std::string interpreter::text_of_key(const key& k) {
  const auto decoded = decode_value(k.encoded());
  const auto* text = decoded ? decoded->as<std::string>() : nullptr;
  return text ? *text : k.describe();
}

autotune_address interpreter::address_of(const tuning_place& where) {
  autotune_address address;
  address.local = key_of(where.local);
  address.name = text_of_key(where.local.k);
  if (where.remote) address.remote = key_of(*where.remote);
  return address;
}

tune_request_ptr interpreter::tune_request_of(const tuning& what) {
  auto request = std::make_shared<tune_request>();
  request->key = key_of(what.key);
  request->name = simulation::text_of(request->key);
  request->guard = what.guard;
  request->sizes = what.sizes;
  request->trial.entry = "entry";
  request->mode = what.mode;
  if (what.notes) request->notes = notes_of(*what.notes);
  request->family = request->key;
  request->untuned_key = derived_key(request->key, key("untuned"));
  request->times_key = derived_key(request->key, key("times"));
  request->address.local = {world_.cache("tunes", "0").value(), what.key.k.encoded()};
  request->address.name = text_of_key(what.key.k);
  for (const auto& config : what.configs) {
    tune_candidate candidate;
    const auto equals = config.find('=');
    candidate.config[config.substr(0, equals)] = value(config.substr(equals + 1));
    candidate.config_text = config;
    candidate.action_key = derived_key(request->key, key(config));
    candidate.action = simulation::simulated_compiler::action(request->name + " " + config);
    request->candidates.push_back(std::move(candidate));
  }
  return request;
}

simulation::answer_slot& interpreter::answer(const std::string& label) {
  const auto at = answers_.find(label);
  if (at == answers_.end()) throw failed{"an answer named " + label, "nothing was asked"};
  return *at->second;
}

void interpreter::run(const send_message& what) {
  auto& from = *world_.find_client(what.client);
  if (!from.is_alive()) throw failed{what.client + " to be alive", "it was killed"};
  auto& to = running(what.to.owner);
  std::vector<simulation::argument> arguments;
  std::optional<cache_key> owner_key;
  for (const auto& spoken : what.arguments) {
    arguments.push_back(resolve(spoken, owner_key ? &*owner_key : nullptr, to));
    if (!owner_key)
      if (const auto* found = std::get_if<cache_key>(&arguments.back())) owner_key = *found;
  }
  const auto receiver = actor_of(what.to, to, owner_key ? &*owner_key : nullptr);
  if (what.row->verb == "promote") begin_promotion(to, *owner_key);
  auto slot = std::make_shared<simulation::answer_slot>();
  answers_[what.label] = slot;
  if (what.row->form != simulation::message_form::tells)
    asked_.push_back({what.label, from.name, slot});
  what.row->send(from.sender(), receiver, arguments, slot);
  if (runs_until_idle_) run(run_until_idle{max_idle_wait});
}

// A caller's thread counts a promotion before it sends it.
void interpreter::begin_promotion(simulation::simulated_process& to, const cache_key& key) {
  const auto shard = actors::memory_shard_of(key.memory_hash, to.views().size());
  to.views()[shard]->begin_promotion();
}

caf::actor interpreter::actor_of(const place& where, simulation::simulated_process& of,
                                 const cache_key* key) {
  const auto kind = simulation::actor_kind_named(where.part).value();
  const auto& all = of.actors_of(kind);
  if (where.index && *where.index < all.size()) return all[*where.index];
  const auto found = where.index ? caf::actor{} : of.owner(kind, key);
  if (!found)
    throw failed{"an actor " + where.owner + "." + where.part,
                 "there are " + std::to_string(all.size())};
  return found;
}

} // namespace hearth::script
