#include "runtime/cli/settings/remote_settings.hpp"

#include "messages/cache_id.hpp"
#include "messages/size_text.hpp"
#include "messages/time_text.hpp"
#include "runtime/cli/settings/settings.hpp"
#include "runtime/net/remote_endpoint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace hearth::cli {
namespace {

using std::chrono::milliseconds;

tl::unexpected<error> no_good(std::string_view text, std::string_view expected_here) {
  return fail(errc::invalid_argument,
              "'" + std::string(text) + "' is not " + std::string(expected_here));
}

template <auto Member>
expected<void> set_time(std::string_view text, remote_config& into) {
  const auto time = parse_milliseconds(text);
  if (!time) return no_good(text, "a time above 0; write 100ms, 30s, 5min, 12h or 7d");
  into.*Member = *time;
  return {};
}

template <auto Member>
expected<void> set_size(std::string_view text, remote_config& into) {
  const auto size = parse_size(text);
  if (!size) return fail(size.error());
  if (*size == 0) return no_good(text, "a size above 0");
  into.*Member = *size;
  return {};
}

template <auto Member>
expected<void> set_path(std::string_view text, remote_config& into) {
  into.*Member = std::string(text);
  return {};
}

expected<void> set_url(std::string_view text, remote_config& into) {
  if (const auto endpoint = net::parse_remote_url(text); !endpoint) return fail(endpoint.error());
  into.url = text;
  return {};
}

expected<void> set_ttl(std::string_view text, remote_config& into) {
  if (text == "never") {
    into.ttl = milliseconds(0);
    return {};
  }
  return set_time<&remote_config::ttl>(text, into);
}

expected<void> set_verify(std::string_view text, remote_config& into) {
  if (text != "yes" && text != "no") return no_good(text, "yes or no");
  into.verify = text == "yes";
  return {};
}

expected<void> set_mode(std::string_view text, remote_config& into) {
  if (text == "read-write")
    into.mode = remote_mode::read_write;
  else if (text == "read-only")
    into.mode = remote_mode::read_only;
  else if (text == "write-only")
    into.mode = remote_mode::write_only;
  else
    return no_good(text, "read-write, read-only or write-only");
  return {};
}

expected<void> set_prefix(std::string_view text, remote_config& into) {
  constexpr std::size_t longest = 64;
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (text.empty() || text.size() > longest || !is_plain)
    return no_good(text, "a prefix: 1 to 64 characters of ASCII without spaces");
  into.prefix = text;
  return {};
}

// "autotune,kernels"
expected<void> set_caches(std::string_view text, remote_config& into) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto name = text.substr(begin, end - begin);
    if (const auto id = cache_id::make(name); !id) return fail(id.error());
    names.emplace_back(name);
    begin = end + 1;
  }
  into.caches = std::move(names);
  return {};
}

expected<void> set_entries(std::string_view text, remote_config& into) {
  std::size_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end || number == 0 || number > 10'000'000)
    return no_good(text, "a number from 1 to 10000000");
  into.queue_entries = number;
  return {};
}

constexpr std::array<remote_setting, 17> setting_table{{
    {"remote", "--remote", "URL",
     "the remote tier: redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss://..., "
     "redis+unix:///PATH, redis+cluster://HOST[:PORT],..., "
     "redis+sentinel://HOST[:PORT],.../MASTER, hearth://... for a hearth serve ($HEARTH_REMOTE); "
     "may be repeated, nearest first, each with the options behind it",
     set_url},
    {"remote_password_file", "--remote-password-file", "FILE",
     "its first line is the password, instead of one in the URL",
     set_path<&remote_config::password_file>},
    {"remote_ca_file", "--remote-ca-file", "FILE", "PEM of who signs servers' certificates",
     set_path<&remote_config::ca_file>},
    {"remote_certificate_file", "--remote-certificate-file", "FILE", "PEM of our certificate",
     set_path<&remote_config::certificate_file>},
    {"remote_key_file", "--remote-key-file", "FILE", "PEM of our certificate's key",
     set_path<&remote_config::key_file>},
    {"remote_verify", "--remote-verify", "yes|no", "verify certificate and host name; yes",
     set_verify},
    {"remote_signing_keys", "--remote-signing-keys", "FILE",
     "sign entries with the first key, and take only what one of them signed",
     set_path<&remote_config::signing_key_file>},
    {"remote_mode", "--remote-mode", "MODE", "read-write, read-only or write-only", set_mode},
    {"remote_caches", "--remote-caches", "NAME,...",
     "the named caches that use it, as autotune; all without", set_caches},
    {"remote_prefix", "--remote-prefix", "TEXT", "of every name in the server; hearth", set_prefix},
    {"remote_ttl", "--remote-ttl", "TIME", "how long entries last, as 7d; never end", set_ttl},
    {"remote_deadline", "--remote-deadline", "TIME", "how long anything waits for it; 100ms",
     set_time<&remote_config::deadline>},
    {"remote_lease", "--remote-lease", "TIME", "a compile lease without renewal; 30s",
     set_time<&remote_config::lease_time>},
    {"remote_drain", "--remote-drain", "TIME", "at the end, for what is still to be written; 5s",
     set_time<&remote_config::drain_deadline>},
    {"remote_value_limit", "--remote-value-limit", "SIZE", "larger values are not sent; 64MiB",
     set_size<&remote_config::max_value_bytes>},
    {"remote_queue", "--remote-queue", "SIZE", "of what is written behind; 64MiB",
     set_size<&remote_config::queue_bytes>},
    {"remote_queue_entries", "--remote-queue-entries", "N", "the same in entries; 4096",
     set_entries},
}};

} // namespace

std::span<const remote_setting> remote_settings() noexcept { return setting_table; }

void hide_passwords(int count, char** arguments) noexcept {
  for (int i = 1; i < count; ++i) {
    char* const scheme = std::strstr(arguments[i], "://");
    char* const at = scheme ? std::strrchr(scheme, '@') : nullptr;
    if (at) std::fill(scheme + 3, at, '*');
  }
}

} // namespace hearth::cli
