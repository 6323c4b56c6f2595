// Setup statements of a script: hosts, processes, clients, caches, servers.
#include "runtime/simulation/script/interpreter/interpreter_state.hpp"

namespace hearth::script {

simulation::simulated_process& interpreter::process(const std::string& name) {
  auto* found = world_.process(name);
  if (!found) throw failed{"a process named " + name, "none yet"};
  return *found;
}

simulation::simulated_process& interpreter::running(const std::string& name) {
  auto& found = process(name);
  if (!found.is_running()) throw failed{name + " to run", "it does not"};
  return found;
}

void interpreter::run(const add_host& what) { world_.add_host(what.name); }

void interpreter::run(const add_remote& what) { world_.add_remote(what.name); }

void interpreter::run(const add_cluster& what) { world_.add_cluster(what.name, what.groups); }

void interpreter::run(const add_process& what) {
  if (!world_.has_host(what.host)) world_.add_host(what.host);
  world_.add_process(what.name, what.host, what.options);
}

void interpreter::run(const add_client& what) {
  running(what.process);
  world_.add_client(what.name, what.process);
}

void interpreter::run(const use_cache& what) {
  world_.set_cache(what.name, what.version, what.use);
}

cache_key interpreter::key_of(const key_name& name) {
  return {world_.cache(name.cache, name.version).value(), name.k.encoded()};
}

key_list interpreter::keys_of(const key_names& names) {
  key_list keys;
  for (const auto& name : names)
    keys.push_back(key_of(name));
  return keys;
}

} // namespace hearth::script
