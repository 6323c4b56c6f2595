#include "runtime/net/remote_endpoint.hpp"

#include "messages/hex.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sys/un.h>

namespace hearth::net {
namespace {

constexpr std::size_t max_url_bytes = 4096;
constexpr std::size_t max_name_bytes = 253;
constexpr std::size_t max_secret_file_bytes = 4096;
constexpr std::uint32_t max_database = 65535;
constexpr std::string_view forms =
    "; wanted redis://[[USER:]PASSWORD@]HOST[:PORT][/DATABASE], rediss://..., "
    "redis+unix://[[USER:]PASSWORD@]/PATH, redis+cluster://[[USER:]PASSWORD@]HOST[:PORT],..., "
    "rediss+cluster://..., redis+sentinel://[[USER:]PASSWORD@]HOST[:PORT],.../MASTER[/DATABASE] or "
    "rediss+sentinel://...; to a hearth serve hearth://, hearths:// or hearth+unix://";

tl::unexpected<error> refuse(std::string_view what) {
  return fail(errc::invalid_argument, std::string("the remote's URL: ").append(what).append(forms));
}

std::optional<std::string> without_percents(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const auto byte = text.size() - i < 3 ? std::nullopt : hex_byte(text[i + 1], text[i + 2]);
    if (!byte) return {};
    plain += *byte;
    i += 2;
  }
  return plain;
}

std::optional<std::uint32_t> parse_number(std::string_view digits, std::uint32_t max) {
  std::uint32_t number = 0;
  const auto* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end || number > max) return {};
  return number;
}

// Removes the first `at` characters and the separator after them; empty without a separator.
std::optional<std::string_view> take_front(std::string_view& text, std::size_t at) {
  if (at == std::string_view::npos) return {};
  const auto before = text.substr(0, at);
  text.remove_prefix(at + 1);
  return before;
}

expected<void> set_user(remote_endpoint& out, std::string_view text) {
  const auto user = without_percents(take_front(text, text.find(':')).value_or(""));
  const auto password = without_percents(text);
  if (!user || !password) return refuse("a % in user or password is not followed by two digits");
  out.user = *user;
  out.password = *password;
  return {};
}

expected<void> set_database(remote_endpoint& out, std::string_view digits) {
  const auto number = parse_number(digits, max_database);
  if (!number) return refuse("the database is no number up to 65535");
  out.database = *number;
  return {};
}

expected<void> set_query(remote_endpoint& out, std::string_view query) {
  if (!query.starts_with("db=")) return refuse("the only parameter is ?db=N");
  return set_database(out, query.substr(3));
}

bool is_name(std::string_view text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  return !text.empty() && text.size() <= max_name_bytes &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_ipv6(std::string_view text) {
  return text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

expected<storage::cluster_address> address_of(std::string_view text, std::uint16_t default_port) {
  storage::cluster_address out{{}, default_port};
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    const auto address = take_front(text, text.find(']'));
    if (!address || !is_ipv6(*address)) return refuse("what stands in [] is no IPv6 address");
    out.host = *address;
    if (!text.empty() && !text.starts_with(':')) return refuse("after ] comes :PORT or nothing");
  } else {
    const auto host = text.substr(0, text.find(':'));
    if (!is_name(host)) return refuse("there is no host, or it is no name or address");
    out.host = host;
    text.remove_prefix(host.size());
  }
  if (text.empty()) return out;
  const auto port = parse_number(text.substr(1), 65535);
  if (!port || *port == 0) return refuse("the port is no number of 1 to 65535");
  out.port = static_cast<std::uint16_t>(*port);
  return out;
}

// The addresses that commas separate.
expected<void> set_hosts(remote_endpoint& out, std::string_view text, std::uint16_t default_port) {
  for (auto more = true; more;) {
    const auto comma = text.find(',');
    more = comma != std::string_view::npos;
    auto address = address_of(text.substr(0, comma), default_port);
    if (!address) return fail(address.error());
    out.hosts.push_back(std::move(*address));
    if (more) text.remove_prefix(comma + 1);
  }
  return {};
}

expected<void> set_cluster(remote_endpoint& out, std::string_view rest) {
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos && rest.substr(slash) != "/" && rest.substr(slash) != "/0")
    return refuse("a cluster has no database but 0");
  if (out.database != 0) return refuse("a cluster has no database but 0");
  return set_hosts(out, rest.substr(0, slash), 6379);
}

expected<void> set_sentinels(remote_endpoint& out, std::string_view rest) {
  auto hosts = take_front(rest, rest.find('/'));
  if (!hosts) return refuse("after the sentinels comes /MASTER, the name that they watch");
  const auto name = rest.substr(0, rest.find('/'));
  if (!is_name(name))
    return refuse("the master's name has other characters than A-Z a-z 0-9 . - _");
  out.master = name;
  rest.remove_prefix(name.size());
  if (rest.size() > 1) {
    if (auto done = set_database(out, rest.substr(1)); !done) return done;
  }
  return set_hosts(out, *hosts, 26379);
}

expected<void> set_path(remote_endpoint& out, std::string_view text) {
  const auto path = without_percents(text);
  if (!path || !path->starts_with('/') || path->find('\0') != std::string::npos)
    return refuse("the socket's path has to begin with / (after the @, if there is one)");
  if (path->size() >= sizeof(sockaddr_un::sun_path))
    return refuse("the socket's path is longer than the system allows, 107 bytes");
  out.socket_path = *path;
  return {};
}

expected<void> set_place(remote_endpoint& out, std::string_view rest) {
  if (out.transport == remote_transport::unix_socket) return set_path(out, rest);
  if (out.form == remote_form::cluster) return set_cluster(out, rest);
  if (out.form == remote_form::sentinel) return set_sentinels(out, rest);
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos) {
    if (rest.size() > slash + 1) {
      if (auto done = set_database(out, rest.substr(slash + 1)); !done) return done;
    }
    rest = rest.substr(0, slash);
  }
  auto address = address_of(rest, 6379);
  if (!address) return fail(address.error());
  out.host = std::move(address->host);
  out.port = address->port;
  return {};
}

struct named_scheme {
  std::string_view name;
  remote_transport transport;
  remote_form form = remote_form::server;
  bool wants_hearth = false;
};
// The first of those that mean the same is the one that is shown.
constexpr std::array<named_scheme, 11> schemes{{
    {"redis", remote_transport::tcp},
    {"rediss", remote_transport::tls},
    {"redis+unix", remote_transport::unix_socket},
    {"unix", remote_transport::unix_socket},
    {"redis+cluster", remote_transport::tcp, remote_form::cluster},
    {"rediss+cluster", remote_transport::tls, remote_form::cluster},
    {"redis+sentinel", remote_transport::tcp, remote_form::sentinel},
    {"rediss+sentinel", remote_transport::tls, remote_form::sentinel},
    {"hearth", remote_transport::tcp, remote_form::server, true},
    {"hearths", remote_transport::tls, remote_form::server, true},
    {"hearth+unix", remote_transport::unix_socket, remote_form::server, true},
}};

// The scheme of an endpoint, with `://`.
std::string scheme_of(const remote_endpoint& endpoint) {
  const auto* const found = std::find_if(schemes.begin(), schemes.end(), [&](const auto& one) {
    return one.transport == endpoint.transport && one.form == endpoint.form &&
           one.wants_hearth == endpoint.wants_hearth;
  });
  return std::string(found == schemes.end() ? "redis" : found->name) + "://";
}

std::string list_of(const std::vector<storage::cluster_address>& hosts) {
  std::string text;
  for (const auto& host : hosts)
    text.append(text.empty() ? "" : ",").append(storage::to_string(host));
  return text;
}

} // namespace

expected<remote_endpoint> parse_remote_url(std::string_view url) {
  if (url.size() > max_url_bytes) return refuse("it is longer than 4096 bytes");
  const auto colon = url.find("://");
  const auto scheme = std::find_if(schemes.begin(), schemes.end(), [&](const auto& one) {
    return one.name == url.substr(0, colon);
  });
  if (colon == std::string_view::npos || scheme == schemes.end())
    return refuse("it begins with none of redis://, rediss:// and their like");
  remote_endpoint out;
  out.transport = scheme->transport;
  out.form = scheme->form;
  out.wants_hearth = scheme->wants_hearth;
  auto rest = url.substr(colon + 3);
  if (const auto user = take_front(rest, rest.rfind('@'))) {
    if (auto done = set_user(out, *user); !done) return fail(done.error());
  }
  const auto question = rest.find('?');
  if (question != std::string_view::npos) {
    if (auto done = set_query(out, rest.substr(question + 1)); !done) return fail(done.error());
    rest = rest.substr(0, question);
  }
  if (auto done = set_place(out, rest); !done) return fail(done.error());
  return out;
}

std::string describe(const remote_endpoint& endpoint) {
  const auto database = endpoint.database == 0 ? "" : std::to_string(endpoint.database);
  auto text = scheme_of(endpoint);
  if (endpoint.transport == remote_transport::unix_socket)
    return text + endpoint.socket_path + (database.empty() ? "" : "?db=" + database);
  if (endpoint.form == remote_form::cluster) return text + list_of(endpoint.hosts);
  if (endpoint.form == remote_form::sentinel)
    return text + list_of(endpoint.hosts) + "/" + endpoint.master +
           (database.empty() ? "" : "/" + database);
  text += storage::to_string(storage::cluster_address{endpoint.host, endpoint.port});
  return database.empty() ? text : text + "/" + database;
}

expected<std::string> read_secret_file(const std::filesystem::path& path) {
  auto text = os::read_whole_file(path, max_secret_file_bytes);
  if (!text) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r'))
    text->pop_back();
  if (text->empty() || text->find('\n') != std::string::npos)
    return fail(errc::malformed, path.string() + ": wanted one line, the password");
  return text;
}

} // namespace hearth::net
