#include "runtime/simulation/simulated_redis.hpp"

#include "messages/hash.hpp"
#include "runtime/simulation/reply_values.hpp"
#include "storage/remote/purge_log.hpp"
#include "storage/resp/server_error.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace hearth::simulation {
namespace {

using actors::remote_client;
using actors::remote_failure;
using actors::remote_reply;
using storage::resp_value;

remote_reply failed(remote_failure why, std::string problem) {
  return {why, std::move(problem), {}};
}

remote_reply text(std::string what) {
  remote_reply made;
  made.value.type = resp_value::kind::text;
  made.value.text = std::move(what);
  return made;
}

remote_reply integer(std::int64_t number) {
  return {remote_failure::none, {}, integer_value(number)};
}

// An error reply of the server, as a connection reports it.
remote_reply server_says(const std::string& what) {
  using storage::server_error;
  const auto meaning = storage::server_error_of(what);
  auto why = remote_failure::garbage;
  if (meaning == server_error::no_writes || meaning == server_error::no_service)
    why = remote_failure::refused;
  if (meaning == server_error::no_rights || meaning == server_error::forbidden)
    why = remote_failure::denied;
  auto made = failed(why, what);
  made.value.type = resp_value::kind::error;
  made.value.text = what;
  return made;
}

redis_behavior::scope scope_of(const std::string& word) {
  if (word == "GET") return redis_behavior::scope::reads;
  if (word == "HGETALL" || word == "GETRANGE") return redis_behavior::scope::reads;
  if (word == "SET" || word == "DEL" || word == "HSET" || word == "HDEL" || word == "XADD")
    return redis_behavior::scope::writes;
  return word == "EVAL" ? redis_behavior::scope::scripts : redis_behavior::scope::all;
}

remote_reply wrong_type() {
  return server_says("WRONGTYPE Operation against a key holding the wrong kind of value");
}

// Whether a command is answered only when there is something new.
bool waits_for_news(const remote_client::command& arguments) { return arguments[0] == "XREAD"; }

// A command's short text for the trace.
std::string short_text(const remote_client::command& arguments) {
  const auto at_name = arguments[0] == "EVAL" ? 3u : waits_for_news(arguments) ? 6u : 1u;
  auto name = arguments.size() > at_name ? arguments[at_name] : std::string();
  constexpr std::size_t hash_digits = 2 * sizeof(hash_128::bytes), shown_digits = 8;
  const auto colon = name.find(':', name.find(':', name.find(':') + 1) + 1);
  if (colon != std::string::npos && name.size() >= colon + 1 + hash_digits)
    name.erase(colon + 1 + shown_digits, hash_digits - shown_digits);
  return name.empty() ? arguments[0] : arguments[0] + " " + name;
}

} // namespace

storage::signing_key signing_key_named(std::string_view id) {
  std::string secret(32, '.');
  for (std::size_t i = 0; i < secret.size(); ++i)
    secret[i] = id[i % id.size()];
  return {std::string(id), std::move(secret)};
}

// --- connections -------------------------------------------------------------------------------

void simulated_redis::connection::send_all(lane by, std::vector<command> commands,
                                           std::chrono::milliseconds deadline,
                                           replies_callback answered) {
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (is_closed_)
      answered(i, failed(remote_failure::closed, "the connection is closed"));
    else
      server_.accept(*this, {this, by, std::move(commands[i]), server_.system_.now() + deadline,
                             [answered, i](remote_reply reply) { answered(i, std::move(reply)); },
                             std::nullopt});
  }
}

void simulated_redis::connection::close() {
  if (!std::exchange(is_closed_, true)) server_.forget(*this, true);
}

void simulated_redis::connection::die() {
  if (!std::exchange(is_closed_, true)) server_.forget(*this, false);
}

void simulated_redis::connection::cut_off(bool is_cut) {
  if (std::exchange(is_cut_off_, is_cut) == is_cut) return;
  cut_at_ = server_.last_;
  if (!is_cut) server_.drop_waiting(*this);
}

// --- commands in flight ------------------------------------------------------------------------

simulated_redis::simulated_redis(stepped_system& system, std::string name)
    : system_(system)
    , actor_(system.actors().spawn(
          [](caf::event_based_actor*, simulated_redis* server) {
            return caf::behavior{
                [server](verb::run, const std::string&, std::uint64_t n) { server->arrive(n); },
                [server](verb::finish, std::uint64_t n) { server->deliver(n); }};
          },
          this)) {
  system_.enlist(actor_, std::move(name));
}

simulated_redis::~simulated_redis() { system_.kill({actor_}); }

void simulated_redis::accept(connection&, pending command) {
  const auto number = ++last_;
  auto what = short_text(command.arguments);
  pending_.emplace(number, std::move(command));
  caf::anon_send(actor_, verb::run_v, std::move(what), number);
}

void simulated_redis::forget(const connection& whose, bool tell) {
  std::vector<remote_client::reply_callback> waiting;
  for (auto& [number, one] : pending_) {
    if (one.by != &whose) continue;
    one.by = nullptr;
    waiting.push_back(std::exchange(one.answered, nullptr));
  }
  if (!tell) return;
  for (const auto& answered : waiting)
    answered(failed(remote_failure::closed, "the connection is closed"));
}

remote_reply simulated_redis::answer_to(const pending& one) {
  using kind = redis_behavior::kind;
  switch (behavior_.what) {
  case kind::refuses: return failed(remote_failure::unreachable, "connection refused");
  case kind::untrusted: return failed(remote_failure::untrusted, "the certificate has expired");
  case kind::stalls: return failed(remote_failure::timeout, "no answer within the deadline");
  case kind::errors:
    if (behavior_.of == redis_behavior::scope::all || behavior_.of == scope_of(one.arguments[0]))
      return server_says(behavior_.text);
    break;
  case kind::cuts:
    carry_out(one.arguments);
    return failed(remote_failure::cut, "the connection ended in the middle of a reply");
  case kind::garbles: return failed(remote_failure::garbage, "what came is no reply");
  case kind::well:
  case kind::slow: break;
  }
  return carry_out(one.arguments);
}

remote_reply simulated_redis::error_reply(const std::string& text) { return server_says(text); }

// A connection that was cut off for a while has ended.
void simulated_redis::drop_waiting(const connection& whose) {
  for (auto& [number, one] : pending_) {
    if (one.by != &whose || one.reply || !waits_for_news(one.arguments)) continue;
    one.reply = failed(remote_failure::cut, "the connection ended");
    caf::anon_send(actor_, verb::finish_v, number);
  }
}

// A server that stops behaving well ends the connections that wait for news.
void simulated_redis::behave(redis_behavior behavior) {
  using kind = redis_behavior::kind;
  behavior_ = std::move(behavior);
  if (behavior_.what != kind::well && behavior_.what != kind::slow) wake_waiting();
}

bool simulated_redis::owes_answers() const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [](const auto& one) { return one.second.reply.has_value(); });
}

void simulated_redis::wake_waiting() {
  for (const auto& [number, one] : pending_)
    if (waits_for_news(one.arguments) && !one.reply)
      caf::anon_send(actor_, verb::run_v, short_text(one.arguments), number);
}

void simulated_redis::arrive(std::uint64_t number) {
  const auto at = pending_.find(number);
  if (at == pending_.end() || at->second.reply) return; // failed, or about to be answered
  auto& one = at->second;
  const bool is_well =
      behavior_.what == redis_behavior::kind::well || behavior_.what == redis_behavior::kind::slow;
  const bool is_cut_off = one.by && one.by->is_cut_off_;
  if (waits_for_news(one.arguments)) {
    if (is_cut_off) return;
    if (!is_well) {
      one.reply = behavior_.text.starts_with("UNBLOCKED")
                      ? server_says(behavior_.text)
                      : failed(remote_failure::cut, "the connection ended");
      return deliver(number);
    }
    const bool is_refused = gate_ && gate_(one.arguments);
    if (one.by && !is_refused && !has_news(one.arguments)) return;
  }
  auto* const stuck_until =
      one.by ? &one.by->stuck_until_[static_cast<unsigned>(one.lane)] : nullptr;
  const bool is_stuck = stuck_until && system_.now() < *stuck_until;
  const bool is_sent = is_cut_off ? number <= one.by->cut_at_ : !is_stuck;
  if (is_sent) one.reply = answer_to(one);
  if (is_cut_off || is_stuck)
    one.reply = failed(remote_failure::timeout, "no answer within the deadline");
  if (!one.by) {
    pending_.erase(at);
    return;
  }
  auto& lane_is_busy = one.by->busy_until_[static_cast<unsigned>(one.lane)];
  auto when = std::max(system_.now(), lane_is_busy);
  if (behavior_.what == redis_behavior::kind::slow) when += behavior_.delay;
  const bool is_late = one.reply->failure == remote_failure::timeout || when > one.deadline;
  if (is_late) {
    one.reply = failed(remote_failure::timeout, "no answer within the deadline");
    when = std::max(system_.now(), one.deadline);
    *stuck_until = std::max(*stuck_until, when);
  } else {
    lane_is_busy = when;
  }
  if (when == system_.now()) return deliver(number);
  const auto wait = std::chrono::ceil<std::chrono::microseconds>(when - system_.now());
  caf::delayed_anon_send(actor_, wait, verb::finish_v, number);
}

void simulated_redis::deliver(std::uint64_t number) {
  const auto node = pending_.extract(number);
  if (node.empty() || !node.mapped().answered) return;
  const auto& one = node.mapped();
  auto* const by = one.by;
  const auto lane = one.lane;
  const bool ends_connection = one.reply->failure == remote_failure::timeout;
  one.answered(*one.reply);
  if (ends_connection) fail_lane(by, lane);
}

// A passed deadline ends the connection, and fails the other commands that wait on it.
void simulated_redis::fail_lane(connection* by, remote_client::lane lane) {
  by->stuck_until_[static_cast<unsigned>(lane)] = {};
  std::vector<remote_client::reply_callback> waiting;
  std::erase_if(pending_, [&](auto& entry) {
    auto& one = entry.second;
    if (one.by != by || one.lane != lane || !one.reply) return false;
    waiting.push_back(std::move(one.answered));
    return true;
  });
  for (const auto& answered : waiting)
    answered(failed(remote_failure::timeout, "the connection was given up"));
}

// --- commands ----------------------------------------------------------------------------------

void simulated_redis::take_over(simulated_redis& other, bool what_it_kept) {
  if (what_it_kept) other.restore();
  values_ = std::exchange(other.values_, {});
  streams_ = std::exchange(other.streams_, {});
  saved_ = std::exchange(other.saved_, {});
}

void simulated_redis::take_names(simulated_redis& other,
                                 const std::function<bool(const std::string&)>& which) {
  const auto take = [&](auto& into, auto& from) {
    for (auto at = from.begin(); at != from.end();)
      if (which(at->first))
        into.insert(from.extract(at++));
      else
        ++at;
  };
  take(values_, other.values_);
  take(streams_, other.streams_);
  take(saved_.first, other.saved_.first);
  take(saved_.second, other.saved_.second);
  wake_waiting();
  other.wake_waiting();
}

std::string* simulated_redis::find(const std::string& name) {
  const auto at = values_.find(name);
  if (at == values_.end()) return nullptr;
  if (at->second.ends && *at->second.ends <= system_.now()) {
    values_.erase(at);
    return nullptr;
  }
  return &at->second.bytes;
}

std::vector<std::string*> simulated_redis::bytes_of(const std::string& name) {
  auto* whole = find(name);
  if (!whole) return {};
  auto& fields = values_.at(name).fields;
  if (fields.empty()) return {whole};
  std::vector<std::string*> all;
  for (auto& [field, bytes] : fields)
    all.push_back(&bytes);
  return all;
}

remote_reply simulated_redis::get(const std::string& name) {
  const auto* bytes = find(name);
  if (!bytes) return {};
  if (!values_.at(name).is_string()) return wrong_type();
  remote_reply made;
  made.value.type = resp_value::kind::bytes;
  made.value.text = *bytes;
  return made;
}

remote_reply simulated_redis::lifetime_of(const std::string& name) {
  if (!find(name)) return integer(-2);
  const auto& ends = values_.at(name).ends;
  if (!ends) return integer(-1);
  return integer(
      std::chrono::duration_cast<std::chrono::milliseconds>(*ends - system_.now()).count());
}

remote_reply simulated_redis::set(const remote_client::command& arguments) {
  value made{arguments[2], std::nullopt};
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    if (arguments[i] == "NX" && find(arguments[1])) return {};
    if (arguments[i] == "PX" && i + 1 < arguments.size())
      made.ends = system_.now() + std::chrono::milliseconds(std::stoll(arguments[i + 1]));
  }
  values_[arguments[1]] = std::move(made);
  return text("OK");
}

remote_reply simulated_redis::get_fields(const std::string& name) {
  remote_reply made;
  made.value.type = resp_value::kind::array;
  if (!find(name)) return made;
  const auto& found = values_.at(name);
  if (found.is_list || found.is_string()) return wrong_type();
  for (const auto& [field, bytes] : found.fields)
    for (const auto* part : {&field, &bytes}) {
      auto& item = made.value.items.emplace_back();
      item.type = resp_value::kind::bytes;
      item.text = *part;
    }
  return made;
}

// Adds the fields from argument `first` on to the hash whose name stands before them, or, with an
// end, one further.
remote_reply simulated_redis::add_fields(const remote_client::command& arguments, std::size_t first,
                                         std::optional<virtual_time> ends) {
  const auto& name = arguments[first - (ends ? 2 : 1)];
  if (find(name) && values_.at(name).fields.empty()) return wrong_type();
  auto& hash = values_[name];
  std::int64_t added = 0;
  for (auto i = first; i + 1 < arguments.size(); i += 2)
    added += hash.fields.insert_or_assign(arguments[i], arguments[i + 1]).second;
  if (ends) hash.ends = ends;
  return integer(added);
}

remote_reply simulated_redis::remove_fields(const remote_client::command& arguments) {
  const auto& name = arguments[1];
  if (!find(name)) return integer(0);
  auto& hash = values_.at(name);
  if (hash.fields.empty()) return wrong_type();
  std::int64_t removed = 0;
  for (std::size_t i = 2; i < arguments.size(); ++i)
    removed += static_cast<std::int64_t>(hash.fields.erase(arguments[i]));
  if (hash.fields.empty()) values_.erase(name);
  return integer(removed);
}

remote_reply simulated_redis::append(const remote_client::command& arguments) {
  auto& stream = streams_[arguments[1]];
  const auto begin = std::find(arguments.begin(), arguments.end(), "*");
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(system_.now()).count() + 1);
  stream_entry made{now, 0, {begin + 1, arguments.end()}};
  if (!stream.empty() && stream.back().time >= now) {
    made.time = stream.back().time;
    made.number = stream.back().number + 1;
  }
  const auto limit = std::stoull(arguments[4]);
  stream.push_back(std::move(made));
  if (stream.size() > limit) stream.erase(stream.begin());
  wake_waiting();
  remote_reply reply;
  reply.value = bytes_value(stream.back().id());
  return reply;
}

namespace {

// The entries of a stream in the form of a reply.
template <class Entries>
resp_value entries_value(const Entries& entries) {
  resp_value all;
  all.type = resp_value::kind::array;
  all.items.reserve(entries.size());
  for (const auto* one : entries) {
    auto& entry = all.items.emplace_back();
    entry.type = resp_value::kind::array;
    entry.items.push_back(bytes_value(one->id()));
    auto& fields = entry.items.emplace_back();
    fields.type = resp_value::kind::array;
    fields.items.reserve(one->fields.size());
    for (const auto& field : one->fields)
      fields.items.push_back(bytes_value(field));
  }
  return all;
}

} // namespace

// XRANGE from an entry on, or the last entry by XREVRANGE.
remote_reply simulated_redis::read_range(const remote_client::command& arguments) {
  const auto& stream = streams_[arguments[1]];
  const auto limit = std::stoull(arguments[5]);
  std::vector<const stream_entry*> found;
  if (arguments[0] == "XREVRANGE") {
    if (!stream.empty()) found.push_back(&stream.back());
  } else {
    const auto from = storage::log_place_of(arguments[2]).value_or(storage::log_place{});
    for (const auto& one : stream)
      if (storage::log_place{one.time, one.number} >= from && found.size() < limit)
        found.push_back(&one);
  }
  remote_reply reply;
  reply.value = entries_value(found);
  return reply;
}

// Whether XREAD has something to return.
bool simulated_redis::has_news(const remote_client::command& arguments) {
  const auto after = storage::log_place_of(arguments[7]).value_or(storage::log_place{});
  const auto& stream = streams_[arguments[6]];
  return !stream.empty() && storage::log_place{stream.back().time, stream.back().number} > after;
}

remote_reply simulated_redis::await(const remote_client::command& arguments) {
  remote_reply reply;
  if (!has_news(arguments)) return reply;
  const auto after = storage::log_place_of(arguments[7]).value_or(storage::log_place{});
  std::vector<const stream_entry*> found;
  for (const auto& one : streams_[arguments[6]])
    if (storage::log_place{one.time, one.number} > after) found.push_back(&one);
  resp_value stream;
  stream.type = resp_value::kind::array;
  stream.items.push_back(bytes_value(arguments[6]));
  stream.items.push_back(entries_value(found));
  reply.value.type = resp_value::kind::array;
  reply.value.items.push_back(std::move(stream));
  return reply;
}

// All names that begin as the pattern does, at once.
remote_reply simulated_redis::scan(const remote_client::command& arguments) {
  std::string start;
  for (const char one : std::string_view(arguments[3]).substr(0, arguments[3].size() - 1))
    if (one != '\\') start += one;
  resp_value found;
  found.type = resp_value::kind::array;
  for (const auto& name : names())
    if (name.starts_with(start)) found.items.push_back(bytes_value(name));
  remote_reply reply;
  reply.value.type = resp_value::kind::array;
  reply.value.items = {bytes_value("0"), std::move(found)};
  return reply;
}

// Runs the scripts of the remote tier: HSET with a TTL; what replaces a mark; or of a lease: with a
// time it renews it, without one it releases it.
remote_reply simulated_redis::run_script(const remote_client::command& arguments) {
  const auto& name = arguments[3];
  if (arguments[1].find("HSET") != std::string::npos) {
    const auto time = std::chrono::milliseconds(std::stoll(arguments[4]));
    return add_fields(arguments, 5, system_.now() + time);
  }
  const auto& token = arguments[4];
  const auto* holder = find(name);
  if (arguments[1].find("local found") != std::string::npos) {
    if (holder && *holder != token) return integer(0);
    const auto time = std::chrono::milliseconds(std::stoll(arguments[6]));
    values_[name] = {arguments[5],
                     time.count() == 0 ? std::nullopt : std::optional(system_.now() + time)};
    return integer(1);
  }
  const bool is_renewal = arguments.size() > 5;
  if (holder && *holder != token) return integer(0);
  if (is_renewal) {
    const auto time = std::chrono::milliseconds(std::stoll(arguments[5]));
    values_[name] = {token, system_.now() + time};
    return integer(1);
  }
  if (!holder) return integer(0);
  values_.erase(name);
  return integer(1);
}

remote_reply simulated_redis::remove(const remote_client::command& arguments) {
  std::int64_t removed = 0;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    removed += static_cast<std::int64_t>(values_.erase(arguments[i]));
  return integer(removed);
}

remote_reply simulated_redis::carry_out(const remote_client::command& arguments) {
  const auto& word = arguments[0];
  ++counts_[word];
  if (gate_)
    if (auto reply = gate_(arguments)) return std::move(*reply);
  if (word == "PING") return text("PONG");
  if (word == "GET") return get(arguments[1]);
  if (word == "SET") return set(arguments);
  if (word == "PTTL") return lifetime_of(arguments[1]);
  if (word == "PEXPIRE") {
    if (!find(arguments[1])) return integer(0);
    values_[arguments[1]].ends =
        system_.now() + std::chrono::milliseconds(std::stoll(arguments[2]));
    return integer(1);
  }
  if (word == "DEL") return remove(arguments);
  if (word == "GETRANGE") {
    auto found = get(arguments[1]);
    if (found.value.is_null()) found.value = bytes_value("");
    found.value.text.resize(std::min(found.value.text.size(), std::stoul(arguments[3]) + 1));
    return found;
  }
  if (word == "XADD") return append(arguments);
  if (word == "XRANGE" || word == "XREVRANGE") return read_range(arguments);
  if (word == "XREAD") return await(arguments);
  if (word == "SCAN") return scan(arguments);
  if (word == "HGETALL") return get_fields(arguments[1]);
  if (word == "HSET") return add_fields(arguments, 2, std::nullopt);
  if (word == "HDEL") return remove_fields(arguments);
  if (word == "EVAL" && arguments.size() >= 5) return run_script(arguments);
  return server_says("ERR unknown command '" + word + "'");
}

std::vector<std::string> simulated_redis::names() {
  std::erase_if(values_, [now = system_.now()](const auto& entry) {
    return entry.second.ends && *entry.second.ends <= now;
  });
  std::vector<std::string> all;
  for (const auto& [name, one] : values_)
    all.push_back(name);
  return all;
}

std::optional<std::uint64_t> simulated_redis::figure(std::string_view name) {
  std::uint64_t entries = 0, leases = 0, commands = 0;
  for (const auto& key : names())
    if (!storage::is_removed_mark(values_.at(key).bytes))
      ++(key.ends_with(":lease") ? leases : entries);
  for (const auto& [word, count] : counts_)
    commands += count;
  if (name == "entries") return entries;
  if (name == "leases") return leases;
  if (name == "commands") return commands;
  if (name == "gets") return counts_["GET"];
  if (name == "sets") return counts_["SET"];
  if (name == "field_reads") return counts_["HGETALL"];
  if (name == "members") {
    std::uint64_t members = 0;
    for (const auto& key : names())
      members += values_.at(key).fields.size();
    return members;
  }
  if (name == "pings") return counts_["PING"];
  if (name == "purges") return counts_["XADD"];
  return std::nullopt;
}

} // namespace hearth::simulation
