#include "runtime/net/remote_endpoint.hpp"

#include "messages/hex.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <charconv>
#include <optional>
#include <sys/un.h>

namespace hearth::net {
namespace {

constexpr std::size_t max_url_bytes = 4096;
constexpr std::size_t max_host_bytes = 253;
constexpr std::size_t max_secret_file_bytes = 4096;
constexpr std::uint32_t max_database = 65535;
constexpr std::string_view forms =
    "; wanted redis://[[USER:]PASSWORD@]HOST[:PORT][/DATABASE], rediss://... or "
    "redis+unix://[[USER:]PASSWORD@]/PATH";

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

bool is_host(std::string_view text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  return !text.empty() && text.size() <= max_host_bytes &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_ipv6(std::string_view text) {
  return text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

expected<void> set_host(remote_endpoint& out, std::string_view text) {
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    const auto address = take_front(text, text.find(']'));
    if (!address || !is_ipv6(*address)) return refuse("what stands in [] is no IPv6 address");
    out.host = *address;
    if (!text.empty() && !text.starts_with(':')) return refuse("after ] comes :PORT or nothing");
  } else {
    const auto host = text.substr(0, text.find(':'));
    if (!is_host(host)) return refuse("there is no host, or it is no name or address");
    out.host = host;
    text.remove_prefix(host.size());
  }
  if (text.empty()) return {};
  const auto port = parse_number(text.substr(1), 65535);
  if (!port || *port == 0) return refuse("the port is no number of 1 to 65535");
  out.port = static_cast<std::uint16_t>(*port);
  return {};
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
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos) {
    if (rest.size() > slash + 1) {
      if (auto done = set_database(out, rest.substr(slash + 1)); !done) return done;
    }
    rest = rest.substr(0, slash);
  }
  return set_host(out, rest);
}

std::optional<remote_transport> transport_of(std::string_view scheme) {
  if (scheme == "redis") return remote_transport::tcp;
  if (scheme == "rediss") return remote_transport::tls;
  if (scheme == "redis+unix" || scheme == "unix") return remote_transport::unix_socket;
  return {};
}

} // namespace

expected<remote_endpoint> parse_remote_url(std::string_view url) {
  if (url.size() > max_url_bytes) return refuse("it is longer than 4096 bytes");
  const auto colon = url.find("://");
  const auto transport = transport_of(url.substr(0, colon));
  if (colon == std::string_view::npos || !transport)
    return refuse("it begins with none of redis://, rediss:// and redis+unix://");
  remote_endpoint out;
  out.transport = *transport;
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
  if (endpoint.transport == remote_transport::unix_socket)
    return "redis+unix://" + endpoint.socket_path + (database.empty() ? "" : "?db=" + database);
  std::string text = endpoint.transport == remote_transport::tls ? "rediss://" : "redis://";
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  text += brackets ? "[" + endpoint.host + "]" : endpoint.host;
  text += ":" + std::to_string(endpoint.port);
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
