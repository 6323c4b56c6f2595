#include "runtime/server/settings/upstream_members.hpp"

#include "messages/cache_id.hpp"
#include "runtime/net/remote_endpoint.hpp"

#include <algorithm>
#include <limits>

namespace hearth::server {
namespace {

template <auto Member>
expected<void> read_remote_path(const toml::node& node, remote_config& into) {
  return assign(into.*Member, toml_text(node));
}

template <auto Member>
expected<void> read_remote_time(const toml::node& node, remote_config& into) {
  return assign(into.*Member, toml_time(node));
}

template <auto Member>
expected<void> read_remote_size(const toml::node& node, remote_config& into) {
  return assign(into.*Member, toml_size(node, 1, std::numeric_limits<std::uint64_t>::max()));
}

expected<void> read_remote_url(const toml::node& node, remote_config& into) {
  auto url = toml_text(node);
  if (!url) return fail(url.error());
  if (const auto endpoint = net::parse_remote_url(*url); !endpoint) return fail(endpoint.error());
  into.url = std::move(*url);
  return {};
}

expected<void> read_remote_ttl(const toml::node& node, remote_config& into) {
  return assign(into.ttl, toml_time_or_never(node));
}

// true or false; as in the command line's file, "yes" or "no" too.
expected<void> read_remote_verify(const toml::node& node, remote_config& into) {
  if (const auto text = node.value_exact<std::string>(); text == "yes" || text == "no") {
    into.verify = text == "yes";
    return {};
  }
  return assign(into.verify, toml_flag(node));
}

expected<void> read_remote_mode(const toml::node& node, remote_config& into) {
  return assign(into.mode, toml_choice(node, {"read-write", "read-only", "write-only"}));
}

expected<void> read_remote_prefix(const toml::node& node, remote_config& into) {
  constexpr std::size_t longest = 64;
  auto prefix = toml_text(node);
  if (!prefix) return fail(prefix.error());
  const bool is_plain =
      std::all_of(prefix->begin(), prefix->end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (prefix->size() > longest || !is_plain)
    return fail(errc::malformed, "has to be 1 to 64 characters of ASCII without spaces");
  into.prefix = std::move(*prefix);
  return {};
}

// "autotune,kernels"
expected<void> read_remote_caches(const toml::node& node, remote_config& into) {
  const auto text = toml_text(node);
  if (!text) return fail(text.error());
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text->size();) {
    const auto end = std::min(text->find(',', begin), text->size());
    auto name = text->substr(begin, end - begin);
    if (const auto id = cache_id::make(name); !id) return fail(id.error());
    names.push_back(std::move(name));
    begin = end + 1;
  }
  into.caches = std::move(names);
  return {};
}

expected<void> read_remote_entries(const toml::node& node, remote_config& into) {
  return assign(into.queue_entries, toml_count(node, 1, 10'000'000));
}

constexpr toml_member<remote_config> remote_members[] = {
    {"remote", read_remote_url},
    {"remote_password_file", read_remote_path<&remote_config::password_file>},
    {"remote_ca_file", read_remote_path<&remote_config::ca_file>},
    {"remote_certificate_file", read_remote_path<&remote_config::certificate_file>},
    {"remote_key_file", read_remote_path<&remote_config::key_file>},
    {"remote_verify", read_remote_verify},
    {"remote_signing_keys", read_remote_path<&remote_config::signing_key_file>},
    {"remote_mode", read_remote_mode},
    {"remote_caches", read_remote_caches},
    {"remote_prefix", read_remote_prefix},
    {"remote_ttl", read_remote_ttl},
    {"remote_deadline", read_remote_time<&remote_config::deadline>},
    {"remote_lease", read_remote_time<&remote_config::lease_time>},
    {"remote_drain", read_remote_time<&remote_config::drain_deadline>},
    {"remote_value_limit", read_remote_size<&remote_config::max_value_bytes>},
    {"remote_queue", read_remote_size<&remote_config::queue_bytes>},
    {"remote_queue_entries", read_remote_entries},
};

} // namespace

std::span<const toml_member<remote_config>> upstream_members() noexcept { return remote_members; }

} // namespace hearth::server
