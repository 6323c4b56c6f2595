#include "runtime/server/start_check.hpp"

#include "runtime/net/remote_endpoint.hpp"
#include "runtime/net/tls_files.hpp"
#include "runtime/os/files/signing_key_file.hpp"
#include "runtime/server/access/users_file.hpp"
#include "runtime/server/connection/listener.hpp"
#include "storage/disk/store_check.hpp"

namespace hearth::server {
namespace {

expected<void> check_listeners(const std::vector<listener_settings>& listeners) {
  for (const auto& one : listeners)
    if (const auto made = server_tls(one); !made) return fail(made.error());
  return {};
}

expected<void> check_certificates(const remote_config& upstream) {
  auto made = net::new_tls_context(boost::asio::ssl::context::tls_client);
  if (!made) return fail(made.error());
  auto* const context = (*made)->native_handle();
  if (!upstream.ca_file.empty())
    if (auto good = net::trust_file(context, upstream.ca_file); !good) return good;
  if (upstream.certificate_file.empty()) return {};
  return net::use_certificate(context, upstream.certificate_file, upstream.key_file,
                              "the upstream's client certificate");
}

expected<void> check_upstream(const remote_config& upstream) {
  if (upstream.url.empty()) return {};
  if (const auto good = net::parse_remote_url(upstream.url); !good) return fail(good.error());
  if (!upstream.password_file.empty())
    if (const auto read = net::read_secret_file(upstream.password_file); !read)
      return fail(read.error());
  if (!upstream.signing_key_file.empty())
    if (const auto read = os::read_signing_keys(upstream.signing_key_file); !read)
      return fail(read.error());
  return check_certificates(upstream);
}

} // namespace

expected<void> check_start(const server_settings& settings) {
  if (!settings.cache.store.empty())
    if (const auto good = storage::check_store(settings.cache.store); !good)
      return fail(good.error().within("the store"));
  if (!settings.users_file.empty())
    if (const auto read = read_users(settings.users_file); !read) return fail(read.error());
  if (auto good = check_listeners(settings.listeners); !good) return good;
  if (const auto good = check_upstream(settings.cache.remote); !good)
    return fail(good.error().within("upstream"));
  return {};
}

} // namespace hearth::server
