#include "storage/remote/commands.hpp"

#include "storage/remote/scripts.hpp"

#include <utility>

namespace hearth::storage {
namespace {

// Moves the arguments; an initializer list would copy them, and one may be a payload.
template <class... Arguments>
remote_command command_of(Arguments&&... arguments) {
  remote_command made;
  made.reserve(sizeof...(arguments));
  (made.emplace_back(std::forward<Arguments>(arguments)), ...);
  return made;
}

} // namespace

remote_command ping_command() { return command_of("PING"); }

remote_command get_command(std::string name) { return command_of("GET", std::move(name)); }

remote_command get_start_command(std::string name, std::size_t bytes) {
  return command_of("GETRANGE", std::move(name), "0", std::to_string(bytes - 1));
}

remote_command set_command(std::string name, std::string bytes, bool only_new,
                           std::chrono::milliseconds ttl) {
  auto made = command_of("SET", std::move(name), std::move(bytes));
  if (only_new) made.emplace_back("NX");
  if (ttl.count() > 0) {
    made.emplace_back("PX");
    made.push_back(std::to_string(ttl.count()));
  }
  return made;
}

remote_command erase_command(std::string name) { return command_of("DEL", std::move(name)); }

remote_command erase_command(std::string name, std::string set) {
  return {"DEL", std::move(name), std::move(set)};
}

remote_command get_fields_command(std::string name) {
  return command_of("HGETALL", std::move(name));
}

remote_command add_fields_command(std::string name, std::vector<remote_field> fields,
                                  std::chrono::milliseconds ttl) {
  auto made = ttl.count() == 0 ? command_of("HSET", std::move(name))
                               : command_of("EVAL", text_of(remote_script::add_fields), "1",
                                            std::move(name), std::to_string(ttl.count()));
  for (auto& [field, bytes] : fields) {
    made.push_back(std::move(field));
    made.push_back(std::move(bytes));
  }
  return made;
}

remote_command remove_fields_command(std::string name, std::vector<std::string> fields) {
  auto made = command_of("HDEL", std::move(name));
  for (auto& field : fields)
    made.push_back(std::move(field));
  return made;
}

remote_command lease_command(std::string name, std::string token, std::chrono::milliseconds time) {
  return command_of("SET", std::move(name), std::move(token), "NX", "PX",
                    std::to_string(time.count()));
}

remote_command renew_command(std::string name, std::string token, std::chrono::milliseconds time) {
  return command_of("EVAL", text_of(remote_script::renew_lease), "1", std::move(name),
                    std::move(token), std::to_string(time.count()));
}

remote_command lifetime_command(std::string name) { return command_of("PTTL", std::move(name)); }

remote_command expire_command(std::string name, std::chrono::milliseconds time) {
  return command_of("PEXPIRE", std::move(name), std::to_string(time.count()));
}

remote_command release_command(std::string name, std::string token) {
  return command_of("EVAL", text_of(remote_script::give_back), "1", std::move(name),
                    std::move(token));
}

bool needs_memory(const remote_command& write) {
  const auto& word = write.front();
  if (word == "EVAL") return write[1] != text_of(remote_script::give_back);
  return word != "DEL" && word != "HDEL";
}

} // namespace hearth::storage
