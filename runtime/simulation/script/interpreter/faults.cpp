// How a script makes processes, disks, files, servers and compilers fail.
#include "runtime/simulation/script/interpreter/interpreter_state.hpp"
#include "storage/remote/entry_names.hpp"

namespace hearth::script {

void interpreter::run(const process_fault& what) {
  switch (what.what) {
  case lifecycle_event::crash: return crash(what);
  case lifecycle_event::start: return start(process(what.name));
  case lifecycle_event::stop:
    if (!world_.stop(running(what.name)))
      throw failed{what.name + " to shut down within its deadline", "it did not"};
    return;
  case lifecycle_event::lose_power: {
    forget_dead_clients_of_host(what.name);
    return world_.lose_power(what.name, random_);
  }
  case lifecycle_event::flush: {
    const auto& store = running(what.name).store();
    const auto flushed = store ? store->flush() : fail(errc::not_found, "no disk tier");
    if (!flushed) throw failed{"the store to be synced", flushed.error().to_string()};
    return;
  }
  }
}

void interpreter::start(simulation::simulated_process& one) {
  world_.start(one);
  world_.revive_clients(one);
}

// Forgets the questions of a dead client: they need no answer.
void interpreter::forget_questions_of(const std::string& client) {
  std::erase_if(asked_, [&](const auto& one) { return one.client == client; });
}

void interpreter::forget_dead_clients_of(const std::string& name) {
  for (const auto& [client, one] : world_.clients())
    if (one.process == name) forget_questions_of(client);
}

void interpreter::forget_dead_clients_of_host(const std::string& host) {
  for (const auto& [name, one] : world_.processes())
    if (world_.host_of(name) == host) forget_dead_clients_of(name);
}

void interpreter::crash(const process_fault& what) {
  if (what.actor) {
    auto& of = running(what.actor->owner);
    world_.system().kill({actor_of(*what.actor, of, nullptr)});
  } else if (auto* one = world_.find_client(what.name)) {
    forget_questions_of(what.name);
    world_.kill(*one);
  } else if (auto* of = world_.process(what.name)) {
    forget_dead_clients_of(what.name);
    world_.kill(*of);
  } else {
    forget_dead_clients_of_host(what.name);
    world_.kill_host(what.name);
  }
}

void interpreter::run(const trouble_disk& what) {
  if (what.what == disk_trouble::lies || what.what == disk_trouble::is_honest)
    return world_.disk_of(what.name).lie_about_syncs(what.what == disk_trouble::lies);
  auto& files = running(what.name).files();
  switch (what.what) {
  case disk_trouble::fails: return files.fail(what.call, what.fault);
  case disk_trouble::heals: return files.heal();
  case disk_trouble::fills: return files.fill();
  case disk_trouble::short_writes: return files.limit_writes(what.count);
  case disk_trouble::loses_writes: return files.lose_writes(what.count);
  case disk_trouble::lies:
  case disk_trouble::is_honest: return;
  }
}

void interpreter::run(const file_fault& what) {
  auto& disk = world_.disk_of(what.host);
  if (what.what == file_damage::damage) return damage(disk, key_of(what.key));
  const auto pattern = "/store/" + what.path;
  bool found = false;
  for (const auto& path : disk.files_below("/store")) {
    if (!simulation::matches(pattern, path)) continue;
    found = true;
    if (what.what == file_damage::remove)
      disk.remove_file(path);
    else
      change(*disk.find(path), what);
  }
  if (!found) throw failed{"a file " + what.path, "there is none"};
}

void interpreter::change(const simulation::inode& file, const file_fault& what) {
  auto bytes = file.contents();
  if (what.what == file_damage::cut)
    bytes.resize(std::min<std::size_t>(bytes.size(), what.at));
  else if (what.at < bytes.size())
    bytes[what.at] = static_cast<char>(bytes[what.at] ^ 0x20);
  else
    throw failed{"a byte at " + std::to_string(what.at), "the file ends before"};
  file.replace_contents(bytes);
}

// Flips the byte after the key in its newest record: the first of metadata or payload.
void interpreter::damage(simulation::virtual_disk& disk, const cache_key& key) {
  auto paths = disk.files_below("/store");
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    if (!path->ends_with(".seg")) continue;
    const auto file = disk.find(*path);
    auto bytes = file->contents();
    const auto at = bytes.rfind(key.bytes);
    if (at == std::string::npos || at + key.bytes.size() >= bytes.size()) continue;
    auto& flipped = bytes[at + key.bytes.size()];
    flipped = static_cast<char>(flipped ^ 0x20);
    file->replace_contents(bytes);
    return;
  }
  throw failed{"a record of " + simulation::text_of(key), "no segment has one"};
}

void interpreter::run(const behave_remote& what) {
  for (auto* one : world_.servers(what.name, what.node))
    one->behave(what.behavior);
}

void interpreter::run(const change_remote& what) {
  if (is_of_server(what.what)) {
    for (auto* one : world_.servers(what.name, what.node))
      change(*one, what.what);
    return;
  }
  const auto key = key_of(what.key);
  const auto name = storage::remote_entry_name(world_.naming_of(what.name), key);
  auto& server = world_.server_of(what.name, name);
  switch (what.what) {
  case remote_change::forget: return server.forget(name);
  case remote_change::list: return server.make_list(name);
  case remote_change::lease: {
    const auto lease = storage::remote_lease_name(world_.naming_of(what.name), key);
    return world_.server_of(what.name, lease).store(lease, "another client");
  }
  case remote_change::keep: return server.store(name, kept_bytes(key, what));
  case remote_change::flip: return flip(stored(what.name, what.key));
  case remote_change::swap:
    return std::swap(stored(what.name, what.key), stored(what.name, what.other));
  case remote_change::forget_all:
  case remote_change::save:
  case remote_change::restart: return;
  }
}

void interpreter::change(simulation::simulated_redis& server, remote_change what) {
  if (what == remote_change::save) return server.save();
  if (what == remote_change::restart) return server.restore();
  server.forget_all();
}

void interpreter::run(const change_cluster& what) {
  auto& cluster = world_.cluster(what.name);
  switch (what.what) {
  case cluster_event::fail_over: return cluster.fail_over(what.group, what.loses_what_is_recent);
  case cluster_event::move: {
    const auto name = storage::remote_entry_name(world_.naming_of(what.name), key_of(what.key));
    return cluster.move_slots(simulation::simulated_cluster::part_of(name), what.group);
  }
  case cluster_event::split:
    if (cluster.is_split()) throw failed{"a cluster that is whole", what.name + " is split"};
    return cluster.split(what.group, {what.processes.begin(), what.processes.end()});
  case cluster_event::stop_minority:
    if (!cluster.is_split()) throw failed{"a cluster that is split", what.name + " is whole"};
    return cluster.stop_minority();
  case cluster_event::join: return cluster.join();
  }
}

std::string& interpreter::stored(const std::string& server, const key_name& name) {
  const auto key = key_of(name);
  const auto entry = storage::remote_entry_name(world_.naming_of(server), key);
  auto* bytes = world_.server_of(server, entry).find(entry);
  if (!bytes) throw failed{"a remote entry " + simulation::text_of(key), "there is none"};
  return *bytes;
}

// Flips one bit of the payload, with which an entry ends.
void interpreter::flip(std::string& bytes) {
  auto& last = bytes.back();
  last = static_cast<char>(last ^ 0x10);
}

// An entry as another machine would have sealed it.
std::string interpreter::kept_bytes(const cache_key& key, const change_remote& what) {
  auto cache = *key.cache;
  cache.sign = what.signer.has_value();
  storage::signing_keys keys;
  if (what.signer) keys.push_back(simulation::signing_key_named(*what.signer));
  if (what.is_forged) keys[0].secret.back() ^= 1;
  return storage::seal_envelope({std::make_shared<const named_cache>(cache), key.bytes},
                                artifact::make(what.bytes), keys);
}

void interpreter::run(const instruct_compiler& what) {
  auto& compiler = process(what.process).compiler();
  std::visit([&](const auto& rule) { compiler.add(rule); }, what.rule);
}

} // namespace hearth::script
