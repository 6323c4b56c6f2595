#include "runtime/caches/autotune/tuning_connection.hpp"

#include "messages/value.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace hearth {
namespace {

constexpr std::string_view where = "tuning connection";
constexpr std::int64_t format = 2;

// Calls `visit(name, member)` for each member, for encoding and decoding.
template <class Config, class Visit>
void visit_store(Config& settings, const Visit& visit) {
  visit("path", settings.store);
  visit("budget_bytes", settings.disk_budget_bytes);
  visit("read_only", settings.store_read_only);
}

template <class Remote, class Visit>
void visit_remote(Remote& remote, const Visit& visit) {
  visit("url", remote.url);
  visit("password_file", remote.password_file);
  visit("ca_file", remote.ca_file);
  visit("certificate_file", remote.certificate_file);
  visit("key_file", remote.key_file);
  visit("verify", remote.verify);
  visit("signing_key_file", remote.signing_key_file);
  visit("prefix", remote.prefix);
  visit("use", remote.mode);
  visit("caches", remote.caches);
  visit("deadline_ms", remote.deadline);
  visit("ttl_ms", remote.ttl);
}

template <class Settings, class Visit>
void visit_tunings(Settings& settings, const Visit& visit) {
  visit("local", settings.local);
  visit("remote", settings.remote);
  visit("remote_form", settings.remote_form);
  visit("bundle", settings.bundle);
  visit("coordinate_descent", settings.coordinate_descent);
  visit("toolchain", settings.scope.toolchain);
  visit("backend_hash", settings.scope.backend_hash);
  visit("tag", settings.scope.tag);
}

// --- to a message ------------------------------------------------------------------------------

value to_value(const std::string& text) { return text; }
value to_value(const std::filesystem::path& path) { return path.string(); }
value to_value(bool flag) { return flag; }
value to_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }
value to_value(std::chrono::milliseconds time) { return std::int64_t{time.count()}; }
value to_value(remote_mode use) { return static_cast<int>(use); }
value to_value(tuning_form form) { return static_cast<int>(form); }
value to_value(const digest& d) { return binary{std::string(d.view())}; }
value to_value(const std::vector<std::string>& texts) {
  return value::array(texts.begin(), texts.end());
}

// --- from a message ----------------------------------------------------------------------------

template <class T>
bool take(const value& from, T& into) {
  const auto* typed = from.as<T>();
  if (typed) into = *typed;
  return typed != nullptr;
}
bool take(const value& from, std::filesystem::path& into) {
  const auto* text = from.as<std::string>();
  if (text) into = *text;
  return text != nullptr;
}
bool take(const value& from, std::uint64_t& into) {
  const auto* number = from.as<std::int64_t>();
  if (number) into = static_cast<std::uint64_t>(*number);
  return number && *number >= 0;
}
bool take(const value& from, std::chrono::milliseconds& into) {
  const auto* number = from.as<std::int64_t>();
  if (number) into = std::chrono::milliseconds(*number);
  return number && *number >= 0;
}
bool take(const value& from, remote_mode& into) {
  const auto* number = from.as<std::int64_t>();
  if (!number || *number < 0 || *number > static_cast<int>(remote_mode::write_only)) return false;
  into = static_cast<remote_mode>(*number);
  return true;
}
bool take(const value& from, tuning_form& into) {
  const auto* number = from.as<std::int64_t>();
  if (!number || *number < 0 || *number > static_cast<int>(tuning_form::inductor)) return false;
  into = static_cast<tuning_form>(*number);
  return true;
}
bool take(const value& from, digest& into) {
  const auto* raw = from.as<binary>();
  const auto found = raw ? digest::of_bytes(raw->bytes) : std::nullopt;
  if (found) into = *found;
  return found.has_value();
}
bool take(const value& from, std::vector<std::string>& into) {
  const auto* items = from.as<value::array>();
  if (!items) return false;
  return std::all_of(items->begin(), items->end(), [&](const value& item) {
    const auto* text = item.as<std::string>();
    if (text) into.push_back(*text);
    return text != nullptr;
  });
}

} // namespace

std::string encode_connection(const tuning_connection& connection) {
  value::map store, remote, tunings;
  const auto into = [](value::map& fields) {
    return [&fields](const char* name, const auto& member) { fields[name] = to_value(member); };
  };
  visit_store(connection.runtime, into(store));
  visit_remote(connection.runtime.remote, into(remote));
  visit_tunings(connection.tunings, into(tunings));
  return encode(value::map{{"format", format},
                           {"store", std::move(store)},
                           {"remote", std::move(remote)},
                           {"tunings", std::move(tunings)}});
}

expected<tuning_connection> decode_connection(std::string_view message) {
  const auto decoded = decode_value(message);
  if (!decoded) return fail(decoded.error().within(where));
  const auto* version = decoded->find("format");
  if (!version || !(*version == value{format}))
    return fail(errc::malformed, std::string(where) + ": it is of another version of Hearth");
  std::string problem;
  const auto from = [&](const char* part) {
    const auto* fields = decoded->find(part);
    return [&problem, fields, part](const char* name, auto& member) {
      const auto* field = fields ? fields->find(name) : nullptr;
      if (!field || !take(*field, member)) problem = std::string(part) + "." + name;
    };
  };
  tuning_connection connection;
  visit_store(connection.runtime, from("store"));
  visit_remote(connection.runtime.remote, from("remote"));
  visit_tunings(connection.tunings, from("tunings"));
  if (problem.empty()) return connection;
  return fail(errc::malformed, std::string(where) + ": " + problem + " is missing or wrong");
}

} // namespace hearth
