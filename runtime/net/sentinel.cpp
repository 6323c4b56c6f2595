#include "runtime/net/sentinel.hpp"

#include "runtime/net/redis_connection.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hearth::net {
namespace {

using actors::remote_failure;
using storage::cluster_address;
using storage::resp_value;

constexpr std::chrono::milliseconds sentinel_deadline{500};
// Of the first round, in which one that hangs must not keep a short command from the others.
constexpr std::chrono::milliseconds short_deadline{25};

// One question to one sentinel.
class question final : private connection_owner {
public:
  question(const remote_endpoint& sentinel, tls_context tls, std::string master,
           std::chrono::milliseconds deadline)
      : deadline_(deadline)
      , master_(std::move(master))
      , connection_(std::make_shared<redis_connection>(loop_, sentinel, std::move(tls),
                                                       static_cast<connection_owner&>(*this))) {}

  // The reply, or a problem. Blocks.
  const std::optional<resp_value>& ask(host_addresses to) {
    connection_->start(std::move(to));
    loop_.run_for(deadline_);
    connection_->abandon();
    // What was under way ends: a callback that never came would keep the connection.
    loop_.restart();
    loop_.run();
    return reply_;
  }
  const connection_problem& problem() const noexcept { return problem_; }

private:
  void connection_ready() override {
    connection_->add({"SENTINEL", "get-master-addr-by-name", master_});
  }
  void connection_replied(resp_value reply) override {
    reply_ = std::move(reply);
    loop_.stop();
  }
  void connection_ended(connection_problem problem) override {
    problem_ = std::move(problem);
    loop_.stop();
  }

  boost::asio::io_context loop_{1};
  const std::chrono::milliseconds deadline_;
  const std::string master_;
  std::shared_ptr<redis_connection> connection_;
  std::optional<resp_value> reply_;
  connection_problem problem_ = timeout_after(deadline_);
};

std::optional<cluster_address> address_in(const resp_value& reply) {
  if (reply.type != resp_value::kind::array || reply.items.size() != 2) return {};
  const auto& port = reply.items[1].text;
  cluster_address address{reply.items[0].text, 0};
  const auto* end = port.data() + port.size();
  const auto parsed = std::from_chars(port.data(), end, address.port);
  if (address.host.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return {};
  return address;
}

// Which sentinels told nothing lately: they are asked last. Of all lookups, which are on threads of
// their own.
class recent_failures {
public:
  // All of `count`, by their places in the URL.
  std::vector<std::size_t> in_order(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto now = clock::now();
    const std::scoped_lock lock(mutex_);
    std::stable_partition(all.begin(), all.end(), [&](std::size_t which) {
      const auto at = failed_.find(which);
      return at == failed_.end() || now - at->second >= lately;
    });
    return all;
  }
  void note(std::size_t which, bool has_failed) {
    const std::scoped_lock lock(mutex_);
    if (has_failed)
      failed_[which] = clock::now();
    else
      failed_.erase(which);
  }

private:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds lately{60};

  std::mutex mutex_;
  std::map<std::size_t, clock::time_point> failed_; // under mutex_
};

class master_finder {
public:
  master_finder(remote_endpoint endpoint, tls_context tls, name_resolver resolve)
      : endpoint_(std::move(endpoint))
      , tls_(std::move(tls))
      , resolve_(std::move(resolve)) {}

  expected<host_addresses> find() const {
    const auto order = failures_->in_order(endpoint_.hosts.size());
    std::map<std::size_t, error> failed;
    for (const auto deadline : {short_deadline, sentinel_deadline}) {
      if (deadline == short_deadline && order.size() == 1) continue;
      for (const auto which : order) {
        const auto before = failed.find(which);
        if (before != failed.end() && before->second.code() != errc::timeout) continue;
        const auto found = ask(endpoint_.hosts[which], deadline);
        failures_->note(which, !found);
        if (found) return resolve_(found->host, found->port);
        failed.insert_or_assign(which, found.error());
      }
    }
    std::string problems;
    for (const auto which : order)
      problems.append(problems.empty() ? "" : ", ").append(failed.at(which).text());
    return fail(errc::remote,
                "no sentinel tells of the master " + endpoint_.master + ": " + problems);
  }

private:
  // Errors: `timeout`, and `remote` for what another question would not change.
  expected<cluster_address> ask(const cluster_address& where,
                                std::chrono::milliseconds deadline) const {
    const auto name = storage::to_string(where) + ": ";
    auto addresses = resolve_(where.host, where.port);
    if (!addresses) return fail(errc::remote, name + addresses.error().text());
    remote_endpoint sentinel;
    sentinel.transport = endpoint_.transport;
    sentinel.verify = endpoint_.verify;
    sentinel.connect_deadline = deadline;
    sentinel.host = where.host;
    sentinel.port = where.port;
    for (const bool with_login : {false, true}) {
      if (with_login) {
        sentinel.user = endpoint_.user;
        sentinel.password = endpoint_.password;
      }
      question now(sentinel, tls_, endpoint_.master, deadline);
      const auto& reply = now.ask(*addresses);
      if (!reply && now.problem().failure == remote_failure::denied && !with_login) continue;
      const bool is_late = now.problem().failure == remote_failure::timeout;
      if (!reply) return fail(is_late ? errc::timeout : errc::remote, name + now.problem().text);
      if (const auto address = address_in(*reply)) return *address;
      return fail(errc::remote, name + (reply->is_error() ? one_line(reply->text)
                                                          : "it does not know this master"));
    }
    return fail(errc::remote, name + "it accepts no login");
  }

  remote_endpoint endpoint_;
  tls_context tls_; // null without TLS
  name_resolver resolve_;
  std::shared_ptr<recent_failures> failures_ = std::make_shared<recent_failures>();
};

} // namespace

name_resolver master_resolver(const remote_endpoint& endpoint, tls_context tls,
                              name_resolver resolve) {
  return [finder = master_finder(endpoint, std::move(tls), std::move(resolve))](
             const std::string&, std::uint16_t) { return finder.find(); };
}

} // namespace hearth::net
