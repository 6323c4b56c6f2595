#include "runtime/server/settings/listener_members.hpp"

#include "runtime/server/access/credential_forms.hpp"

#include <map>
#include <sys/un.h>

namespace hearth::server {
namespace {

constexpr std::string_view unix_scheme = "unix:";

template <auto Member>
expected<void> read_listener_path(const toml::node& node, listener_entry& into) {
  return assign(into.settings.*Member, toml_text(node));
}

template <auto Member>
expected<void> read_listener_flag(const toml::node& node, listener_entry& into) {
  return assign(into.settings.*Member, toml_flag(node));
}

expected<void> read_protocol(const toml::node& node, listener_entry& into) {
  return assign(into.settings.speaks, toml_choice(node, {"resp", "http", "crsh"}));
}

expected<void> read_address(const toml::node& node, listener_entry& into) {
  auto address = toml_text(node);
  if (!address) return fail(address.error());
  if (*address == unix_scheme) return fail(errc::malformed, "unix: needs a path; write unix:/PATH");
  if (!address->starts_with(unix_scheme))
    if (const auto parsed = parse_address(*address); !parsed) return fail(parsed.error());
  into.settings.address = std::move(*address);
  return {};
}

expected<void> read_anonymous(const toml::node& node, listener_entry& into) {
  const auto choice = toml_choice(node, {"reader", "writer", "admin", "none"});
  if (!choice) return fail(choice.error());
  into.says_anonymous = true;
  if (*choice <= static_cast<std::size_t>(user_role::admin))
    into.settings.anonymous = static_cast<user_role>(*choice);
  return {};
}

expected<void> read_anonymous_namespace(const toml::node& node, listener_entry& into) {
  auto name = toml_text(node);
  if (!name) return fail(name.error());
  if (!is_user_name(*name)) return fail(errc::malformed, std::string(wanted_user_name));
  into.settings.anonymous_namespace = std::move(*name);
  return {};
}

expected<void> read_listener_refused(const toml::node& node, listener_entry& into) {
  return assign(into.settings.refused, toml_choice(node, {"error", "ignore"}));
}

constexpr toml_member<listener_entry> listener_members[] = {
    {"protocol", read_protocol},
    {"address", read_address},
    {"certificate_file", read_listener_path<&listener_settings::certificate_file>},
    {"key_file", read_listener_path<&listener_settings::key_file>},
    {"client_ca_file", read_listener_path<&listener_settings::client_ca_file>},
    {"certificate_users", read_listener_flag<&listener_settings::certificate_users>},
    {"anonymous", read_anonymous},
    {"anonymous_namespace", read_anonymous_namespace},
    {"hold_misses", read_listener_flag<&listener_settings::hold_misses>},
    {"refused_writes", read_listener_refused},
    {"validate_results", read_listener_flag<&listener_settings::validate_results>},
};

// What an address cannot go with; empty: nothing.
std::string_view address_fault(const listener_settings& one) {
  if (one.address.empty()) return "has no address; write address = \"127.0.0.1:6379\"";
  const auto path_bytes = one.address.size() - unix_scheme.size();
  if (one.is_unix() && path_bytes >= sizeof(sockaddr_un::sun_path))
    return "the socket's path is longer than the system allows, 107 bytes; choose a shorter one";
  if (one.speaks == protocol::crsh && !one.is_unix())
    return "crsh is spoken on a Unix socket alone; write address = \"unix:/PATH\"";
  return {};
}

// What the members of TLS lack.
std::string_view tls_fault(const listener_settings& one) {
  const bool has_certificate = !one.certificate_file.empty();
  if (has_certificate && one.key_file.empty()) return "has a certificate_file without its key_file";
  if (!has_certificate && !one.key_file.empty())
    return "has a key_file without its certificate_file";
  if (!has_certificate && !one.client_ca_file.empty())
    return "client_ca_file needs TLS; give certificate_file and key_file too";
  if (one.certificate_users && one.client_ca_file.empty())
    return "certificate_users needs client_ca_file, the CAs whose certificates are believed";
  if (has_certificate && one.is_unix())
    return "TLS is not for a Unix socket; leave certificate_file and key_file out";
  return {};
}

bool is_local(const listener_settings& one) {
  if (one.is_unix()) return true;
  const auto parsed = parse_address(one.address);
  return parsed && is_loopback(parsed->host);
}

// What is wrong with the clients that it lets in. `anonymous` is filled in.
std::string_view clients_fault(const listener_entry& one, bool has_users) {
  const auto& settings = one.settings;
  if (settings.certificate_users && !has_users)
    return "certificate_users needs a file of users with the names of the certificates";
  if (!one.says_anonymous && settings.anonymous && !is_local(settings))
    return "other hosts reach this address and need no credentials; name a file of users with "
           "users, or say anonymous = \"reader\" or \"writer\"";
  if (settings.anonymous) return {};
  if (settings.speaks == protocol::crsh)
    return "clients of crsh have no credentials; say anonymous = \"writer\" or \"reader\"";
  if (!has_users)
    return "anonymous = \"none\" lets nobody in without users; name a file of users with users";
  if (!settings.anonymous_namespace.empty())
    return "anonymous_namespace needs anonymous = \"writer\" or \"reader\"";
  return {};
}

std::string_view protocol_fault(const listener_settings& one) {
  if (one.validate_results && one.speaks != protocol::http)
    return "validate_results is for protocol = \"http\"";
  return {};
}

tl::unexpected<error> contradiction(const listener_entry& one, std::string_view what) {
  return fail(toml_error(one.place, one.line, "", errc::invalid_argument, what));
}

// Fills in a listener. Returns the first contradiction in it; empty: none.
std::string_view complete_listener(listener_entry& one, bool has_users,
                                   const std::filesystem::path& folder) {
  auto& settings = one.settings;
  settings.certificate_file = path_from(folder, settings.certificate_file);
  settings.key_file = path_from(folder, settings.key_file);
  settings.client_ca_file = path_from(folder, settings.client_ca_file);
  if (settings.is_unix())
    settings.address = std::string(unix_scheme) +
                       path_from(folder, settings.address.substr(unix_scheme.size())).string();
  if (!one.says_anonymous && !has_users) settings.anonymous = user_role::writer;
  for (const auto fault : {address_fault(settings), tls_fault(settings),
                           clients_fault(one, has_users), protocol_fault(settings)})
    if (!fault.empty()) return fault;
  return {};
}

bool takes_free_port(const listener_settings& one) {
  return !one.is_unix() && one.address.ends_with(":0");
}

} // namespace

std::filesystem::path path_from(const std::filesystem::path& folder,
                                const std::filesystem::path& path) {
  return path.empty() ? path : folder / path;
}

expected<std::vector<listener_entry>> read_listeners(const std::string& file,
                                                     const toml::table& root) {
  std::vector<listener_entry> listeners;
  const auto* node = root.get("listen");
  if (!node) return listeners;
  const auto* array = node->as_array();
  const auto refuse = [&](std::string_view what) {
    return fail(toml_error({file, ""}, node->source().begin.line, "listen", errc::malformed, what));
  };
  if (!array) return refuse("has to be a list of tables; write [[listen]]");
  if (array->size() > max_listeners) return refuse("there may be 64 at most");
  for (const auto& one : *array) {
    const auto* table = one.as_table();
    if (!table) return refuse("has to be a list of tables; write [[listen]]");
    auto& entry = listeners.emplace_back();
    entry.place = {file, "listen[" + std::to_string(listeners.size() - 1) + "]"};
    entry.line = table->source().begin.line;
    if (auto done = read_members<listener_entry>(entry.place, *table, listener_members, entry);
        !done)
      return fail(done.error());
  }
  return listeners;
}

expected<void> complete_listeners(std::vector<listener_entry>& listeners, bool has_users,
                                  const std::filesystem::path& folder) {
  std::map<std::string, std::size_t> lines; // of addresses
  for (auto& one : listeners) {
    if (const auto fault = complete_listener(one, has_users, folder); !fault.empty())
      return contradiction(one, fault);
    if (takes_free_port(one.settings)) continue;
    const auto [first, is_new] = lines.emplace(one.settings.address, one.line);
    if (!is_new)
      return contradiction(one, "has the address " + one.settings.address + " of line " +
                                    std::to_string(first->second) + " too; choose another");
  }
  return {};
}

} // namespace hearth::server
