#include "runtime/server/settings/server_settings.hpp"

#include "messages/artifact.hpp"
#include "runtime/os/files/whole_file.hpp"
#include "runtime/server/access/toml_members.hpp"
#include "runtime/server/settings/listener_members.hpp"
#include "runtime/server/settings/upstream_members.hpp"

#include <limits>
#include <system_error>

namespace hearth::server {
namespace {

constexpr std::size_t max_settings_bytes = std::size_t{4} << 20;
constexpr std::uint64_t kib = 1u << 10, mib = 1u << 20, gib = 1u << 30;

using std::chrono::milliseconds;

template <auto Member, std::uint64_t Min, std::uint64_t Max, class Into>
expected<void> read_size(const toml::node& node, Into& into) {
  return assign(into.*Member, toml_size(node, Min, Max));
}

template <auto Member, std::uint64_t Min, std::uint64_t Max, class Into>
expected<void> read_count(const toml::node& node, Into& into) {
  return assign(into.*Member, toml_count(node, Min, Max));
}

template <auto Member, class Into>
expected<void> read_time(const toml::node& node, Into& into) {
  return assign(into.*Member, toml_time(node));
}

template <auto Member, class Into>
expected<void> read_time_or_never(const toml::node& node, Into& into) {
  return assign(into.*Member, toml_time_or_never(node));
}

constexpr toml_member<limit_settings> limit_members[] = {
    {"value_bytes", read_size<&limit_settings::value_bytes, 1, max_payload_bytes>},
    {"header_bytes", read_size<&limit_settings::header_bytes, kib, 16 * mib>},
    {"connections", read_count<&limit_settings::connections, 1, 1'000'000>},
    {"output_bytes", read_size<&limit_settings::output_bytes, 16 * kib, gib>},
    {"receiving_bytes", read_size<&limit_settings::receiving_bytes, 1, max_payload_bytes>},
    {"sending_bytes", read_size<&limit_settings::sending_bytes, 1, max_payload_bytes>},
    {"pipelined_writes", read_count<&limit_settings::pipelined_writes, 1, 65'536>},
    {"idle_time", read_time_or_never<&limit_settings::idle_time>},
    {"request_time", read_time_or_never<&limit_settings::request_time>},
};

constexpr toml_member<hold_settings> hold_members[] = {
    {"wait", read_time<&hold_settings::wait>},
    {"holder", read_time<&hold_settings::holder>},
    {"max_held", read_count<&hold_settings::max_held, 1, 1'000'000>},
};

constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();

expected<void> read_store(const toml::node& node, server_settings& into) {
  return assign(into.cache.store, toml_text(node));
}
expected<void> read_disk_budget(const toml::node& node, server_settings& into) {
  return assign(into.cache.disk_budget_bytes, toml_size(node, 1, any_size));
}
expected<void> read_memory_budget(const toml::node& node, server_settings& into) {
  return assign(into.cache.memory_budget_bytes, toml_size(node, 1, any_size));
}
expected<void> read_compress(const toml::node& node, server_settings& into) {
  return assign(into.compress, toml_flag(node));
}
expected<void> read_users_file(const toml::node& node, server_settings& into) {
  return assign(into.users_file, toml_text(node));
}
expected<void> read_log(const toml::node& node, server_settings& into) {
  return assign(into.log, toml_choice(node, {"debug", "info", "warning", "error"}));
}

constexpr toml_member<server_settings> settings_members[] = {
    {"store", read_store},
    {"disk_budget", read_disk_budget},
    {"memory_budget", read_memory_budget},
    {"threads", read_count<&server_settings::threads, 1, 1024>},
    {"compress", read_compress},
    {"users", read_users_file},
    {"log", read_log},
    {"drain_deadline", read_time<&server_settings::drain_deadline>},
    {"listen"},
    {"limits"},
    {"hold"},
    {"upstream"},
};

// Reads the table `name`, if there is one.
template <class Into>
expected<void> read_table(const toml_place& whole, const toml::table& root, std::string_view name,
                          std::span<const toml_member<Into>> known, Into& into) {
  const auto* node = root.get(name);
  if (!node) return {};
  const auto* table = node->as_table();
  if (!table)
    return fail(toml_error(whole, node->source().begin.line, name, errc::malformed,
                           "has to be a table; write [" + std::string(name) + "]"));
  return read_members<Into>({whole.file, std::string(name)}, *table, known, into);
}

expected<void> read_tables(const toml_place& whole, const toml::table& root,
                           server_settings& into) {
  auto done = read_members<server_settings>(whole, root, settings_members, into);
  if (done) done = read_table<limit_settings>(whole, root, "limits", limit_members, into.limits);
  if (done) done = read_table<hold_settings>(whole, root, "hold", hold_members, into.hold);
  if (done)
    done =
        read_table<remote_config>(whole, root, "upstream", upstream_members(), into.cache.remote);
  return done;
}

// What the tables contradict.
expected<void> check_tables(const toml_place& whole, const toml::table& root,
                            const server_settings& read) {
  const auto refuse = [&](std::string_view table, std::string_view what) {
    const auto* node = root.get(table);
    return fail(toml_error(whole, node ? node->source().begin.line : 0, table,
                           errc::invalid_argument, what));
  };
  const auto& remote = read.cache.remote;
  if (root.get("upstream") && remote.url.empty())
    return refuse("upstream", "has no server; write remote = \"redis://HOST:PORT\"");
  if (remote.certificate_file.empty() != remote.key_file.empty())
    return refuse("upstream", "remote_certificate_file and remote_key_file go together; give both");
  if (read.limits.sending_bytes < read.limits.value_bytes)
    return refuse("limits", "a value of value_bytes could not be sent; raise sending_bytes or "
                            "lower value_bytes");
  if (read.limits.receiving_bytes < read.limits.value_bytes)
    return refuse("limits", "a value of value_bytes could not be received; raise receiving_bytes "
                            "or lower value_bytes");
  return {};
}

void resolve_paths(server_settings& read, const std::filesystem::path& folder) {
  auto& remote = read.cache.remote;
  for (auto* path : {&read.cache.store, &read.users_file, &remote.password_file, &remote.ca_file,
                     &remote.certificate_file, &remote.key_file, &remote.signing_key_file})
    *path = path_from(folder, *path);
}

} // namespace

expected<server_settings> parse_server_settings(std::string_view text,
                                                const std::filesystem::path& file) {
  const auto root = parse_toml(text, file);
  if (!root) return fail(root.error());
  const toml_place whole{file.string(), ""};
  server_settings read;
  if (auto done = read_tables(whole, *root, read); !done) return fail(done.error());
  auto listeners = read_listeners(whole.file, *root);
  if (!listeners) return fail(listeners.error());
  if (listeners->empty())
    return fail(toml_error(whole, 0, "listen", errc::invalid_argument,
                           "there is no listener; write [[listen]] and an address"));
  if (auto done = check_tables(whole, *root, read); !done) return fail(done.error());
  std::error_code failure;
  const auto whole_path = std::filesystem::absolute(file, failure);
  if (failure) return fail(errc::io, "the working folder is gone; start in another one");
  const auto folder = whole_path.parent_path();
  if (auto done = complete_listeners(*listeners, !read.users_file.empty(), folder); !done)
    return fail(done.error());
  for (auto& one : *listeners)
    read.listeners.push_back(std::move(one.settings));
  resolve_paths(read, folder);
  return read;
}

expected<server_settings> read_server_settings(const std::filesystem::path& file) {
  const auto text = os::read_whole_file(file, max_settings_bytes);
  if (!text) return fail(text.error().within("settings file"));
  return parse_server_settings(*text, file);
}

} // namespace hearth::server
