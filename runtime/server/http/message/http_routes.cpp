#include "runtime/server/http/message/http_routes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace hearth::server {
namespace {

constexpr std::size_t digest_digits = 64;
// ccache's bazel layout repeats its 40 digits up to the length of a SHA-256.
constexpr std::size_t ccache_digits = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

template <class Test>
bool is_all(std::string_view text, Test test) {
  return std::all_of(text.begin(), text.end(), test);
}

bool is_of_ccache(std::string_view digest) {
  return digest.substr(ccache_digits) == digest.substr(0, digest_digits - ccache_digits);
}

struct split_target {
  std::string_view path, query; // the query without its `?`
};

split_target split(std::string_view target) {
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

// The last part of the path, if what is in front of it ends with `folder`.
std::optional<std::string_view> name_in(std::string_view path, std::string_view folder) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos || !path.substr(0, slash + 1).ends_with(folder))
    return std::nullopt;
  return path.substr(slash + 1);
}

std::string marked(std::string_view mark, std::string_view name) {
  std::string key("http:");
  key += mark;
  key += ':';
  key += name;
  return key;
}

// The value of a query's member, as it stands there; empty if the member is missing.
std::optional<std::string_view> query_member(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const auto member = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), member.size() + 1));
    if (member.starts_with(name) && member.substr(name.size()).starts_with('='))
      return member.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::string turbo_key(const split_target& target) {
  auto key = marked("turbo", target.path);
  char separator = '?'; // the path has none, and no value has a `&`
  for (const std::string_view name : {"teamId", "slug"}) {
    const auto team = query_member(target.query, name);
    if (!team) continue;
    (((key += separator) += name) += '=') += *team;
    separator = '&';
  }
  return key;
}

std::optional<http_route> page_route(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, route_kind>, 6> pages{{
      {"/", route_kind::status_page},
      {"/metrics", route_kind::metrics},
      {"/healthz", route_kind::liveness},
      {"/livez", route_kind::liveness},
      {"/readyz", route_kind::readiness},
      {"/status.json", route_kind::status_json},
  }};
  for (const auto& [name, kind] : pages)
    if (path == name) return http_route{kind, {}, {}, false};
  return std::nullopt;
}

std::optional<http_route> bazel_route(const split_target& target, std::string_view whole) {
  if (const auto name = name_in(target.path, "/ac/"); name && is_digest_name(*name))
    return http_route{route_kind::action_result, marked("ac", whole), {}, is_of_ccache(*name)};
  if (const auto name = name_in(target.path, "/cas/"); name && is_digest_name(*name))
    return http_route{route_kind::blob, blob_key(*name), std::string(*name), false};
  return std::nullopt;
}

std::optional<http_route> turbo_route(const split_target& target) {
  const auto name = name_in(target.path, "/v8/artifacts/");
  if (!name || name->empty()) return std::nullopt;
  if (*name == "events") return http_route{route_kind::turbo_events, {}, {}, false};
  if (*name == "status") return http_route{route_kind::turbo_status, {}, {}, false};
  return http_route{route_kind::turbo_artifact, turbo_key(target), {}, false};
}

std::optional<http_route> nx_route(const split_target& target, std::string_view whole) {
  const auto name = name_in(target.path, "/v1/cache/");
  if (!name || name->empty() || !is_all(*name, is_digit)) return std::nullopt;
  return http_route{route_kind::nx_artifact, marked("nx", whole), {}, false};
}

} // namespace

bool is_digest_name(std::string_view name) noexcept {
  return name.size() == digest_digits && is_all(name, is_lower_hex);
}

http_route route_of(std::string_view target) {
  const auto parts = split(target);
  if (auto found = page_route(parts.path)) return std::move(*found);
  if (auto found = bazel_route(parts, target)) return std::move(*found);
  if (auto found = turbo_route(parts)) return std::move(*found);
  if (auto found = nx_route(parts, target)) return std::move(*found);
  return {route_kind::entry, marked("path", target), {}, true};
}

std::string blob_key(std::string_view digest) { return marked("cas", digest); }

std::string_view allowed_methods(const http_route& route) noexcept {
  switch (route.kind) {
  case route_kind::entry: return "GET, HEAD, PUT, DELETE, OPTIONS, PROPFIND, MKCOL";
  case route_kind::action_result:
  case route_kind::blob: return "GET, HEAD, PUT, DELETE, OPTIONS";
  case route_kind::turbo_artifact:
  case route_kind::nx_artifact: return "GET, HEAD, PUT, OPTIONS";
  case route_kind::turbo_events: return "POST, OPTIONS";
  case route_kind::status_page: return "GET, HEAD, OPTIONS, PROPFIND";
  default: return "GET, HEAD, OPTIONS";
  }
}

bool allows(const http_route& route, std::string_view method) noexcept {
  auto rest = allowed_methods(route);
  while (!rest.empty()) {
    const auto one = rest.substr(0, rest.find(','));
    if (one == method) return true;
    rest.remove_prefix(std::min(rest.size(), one.size() + 2));
  }
  return false;
}

} // namespace hearth::server
