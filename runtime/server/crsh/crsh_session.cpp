#include "runtime/server/crsh/crsh_session.hpp"

#include "runtime/api/version.hpp"
#include "runtime/server/sending_room.hpp"

#include <algorithm>
#include <utility>

namespace hearth::server {
namespace {

constexpr std::string_view key_mark = "crsh:";

request_kind kind_of(crsh_verb verb) {
  switch (verb) {
  case crsh_verb::get: return request_kind::get;
  case crsh_verb::put: return request_kind::put;
  case crsh_verb::remove: return request_kind::erase;
  case crsh_verb::exists: return request_kind::exists;
  default: return request_kind::other;
  }
}

bool writes(crsh_verb verb) { return verb == crsh_verb::put || verb == crsh_verb::remove; }

} // namespace

crsh_session::crsh_session(session_host& host, server_context& context)
    : host_(host)
    , context_(context)
    , space_(&context.counters.space({})) {
  host_.output().append(crsh_greeting);
  open_entries();
}

void crsh_session::open_entries() {
  const auto& who = host_.anonymous();
  if (!who) {
    problem_ = {errc::permission, "this listener lets no client in without credentials, and crsh "
                                  "has none: set `anonymous`"};
    return;
  }
  space_ = &context_.counters.space(who->name_space);
  auto entries = context_.entries_of(*who, 0);
  if (entries)
    leases_ = std::make_unique<held_leases>(host_, context_, std::move(*entries));
  else
    problem_ = entries.error();
}

std::span<char> crsh_session::room() {
  is_room_in_value_ = false;
  if (phase_ != phase::value || !value_ || !input_.is_empty()) return input_.room();
  const auto in_place = value_->room();
  is_room_in_value_ = !in_place.empty();
  return is_room_in_value_ ? in_place : input_.room();
}

void crsh_session::received(std::size_t count) {
  if (phase_ == phase::closed) return;
  if (is_room_in_value_) {
    left_ -= count;
    take_problem(value_->received(count));
  } else {
    input_.commit(count);
  }
  advance();
}

bool crsh_session::has_output_room() const {
  return host_.output().size() < context_.limits().output_bytes;
}

bool crsh_session::is_ready() const {
  return (phase_ == phase::request || phase_ == phase::value) && has_output_room();
}

bool crsh_session::is_idle() const { return phase_ == phase::request && input_.is_empty(); }

void crsh_session::sent() { advance(); }

void crsh_session::drain() {
  is_ending_ = true;
  if (is_idle()) close();
}

void crsh_session::close() {
  phase_ = phase::closed;
  input_.clear();
  host_.close_after_output();
}

void crsh_session::advance() {
  if (std::exchange(is_advancing_, true)) return;
  while (step()) {
  }
  is_advancing_ = false;
}

// Uses bytes that have come. Returns whether there may be more to do.
bool crsh_session::step() {
  if (phase_ == phase::request) return read_request();
  return phase_ == phase::value && read_value();
}

bool crsh_session::read_request() {
  if (!has_output_room()) return false;
  auto parsed = parse_crsh(input_.view());
  if (!parsed) {
    ++context_.counters.protocol_errors;
    host_.output().append(crsh_error(parsed.error().text()));
    close();
    return false;
  }
  if (!*parsed) {
    input_.shrink();
    return false;
  }
  input_.consume((*parsed)->consumed);
  request_ = std::move((*parsed)->request);
  begin();
  return true;
}

void crsh_session::begin() {
  begun_ = std::chrono::steady_clock::now();
  key_.assign(key_mark).append(request_.key);
  left_ = request_.value_bytes;
  refused_ = {};
  if (request_.verb == crsh_verb::put)
    begin_value();
  else
    handle();
}

void crsh_session::begin_value() {
  const auto& limits = context_.limits();
  if (left_ > limits.value_bytes) {
    // It may be longer than anyone wants to read.
    is_ending_ = true;
    return answer_error({errc::too_large, "the value is larger than " +
                                              std::to_string(limits.value_bytes) + " bytes"});
  }
  phase_ = phase::value;
  if (!leases_ || !host_.anonymous()->may_write()) return;
  body_plan plan;
  plan.bytes = left_;
  plan.metadata = make_value({}, 0, members_of(leases_->held_for(key_))).metadata_bytes();
  plan.max_bytes = limits.value_bytes;
  auto value = received_body::begin(std::move(plan), context_.counters.receiving_bytes,
                                    limits.receiving_bytes);
  if (value)
    value_ = std::move(*value);
  else
    refused_ = value.error();
}

bool crsh_session::read_value() {
  const auto bytes = input_.view().substr(0, std::min<std::uint64_t>(left_, input_.view().size()));
  if (value_ && !bytes.empty()) take_problem(value_->write(bytes));
  left_ -= bytes.size();
  input_.consume(bytes.size());
  if (left_ > 0) return false;
  handle();
  return true;
}

// A value that cannot be kept is dropped at once; the rest of it is read.
void crsh_session::take_problem(const expected<void>& outcome) {
  if (outcome) return;
  value_.reset();
  refused_ = outcome.error();
}

void crsh_session::handle() {
  phase_ = phase::answering;
  begun_ = std::chrono::steady_clock::now();
  if (request_.verb == crsh_verb::info)
    return answer(crsh_info("hearth " + std::string(version())), request_outcome::done);
  // The server is shared: a client that is done with it does not end it.
  if (request_.verb == crsh_verb::stop) return answer(crsh_ok, request_outcome::done);
  if (!leases_) return answer_error(problem_);
  const auto& who = *host_.anonymous();
  if (writes(request_.verb) && !who.may_write()) {
    if (who.refused == refused_writes::ignore) return answer(crsh_ok, request_outcome::refused);
    return answer_error({errc::permission, who.user + " may read only"});
  }
  switch (request_.verb) {
  case crsh_verb::put: return put();
  case crsh_verb::remove: return remove();
  case crsh_verb::exists: return exists();
  default: return get();
  }
}

// As the host's; not called either once this session is gone.
template <class T, class Next>
void crsh_session::when_answered(future<T> asked, Next next) {
  host_.when_answered(std::move(asked),
                      [this, alive = std::weak_ptr(alive_), next](expected<T> reply) {
                        if (alive.expired()) return;
                        next(std::move(reply));
                        go_on();
                      });
}

// After an answer that came later.
void crsh_session::go_on() {
  if (is_advancing_) return;
  advance();
  host_.resume();
}

void crsh_session::get() {
  const auto found = [this](const expected<lookup>& one) { answer_found(one, true); };
  if (!host_.may_hold(*host_.anonymous()) || !input_.is_empty())
    return when_answered(leases_->entries().get(key_), found);
  leases_->get(key_, [this, found](const expected<lookup>& one) {
    found(one);
    go_on();
  });
}

void crsh_session::exists() {
  when_answered(leases_->entries().get(key_),
                [this](const expected<lookup>& found) { answer_found(found, false); });
}

void crsh_session::put() {
  if (!value_) return answer_error(refused_);
  auto whole = value_->finish();
  if (!whole) return answer_error(whole.error());
  store(*whole);
}

void crsh_session::store(const artifact& value) {
  if (request_.replaces)
    return leases_->put(key_, value, [this](const expected<done>& stored) {
      if (stored)
        answer(crsh_ok, request_outcome::done);
      else
        answer_error(stored.error());
      go_on();
    });
  leases_->insert(key_, value, [this](const expected<insert_outcome>& stored) {
    if (stored)
      answer(*stored == insert_outcome::inserted ? crsh_ok : crsh_no, request_outcome::done);
    else
      answer_error(stored.error());
    go_on();
  });
}

void crsh_session::remove() {
  when_answered(leases_->entries().erase(key_), [this](const expected<bool>& erased) {
    if (!erased) return answer_error(erased.error());
    answer(*erased ? crsh_ok : crsh_no, *erased ? request_outcome::done : request_outcome::miss);
  });
}

void crsh_session::answer_found(const expected<lookup>& found, bool sends_value) {
  if (!found && found.error().code() != errc::corrupt) return answer_error(found.error());
  // A hash is an entry of the Redis protocol's clients alone.
  if (!found || !found->hit() || type_of(found->value) != entry_type::string)
    return answer(crsh_no, request_outcome::miss);
  if (!sends_value) return answer(crsh_ok, request_outcome::hit);
  const auto size = found->value.payload().size();
  if (!may_send(host_, context_, size)) return answer(crsh_no, request_outcome::refused);
  host_.output().append(crsh_ok_with_value(size));
  host_.output().append_payload(found->value);
  noted_request noted;
  noted.outcome = request_outcome::hit;
  noted.bytes_out = size;
  noted.made_in = time_taken(found->value);
  finish(noted);
}

void crsh_session::answer_error(const error& why) {
  const bool is_refused = why.code() == errc::permission || why.code() == errc::too_large ||
                          why.code() == errc::overloaded;
  answer(crsh_error(why.text()), is_refused ? request_outcome::refused : request_outcome::failed);
}

void crsh_session::answer(std::string_view bytes, request_outcome outcome) {
  host_.output().append(bytes);
  noted_request noted;
  noted.outcome = outcome;
  finish(noted);
}

// The reply is in the output; the next request can begin.
void crsh_session::finish(const noted_request& noted) {
  auto one = noted;
  one.by = protocol::crsh;
  one.kind = kind_of(request_.verb);
  one.took = std::chrono::steady_clock::now() - begun_;
  const bool is_stored = one.kind == request_kind::put && one.outcome == request_outcome::done;
  if (is_stored) one.bytes_in = request_.value_bytes;
  const auto& who = host_.anonymous();
  context_.note(one, *space_, host_.peer(), who ? std::string_view(who->user) : "nobody");
  value_.reset();
  phase_ = phase::request;
  if (is_ending_ || context_.is_draining.load(std::memory_order_relaxed)) close();
}

} // namespace hearth::server
