#include "runtime/net/cluster/cluster_router.hpp"

#include "storage/remote/commands.hpp"
#include "storage/resp/server_error.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace hearth::net {
namespace {

using actors::remote_client;
using actors::remote_failure;
using actors::remote_reply;
using storage::resp_value;
using namespace std::chrono_literals;

constexpr auto table_deadline = 1'000ms; // to read the table of slots, and for a probe
constexpr auto between_tables = 100ms;   // at least
constexpr auto while_ill = 500ms;        // between two tables while a node is ill
constexpr auto before_held_again = 100ms;
constexpr auto least_left =
    500ms; // of the time of a write that was held: later it is not sent again
constexpr unsigned max_redirects = 8; // and other nodes that are asked for what any can answer
constexpr unsigned max_scan_restarts = 8;
constexpr auto before_forgotten = 10'000ms; // a node that leads nothing by one node's table
constexpr std::size_t max_nodes = 2'000;    // above which none is kept for that; Redis allows 1,000

// Whether a failure is one of the connection, and not an answer.
bool is_of_connection(const remote_reply& reply) {
  switch (reply.failure) {
  case remote_failure::unreachable:
  case remote_failure::untrusted:
  case remote_failure::timeout:
  case remote_failure::cut: return true;
  case remote_failure::denied:
  case remote_failure::garbage: return !reply.value.is_error();
  default: return false;
  }
}

// Redis refuses PING, too, while it cannot save (MISCONF); it is read all the same.
bool refuses_writes(const remote_reply& reply) {
  return reply.value.is_error() &&
         storage::server_error_of(reply.value.text) == storage::server_error::no_writes;
}

// Whether the failure tells nothing of the node: the command was refused on this side, or most of
// its time was over when it was sent.
bool is_no_fault_of_node(const cluster_request& request, const remote_reply& reply) {
  if (reply.value.is_error()) return false;
  const bool was_late = 2 * (request.command.deadline - request.sent) < request.command.allowed;
  return reply.failure == remote_failure::refused ||
         (reply.failure == remote_failure::timeout && was_late);
}

// Whether one write stands in the place of an earlier one of its name.
bool replaces(const remote_client::command& earlier, const remote_client::command& later) {
  const auto is_whole = [](const auto& one) {
    return one.front() == "SET" || one.front() == "DEL";
  };
  return is_whole(earlier) && is_whole(later) &&
         storage::name_in(earlier) == storage::name_in(later);
}

// Whether a node with a full memory would have refused a write that got this reply.
bool shows_room(const remote_client::command& write, const remote_reply& reply) {
  using kind = resp_value::kind;
  const bool changed_nothing =
      write.front() == "EVAL" && reply.value.type == kind::integer && reply.value.integer == 0;
  return reply.failure == remote_failure::none && !changed_nothing;
}

bool opens_at_once(remote_failure why) {
  return why != remote_failure::cut && why != remote_failure::garbage;
}

// Whether the node said that it cannot serve this now, but may soon.
bool is_for_later(std::string_view error) {
  return error.starts_with("CLUSTERDOWN") || error.starts_with("TRYAGAIN");
}

// How far a scan of all nodes is: "EPOCH-RESTARTS-NODE-CURSOR". The names are found again from the
// start when slots have moved meanwhile, but not for ever.
struct scan_place {
  std::uint64_t epoch = 0;
  std::uint64_t restarts = 0;
  std::uint64_t node = 0;
  std::string cursor = "0";
};

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr == end || *parsed.ptr != '-') return {};
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()) + 1);
  return number;
}

scan_place place_of(std::string_view text, std::uint64_t epoch) {
  const auto of = take_number(text);
  const auto restarts = of ? take_number(text) : std::nullopt;
  const auto node = restarts ? take_number(text) : std::nullopt;
  if (!node) return {epoch, 0, 0, "0"};
  if (*of != epoch) return {epoch, *restarts + 1, 0, "0"};
  return {epoch, *restarts, *node, std::string(text)};
}

std::string to_string(const scan_place& place) {
  return std::to_string(place.epoch) + "-" + std::to_string(place.restarts) + "-" +
         std::to_string(place.node) + "-" + place.cursor;
}

} // namespace

cluster_router::cluster_router(cluster_settings settings, std::unique_ptr<cluster_loop> loop)
    : settings_(std::move(settings))
    , loop_(std::move(loop)) {
  for (const auto& address : settings_.hosts)
    node_at(address);
}

cluster_node& cluster_router::node_at(const storage::cluster_address& address) {
  auto& node = nodes_[address];
  if (node) return *node;
  const auto number = ++made_nodes_;
  node = std::make_unique<cluster_node>(number, address, loop_->connect(address),
                                        settings_.jitter_seed + number);
  return *node;
}

// --- routing -----------------------------------------------------------------------------------

void cluster_router::add(remote_client::lane by, remote_command command, time_point) {
  auto request = std::make_shared<cluster_request>();
  request->by = by;
  request->number = ++last_request_;
  if (const auto name = storage::name_in(command.arguments))
    request->slot = storage::slot_of(*name);
  request->command = std::move(command);
  is_taking_ = true;
  if (by != remote_client::lane::writes || order_.enter_batch(request)) route(request);
  is_taking_ = false;
}

void cluster_router::route(const request_ptr& request) {
  if (is_closed_) return fail(request, closed_why_);
  if (!table_.is_known()) {
    hold(unrouted_, request);
    return want_table();
  }
  if (!request->slot) return route_nameless(request);
  auto* leader = table_.leader_of(*request->slot);
  const bool is_write = request->by == remote_client::lane::writes;
  if (!leader || !leader->health.is_closed()) {
    want_table();
    if (is_write) return hold(held_, request);
    const auto who = leader ? storage::to_string(leader->address) + " is ill"
                            : "no node serves slot " + std::to_string(*request->slot);
    return fail(request, {remote_failure::node, who});
  }
  if (is_write && has_to_wait(*leader, *request)) return hold(held_, request);
  if (is_write && !order_.enter_slot(request, leader->number)) return;
  const bool is_probe =
      is_write && !leader->writing.is_closed() && storage::needs_memory(request->command.arguments);
  if (is_probe) {
    leader->writing.begin_probe();
    leader->probing_write = request->number;
  }
  send(*leader, request);
}

// To a node that is well, if there is one; each in turn.
void cluster_router::route_nameless(const request_ptr& request) {
  if (request->command.arguments.front() == "SCAN") return route_scan(request);
  const auto& leaders = table_.leaders();
  if (leaders.empty()) return fail(request, {remote_failure::refused, "no node serves any slot"});
  auto* node = leaders[next_nameless_ % leaders.size()];
  for (std::size_t i = 0; i < leaders.size() && !node->health.is_closed(); ++i)
    node = leaders[(next_nameless_ + i) % leaders.size()];
  ++next_nameless_;
  send(*node, request);
}

// One node after the other. At the end the table of slots is read again: names may have moved from
// a node that was not asked yet to one that was, which nobody has told.
void cluster_router::route_scan(const request_ptr& request) {
  auto arguments = request->command.arguments;
  auto place = place_of(arguments[1], table_.epoch());
  const auto& leaders = table_.leaders();
  if (place.node >= leaders.size())
    return fail(request, {remote_failure::refused, "no node serves any slot"});
  if (place.restarts > max_scan_restarts)
    return fail(request,
                {remote_failure::node, "slots moved too often while names were looked for"});
  auto& node = *leaders[place.node];
  arguments[1] = place.cursor;
  send_as(node, request, std::move(arguments),
          [this, request, &node, place, count = leaders.size()](remote_reply reply) mutable {
            auto& items = reply.value.items;
            if (reply.failure != remote_failure::none || items.empty())
              return take(node, request, std::move(reply));
            place.cursor = items.front().text;
            if (place.cursor == "0") ++place.node;
            items.front().text = to_string(place);
            if (place.node != count) return take(node, request, std::move(reply));
            note_answer(node);
            ending_scans_.push_back([this, request, place,
                                     reply = std::move(reply)](const remote_reply* failed) mutable {
              if (failed) return finish(request, *failed);
              const bool is_whole = place.epoch == table_.epoch();
              if (is_whole) reply.value.items.front().text = "0"; // otherwise it begins anew
              finish(request, std::move(reply));
            });
            want_table();
          });
}

void cluster_router::send(cluster_node& node, const request_ptr& request, bool asks) {
  if (asks) {
    remote_command asking;
    asking.arguments = {"ASKING"};
    asking.deadline = request->command.deadline;
    asking.allowed = request->command.allowed;
    add_to(node, request->by, std::move(asking), loop_->now(), [](const remote_reply&) {});
  }
  send_as(node, request, request->command.arguments,
          [this, request, &node](remote_reply reply) { take(node, request, std::move(reply)); });
}

void cluster_router::send_as(cluster_node& node, const request_ptr& request,
                             remote_client::command arguments, reply_callback next) {
  remote_command sent;
  sent.arguments = std::move(arguments);
  sent.deadline = request->command.deadline;
  sent.allowed = request->command.allowed;
  sent.bytes = request->command.bytes;
  request->sent = loop_->now();
  add_to(node, request->by, std::move(sent), request->sent, std::move(next));
}

// A command of the router's own.
void cluster_router::send_own(cluster_node& node, remote_client::command arguments,
                              reply_callback next) {
  remote_command sent;
  sent.arguments = std::move(arguments);
  sent.allowed = table_deadline;
  const auto now = loop_->now();
  sent.deadline = now + sent.allowed;
  add_to(node, remote_client::lane::reads, std::move(sent), now, std::move(next));
}

void cluster_router::add_to(cluster_node& node, remote_client::lane by, remote_command command,
                            time_point now, reply_callback next) {
  command.answered = std::make_shared<const remote_client::replies_callback>(
      [&node, next = std::move(next)](std::size_t, remote_reply reply) {
        next(std::move(reply));
        --node.open;
      });
  ++node.open;
  node.has_unsent = true;
  flush_later();
  node.lanes->add(by, std::move(command), now);
}

void cluster_router::take(cluster_node& node, const request_ptr& request, remote_reply reply) {
  const std::string_view error =
      reply.value.is_error() ? std::string_view(reply.value.text) : std::string_view();
  if (!error.empty() && !is_closed_ && go_elsewhere(node, request, error)) return;
  const bool is_of_node = !is_no_fault_of_node(*request, reply);
  if (is_of_node) note_reply(node, reply);
  if (may_ask_another(node, *request, reply)) return route_nameless(request);
  std::vector<request_ptr> next;
  const bool has_entered = request->by == remote_client::lane::writes && request->slot;
  if (has_entered) next = order_.leave_slot(*request->slot);
  const bool is_down = is_for_later(error) && !is_closed_;
  if (is_down) want_table();
  if (has_entered &&
      (take_write_reply(node, *request, reply) || is_down || has_to_be_repeated(*request, reply))) {
    hold(held_, request);
    for (const auto& one : next)
      hold(held_, one);
    return;
  }
  if (is_down) reply.failure = remote_failure::node;
  if (has_entered) drop_overtaken(*request, reply);
  if (is_of_connection(reply) && (is_another_well(node) || !is_of_node))
    reply.failure = remote_failure::node;
  finish(request, std::move(reply));
  for (const auto& one : next)
    route(one);
}

// Whether a node that did not answer can be left out: any other can answer too, and nothing is
// changed twice.
bool cluster_router::may_ask_another(const cluster_node& node, cluster_request& request,
                                     const remote_reply& reply) const {
  const bool is_of_any = !request.slot && request.command.arguments.front() != "SCAN";
  return is_of_any && request.by == remote_client::lane::reads && is_of_connection(reply) &&
         is_another_well(node) && ++request.redirects <= max_redirects;
}

// Follows a redirect. Within a slot the node that redirects answers in order, so writes stay in
// order.
bool cluster_router::go_elsewhere(cluster_node& node, const request_ptr& request,
                                  std::string_view error) {
  auto redirect = storage::redirect_in(error);
  if (!redirect || ++request->redirects > max_redirects) return false;
  note_answer(node);
  if (node.probing_write == request->number) rest_writes(node); // nothing was seen
  if (redirect->to.host.empty()) redirect->to.host = node.address.host;
  auto& to = node_at(redirect->to);
  if (!redirect->is_once) {
    table_.assign(redirect->slot, &to);
    want_table(); // more may have moved
  }
  send(to, request, redirect->is_once);
  return true;
}

void cluster_router::fail(const request_ptr& request, connection_problem why) {
  remote_reply reply;
  reply.failure = why.failure;
  reply.problem = std::move(why.text);
  finish(request, std::move(reply));
}

void cluster_router::finish(const request_ptr& request, remote_reply reply) {
  std::vector<request_ptr> next;
  connection_problem lost;
  if (request->batch) {
    const bool is_lost = reply.failure != remote_failure::none && !reply.value.is_error();
    if (is_lost) lost = {reply.failure, reply.problem};
    next = order_.leave_batch(*request, is_lost);
  }
  request->command.answer(std::move(reply));
  for (const auto& one : next) {
    if (lost.failure == remote_failure::none)
      route(one);
    else
      fail(one, lost);
  }
}

// Whether its node refuses writes.
bool cluster_router::is_refused(const cluster_request& write) const {
  const auto* leader = table_.is_known() && write.slot ? table_.leader_of(*write.slot) : nullptr;
  return leader && !leader->writing.is_closed();
}

void cluster_router::hurry(bool on) {
  is_hurried_ = on;
  if (!on) return;
  for (const auto& one : take_held([&](const cluster_request& held) { return is_refused(held); }))
    fail(one, why_held(*one));
}

void cluster_router::hold(std::deque<request_ptr>& where, const request_ptr& request) {
  if (is_hurried_ && &where == &held_ && is_refused(*request))
    return fail(request, why_held(*request));
  const auto bytes = request->command.bytes;
  if (!where.empty() && held_bytes_ + bytes > settings_.max_waiting_bytes)
    return fail(request, {remote_failure::refused, "too much waits to be sent"});
  held_bytes_ += bytes;
  request->redirects = 0;
  request->was_held = request->was_held || &where == &held_;
  const auto behind = std::find_if(where.rbegin(), where.rend(), [&](const request_ptr& one) {
    return one->number < request->number;
  });
  where.insert(behind.base(), request);
  if (&where == &held_) {
    held_at_ = std::min(held_at_, loop_->now() + before_held_again);
    if (request->slot) held_slots_.insert(*request->slot);
  }
  wake_at(std::min(held_at_, request->command.deadline));
}

std::vector<request_ptr>
cluster_router::take_held(const std::function<bool(const cluster_request&)>& which) {
  std::vector<request_ptr> taken;
  std::erase_if(held_, [&](const request_ptr& one) {
    if (!which(*one)) return false;
    held_bytes_ -= one->command.bytes;
    taken.push_back(one);
    return true;
  });
  note_held_slots();
  return taken;
}

void cluster_router::route_held() {
  if (!table_.is_known()) return;
  drop_expired(unrouted_, loop_->now());
  drop_expired(held_, loop_->now());
  held_at_ = time_point::max();
  auto all = std::exchange(unrouted_, {});
  for (auto& one : std::exchange(held_, {}))
    all.push_back(std::move(one));
  held_slots_.clear();
  held_bytes_ = 0;
  for (const auto& one : all)
    route(one);
}

// --- health ------------------------------------------------------------------------------------

void cluster_router::note_answer(cluster_node& node) {
  if (!node.health.is_closed()) return; // what was sent before; the probe decides
  node.health.succeed();
  node.has_answered = true;
}

void cluster_router::note_reply(cluster_node& node, const remote_reply& reply) {
  if (is_of_connection(reply)) return note_failure(node, reply);
  if (reply.failure == remote_failure::closed) return;
  note_answer(node);
  node.is_apart = reply.value.is_error() && reply.value.text.starts_with("CLUSTERDOWN");
}

void cluster_router::note_failure(cluster_node& node, const remote_reply& reply) {
  if (!node.health.fail(opens_at_once(reply.failure))) return;
  node.has_answered = false;
  node.probe_at = loop_->now() + node.health.backoff();
  wake_at(node.probe_at);
  want_table(); // another node may lead its slots now
}

void cluster_router::probe(cluster_node& node) {
  node.probe_at = time_point::max();
  node.health.begin_probe();
  send_own(node, {"PING"}, [this, &node](const remote_reply& reply) {
    const bool is_well = reply.failure == remote_failure::none || refuses_writes(reply);
    node.health.end_probe(is_well);
    node.has_answered = is_well;
    if (is_closed_) return;
    if (is_well) return route_held();
    node.probe_at = loop_->now() + node.health.backoff();
    wake_at(node.probe_at);
  });
}

bool cluster_router::is_another_well(const cluster_node& than) const {
  const auto& leaders = table_.leaders();
  return std::any_of(leaders.begin(), leaders.end(), [&](const cluster_node* node) {
    return node != &than && node->has_answered && node->health.is_closed();
  });
}

bool cluster_router::takes_another_writes(const cluster_node& than) const {
  const auto& leaders = table_.leaders();
  return std::any_of(leaders.begin(), leaders.end(), [&](const cluster_node* node) {
    return node != &than && node->health.is_closed() && node->writing.is_closed();
  });
}

// Behind those of its slot that wait for the cluster or could overtake it, and while its node
// refuses writes.
bool cluster_router::has_to_wait(const cluster_node& leader, const cluster_request& write) const {
  if (held_slots_.contains(*write.slot)) return true;
  if (write.sent != time_point{} && order_.is_overtaken(write)) return true;
  if (write.was_held && write.command.deadline - loop_->now() < least_left) return true;
  if (leader.writing.is_closed()) return false;
  return leader.writing.now() != storage::breaker::phase::open ||
         loop_->now() < leader.next_write_probe;
}

// Notes what a reply to a write tells of its node. Returns whether the write has to wait: the
// cluster is down for the node, or the node refuses writes and another one takes them. If none
// does, the caller has to know.
bool cluster_router::take_write_reply(cluster_node& node, const cluster_request& write,
                                      const remote_reply& reply) {
  const bool was_probe = node.probing_write == write.number;
  const bool is_down = reply.value.is_error() && reply.value.text.starts_with("CLUSTERDOWN");
  if (refuses_writes(reply) || is_down) {
    if (!is_down && node.writing.is_closed() && !takes_another_writes(node)) return false;
    node.refusal = reply.value.text;
    const bool is_due = loop_->now() >= node.next_write_probe && node.probing_write == 0;
    if (node.writing.is_closed() || was_probe || is_due) rest_writes(node);
    return true;
  }
  if (!was_probe) return false;
  if (!shows_room(write.command.arguments, reply)) {
    rest_writes(node);
    return false;
  }
  node.writing.end_probe(true);
  node.probing_write = 0;
  return false;
}

void cluster_router::rest_writes(cluster_node& node) {
  node.writing.fail(true);
  node.writing.end_probe(false);
  node.probing_write = 0;
  node.next_write_probe = loop_->now() + node.writing.backoff();
}

bool cluster_router::is_well() const {
  const auto& leaders = table_.leaders();
  return table_.is_known() && unrouted_.empty() && held_.empty() &&
         std::all_of(leaders.begin(), leaders.end(),
                     [](const cluster_node* node) { return node->health.is_closed(); });
}

// --- the table of slots ------------------------------------------------------------------------

void cluster_router::want_table() {
  if (std::exchange(wants_table_, true)) return;
  wake_at(std::max(table_at_, loop_->now()));
}

// Asks one node after the other: those that are well first, then those that have not answered yet.
// A node that says that the cluster is down may be a former master that is apart from the others:
// it still tells of itself.
void cluster_router::ask_for_table() {
  wants_table_ = false;
  asks_for_table_ = true;
  for (auto& one : std::exchange(ending_scans_, {}))
    awaited_scans_.push_back(std::move(one));
  to_ask_.clear();
  for (const auto& [address, node] : nodes_)
    to_ask_.push_back(node.get());
  const auto trust_in = [](const cluster_node* node) {
    if (!node->health.is_closed()) return 0;
    if (node->is_apart) return 1;
    return node->has_answered ? 3 : 2;
  };
  std::stable_sort(to_ask_.begin(), to_ask_.end(), [&](const auto* one, const auto* other) {
    return trust_in(one) < trust_in(other);
  });
  ask_next({});
}

// Asks the next node. Nobody is left: the last answer tells why there is no table.
void cluster_router::ask_next(const remote_reply& last) {
  if (to_ask_.empty()) return give_up_table(last);
  auto& next = *to_ask_.back();
  to_ask_.pop_back();
  send_own(next, {"CLUSTER", "SLOTS"},
           [this, &next](const remote_reply& answer) { take_table(next, answer); });
}

void cluster_router::take_table(cluster_node& node, const remote_reply& reply) {
  auto ranges =
      reply.failure == remote_failure::none ? storage::slot_ranges_in(reply.value) : std::nullopt;
  if (is_closed_) return;
  if (ranges && !ranges->empty()) {
    asks_for_table_ = false;
    table_at_ = std::max(table_at_, loop_->now() + between_tables);
    note_answer(node);
    for (auto& range : *ranges)
      if (range.leader.host.empty()) range.leader.host = node.address.host;
    if (!table_.has(*ranges))
      table_.replace(std::move(*ranges), [this](const auto& at) { return &node_at(at); });
    to_ask_.clear();
    drop_gone_nodes();
    wake_at(forget_at_);
    if (wants_table_) wake_at(table_at_);
    end_scans(nullptr);
    return route_held();
  }
  ask_next(reply);
}

// Forgets the nodes that have led nothing for a while, so that a cluster whose nodes come and go
// under new addresses costs no more than one that stays. Not at once: a node's table may be old.
void cluster_router::drop_gone_nodes() {
  const auto now = loop_->now();
  forget_at_ = time_point::max();
  const auto is_in = [](const auto& all, const auto& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    auto& [address, node] = *at;
    const bool is_here = is_in(settings_.hosts, address) || is_in(table_.leaders(), node.get());
    node->absent_since = is_here ? time_point::max() : std::min(node->absent_since, now);
    const bool is_over = nodes_.size() > max_nodes || now - node->absent_since >= before_forgotten;
    if (is_here || node->open > 0 || !is_over) {
      if (!is_here)
        forget_at_ = std::min(forget_at_, std::max(node->absent_since, now) + before_forgotten);
      ++at;
      continue;
    }
    node->lanes->close({remote_failure::closed, "the node has left the cluster"});
    // Behind what its connections have to hear yet.
    loop_->post([gone = std::shared_ptr<cluster_node>(std::move(node))] {});
    at = nodes_.erase(at);
  }
}

// With a table that was asked for when they were at their end, or without any.
void cluster_router::end_scans(const remote_reply* failed) {
  for (const auto& end : std::exchange(awaited_scans_, {}))
    end(failed);
}

// No node has told. Without any table nobody can be served.
void cluster_router::give_up_table(const remote_reply& why) {
  asks_for_table_ = false;
  table_at_ = loop_->now() + while_ill;
  connection_problem problem{why.failure, why.problem};
  if (why.failure == remote_failure::none)
    problem = {remote_failure::unreachable, "the cluster's nodes serve no slots"};
  else if (why.value.is_error())
    problem.failure = remote_failure::unreachable; // it is no cluster
  held_bytes_ = 0;
  for (const auto& one : held_)
    held_bytes_ += one->command.bytes;
  for (const auto& one : std::exchange(unrouted_, {}))
    fail(one, problem);
  remote_reply failed;
  failed.failure = problem.failure;
  failed.problem = problem.text;
  end_scans(&failed);
  if (wants_table_) wake_at(table_at_);
}

// --- time --------------------------------------------------------------------------------------

void cluster_router::wake_at(time_point when) {
  if (when >= wakes_at_ || is_closed_) return;
  wakes_at_ = when;
  loop_->wake_at(when, [this] { wake(); });
}

void cluster_router::drop_expired(std::deque<request_ptr>& held, time_point now) {
  std::deque<request_ptr> expired;
  std::erase_if(held, [&](const request_ptr& one) {
    if (one->command.deadline > now) return false;
    held_bytes_ -= one->command.bytes;
    expired.push_back(one);
    return true;
  });
  if (&held == &held_) note_held_slots();
  for (const auto& one : expired)
    fail(one, &held == &held_ ? why_held(*one) : timeout_after(one->command.allowed));
}

// Two writes of a name were sent, and the node took the later one alone: the earlier one must not
// come behind it. Its caller knows whether it still counts.
void cluster_router::drop_overtaken(const cluster_request& by, const remote_reply& reply) {
  const bool is_done = reply.failure == remote_failure::none && !reply.value.is_null();
  if (!is_done || !held_slots_.contains(*by.slot)) return;
  const auto is_overtaken = [&](const cluster_request& held) {
    return held.slot == by.slot && held.number <= by.number &&
           replaces(held.command.arguments, by.command.arguments);
  };
  for (const auto& one : take_held(is_overtaken))
    fail(one, {remote_failure::node, "a later write was carried out before it"});
}

// An erase does not need the memory that an earlier write of its name waits for. It is carried out
// once more behind that, unless it replaces it.
bool cluster_router::has_to_be_repeated(const cluster_request& write,
                                        const remote_reply& reply) const {
  const auto& words = write.command.arguments;
  if (reply.failure != remote_failure::none || !held_slots_.contains(*write.slot)) return false;
  if (words.front() != "DEL" && words.front() != "HDEL") return false;
  return std::any_of(held_.begin(), held_.end(), [&](const request_ptr& one) {
    const auto& earlier = one->command.arguments;
    return one->slot == write.slot && one->number < write.number && !replaces(earlier, words) &&
           storage::name_in(earlier) == storage::name_in(words);
  });
}

connection_problem cluster_router::why_held(const cluster_request& write) const {
  if (is_refused(write)) {
    const auto& leader = *table_.leader_of(*write.slot);
    return {remote_failure::node,
            storage::to_string(leader.address) + " takes no writes: " + leader.refusal};
  }
  return {remote_failure::node, timeout_after(write.command.allowed).text};
}

void cluster_router::note_held_slots() {
  held_slots_.clear();
  for (const auto& one : held_)
    if (one->slot) held_slots_.insert(*one->slot);
}

void cluster_router::wake() {
  wakes_at_ = time_point::max();
  if (is_closed_) return; // the timer had run out
  const auto now = loop_->now();
  drop_expired(unrouted_, now);
  drop_expired(held_, now);
  bool is_ill = false;
  for (const auto& [address, node] : nodes_) {
    if (node->probe_at <= now) probe(*node);
    is_ill = is_ill || !node->health.is_closed();
  }
  if (is_ill) want_table();
  if (wants_table_ && !asks_for_table_ && table_at_ <= now) {
    ask_for_table();
    if (is_ill) table_at_ = now + while_ill;
  }
  if (held_at_ <= now) route_held();
  if (forget_at_ <= now && !asks_for_table_) drop_gone_nodes();
  auto next = std::min(held_at_, std::max(forget_at_, now + between_tables));
  for (const auto* held : {&unrouted_, &held_})
    for (const auto& one : *held)
      next = std::min(next, one->command.deadline);
  for (const auto& [address, node] : nodes_)
    next = std::min(next, node->probe_at);
  if (wants_table_ && !asks_for_table_) next = std::min(next, std::max(table_at_, now));
  if (next != time_point::max()) wake_at(next);
}

void cluster_router::flush_later() {
  if (is_taking_ || std::exchange(flush_is_due_, true)) return;
  loop_->post([this] { flush(); });
}

void cluster_router::flush() {
  flush_is_due_ = false;
  if (is_closed_) return;
  for (const auto& [address, node] : nodes_)
    if (std::exchange(node->has_unsent, false)) node->lanes->flush();
}

void cluster_router::fail_all(const connection_problem& why) {
  auto all = order_.take_all();
  for (auto* held : {&unrouted_, &held_})
    for (auto& one : std::exchange(*held, {}))
      all.push_back(std::move(one));
  held_slots_.clear();
  held_bytes_ = 0;
  for (const auto& one : all)
    one->command.answer({why.failure, why.text, {}});
  for (auto& one : std::exchange(ending_scans_, {}))
    awaited_scans_.push_back(std::move(one));
  const remote_reply failed{why.failure, why.text, {}};
  end_scans(&failed);
  for (const auto& [address, node] : nodes_) {
    node->lanes->fail_all(why);
    if (node->probing_write != 0) rest_writes(*node); // it has no answer
  }
}

void cluster_router::close(const connection_problem& why) {
  is_closed_ = true;
  closed_why_ = why;
  fail_all(why);
  for (const auto& [address, node] : nodes_)
    node->lanes->close(why);
  loop_->stop();
}

} // namespace hearth::net
