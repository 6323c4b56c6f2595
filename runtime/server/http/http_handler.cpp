#include "runtime/server/http/http_handler.hpp"

#include "runtime/server/http/message/action_result.hpp"
#include "runtime/server/http/message/webdav.hpp"
#include "runtime/server/sending_room.hpp"
#include "runtime/server/status/status_page.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace hearth::server {
namespace {

constexpr std::string_view empty_digest =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
// Members of a value's metadata: Turbo's headers.
constexpr auto tag_member = "artifact_tag";
constexpr auto duration_member = "artifact_duration";

http_reply plain_reply(unsigned status) {
  http_reply reply;
  reply.status = status;
  return reply;
}

http_reply text_reply(std::string_view content_type, std::string text) {
  http_reply reply;
  reply.content_type = content_type;
  reply.text = std::move(text);
  return reply;
}

http_reply missing(const http_route& route) {
  return refusal(route, 404, "there is no such entry");
}

// The answer to a PUT that stored, or was dropped silently.
http_reply stored_reply(const http_route& route) {
  switch (route.kind) {
  case route_kind::turbo_artifact: {
    auto reply = text_reply("application/json", "{\"urls\":[]}\n");
    reply.status = 202;
    return reply;
  }
  case route_kind::nx_artifact: return plain_reply(200);
  default: return plain_reply(201);
  }
}

http_reply options_reply(const http_route& route) {
  auto reply = plain_reply(200);
  reply.add_field("Allow", allowed_methods(route));
  reply.add_field("DAV", "1");
  return reply;
}

// The time that Turbo says a task took, in ms; zero where it says none.
std::chrono::nanoseconds duration_of(const request_head& head) {
  constexpr std::uint64_t longest = 1'000'000'000; // eleven days
  std::uint64_t ms = 0;
  const auto& text = head.artifact_duration;
  const auto* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, ms);
  if (problem != std::errc{} || stopped != end || ms > longest) return {};
  return std::chrono::milliseconds(ms);
}

// What is kept with Turbo's artifact.
value::map turbo_members(const request_head& head) {
  auto members = members_of(duration_of(head));
  if (!head.artifact_tag.empty()) members.emplace(tag_member, head.artifact_tag);
  if (!head.artifact_duration.empty()) members.emplace(duration_member, head.artifact_duration);
  return members;
}

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

// The headers that came with Turbo's artifact.
void add_members(http_reply& reply, const artifact& stored) {
  const auto members = stored.metadata();
  if (!members) return;
  const auto add = [&](const char* member, std::string_view header) {
    const auto at = members->find(member);
    const auto* text = at == members->end() ? nullptr : at->second.as<std::string>();
    if (text && is_header_value(*text)) reply.add_field(header, *text);
  };
  add(tag_member, "x-artifact-tag");
  add(duration_member, "x-artifact-duration");
}

// The `Range` header where it has a meaning. Entries have no version that `If-Range` could name.
std::string_view range_in(const request_head& head) {
  return head.method == "GET" && !head.has_if_range ? head.range : std::string_view{};
}

std::string_view path_of(const http_request& request) {
  const std::string_view target = request.head.target;
  return target.substr(0, target.find('?'));
}

} // namespace

http_handler::http_handler(session_host& host, server_context& context,
                           const listener_settings& listener)
    : host_(host)
    , context_(context)
    , listener_(listener)
    , space_(&context.counters.space({})) {}

template <class T, class Next>
void http_handler::when_answered(future<T> asked, Next next) {
  host_.when_answered(std::move(asked),
                      [alive = std::weak_ptr(alive_), next = std::move(next)](expected<T> answer) {
                        if (!alive.expired()) next(std::move(answer));
                      });
}

std::optional<body_plan> http_handler::plan_body(const http_request& request) const {
  const auto& [head, route] = request;
  if (head.method != "PUT" || !identity_->may_write()) return std::nullopt;
  body_plan plan;
  plan.bytes = head.content_length;
  plan.is_zstd = head.content_encoding == "zstd";
  plan.is_hashed = route.kind == route_kind::blob;
  const auto members = route.kind == route_kind::turbo_artifact
                           ? turbo_members(head)
                           : members_of(leases_->held_for(route.key));
  plan.metadata = make_value({}, 0, members).metadata_bytes();
  plan.max_bytes = context_.limits().value_bytes;
  return plan;
}

void http_handler::handle(const http_request& request, http_body body, bool is_last,
                          reply_callback answer) {
  if (request.head.method == "OPTIONS") return answer(options_reply(request.route));
  if (request.head.method == "PROPFIND") return find_properties(request, std::move(answer));
  if (!request.route.has_entry()) return answer_page(request, std::move(answer));
  handle_entry(request, std::move(body), is_last, std::move(answer));
}

void http_handler::handle_entry(const http_request& request, http_body body, bool is_last,
                                reply_callback answer) {
  const auto& [head, route] = request;
  if (head.reads()) return get(request, is_last, std::move(answer));
  if (head.method == "MKCOL") return answer(plain_reply(201));
  const bool is_put = head.method == "PUT";
  if (!identity_->may_write()) {
    auto reply = is_put ? stored_reply(route) : plain_reply(204);
    reply.outcome = request_outcome::refused;
    return answer(std::move(reply));
  }
  if (is_put) return put(request, std::move(body), std::move(answer));
  erase(request, std::move(answer));
}

void http_handler::answer_page(const http_request& request, reply_callback answer) {
  switch (request.route.kind) {
  case route_kind::metrics:
    return make_page(context_.metrics_page, "text/plain; version=0.0.4; charset=utf-8",
                     std::move(answer));
  case route_kind::status_json:
    return make_page(context_.status_json, "application/json", std::move(answer));
  case route_kind::status_page:
    return answer(text_reply("text/html; charset=utf-8", std::string(status_page_html())));
  case route_kind::turbo_status:
    return answer(text_reply("application/json", "{\"status\":\"enabled\"}\n"));
  case route_kind::readiness:
    if (context_.is_draining) return answer(refusal(request.route, 503, "draining"));
    [[fallthrough]];
  case route_kind::liveness: return answer(text_reply("text/plain; charset=utf-8", "ok\n"));
  default: return answer(text_reply("application/json", "{}\n")); // Turbo's events are not kept
  }
}

// Pages block, so they are made on another thread.
void http_handler::make_page(const std::function<std::string()>& make,
                             std::string_view content_type, reply_callback answer) {
  context_.run_blocking([make, content_type, answer = std::move(answer),
                         host = host_.weak_from_this(), alive = std::weak_ptr(alive_)] {
    auto page = make();
    const auto living = host.lock();
    if (!living) return;
    living->post([page = std::move(page), content_type, answer, alive] {
      if (!alive.expired()) answer(text_reply(content_type, page));
    });
  });
}

void http_handler::get(const http_request& request, bool is_last, reply_callback answer) {
  const auto& [head, route] = request;
  if (route.blob_digest == empty_digest) return answer(value_reply(artifact::make(""), {}));
  auto found = [this, &request, answer = std::move(answer)](expected<lookup> one) {
    answer_found(request, std::move(one), answer);
  };
  const bool may_hold = host_.may_hold(*identity_) && route.can_hold;
  if (may_hold && is_last && head.method == "GET")
    leases_->get(route.key, std::move(found));
  else
    when_answered(leases_->entries().get(route.key), std::move(found));
}

void http_handler::answer_found(const http_request& request, expected<lookup> found,
                                reply_callback answer) {
  const auto& [head, route] = request;
  if (!found) return answer(refusal(route, found.error()));
  if (!found->hit()) return answer(missing(route));
  if (route.kind == route_kind::action_result && listener_.validate_results)
    return answer_result(request, std::move(*found), std::move(answer));
  if (const auto size = found->value.payload().size(); !may_send(host_, context_, size))
    return get_when_sendable(request, size, std::move(answer));
  auto reply = value_reply(found->value, range_in(head));
  if (route.kind == route_kind::turbo_artifact) add_members(reply, found->value);
  answer(std::move(reply));
}

// Looks an entry up again once there is room to send it.
void http_handler::get_when_sendable(const http_request& request, std::uint64_t bytes,
                                     reply_callback answer) {
  when_sendable(
      host_, context_, bytes,
      [this, &request, answer = std::move(answer), alive = std::weak_ptr(alive_)](bool has_room) {
        if (alive.expired()) return;
        if (!has_room)
          return answer(
              refusal(request.route, 503, "too many large values are being sent: try later"));
        when_answered(leases_->entries().get(request.route.key),
                      [this, &request, answer](expected<lookup> found) {
                        answer_found(request, std::move(found), answer);
                      });
      });
}

// The blobs that a result names, and those that its trees name.
struct http_handler::blob_search {
  std::vector<named_blob> blobs;
  std::size_t next = 0; // to look for
  std::function<void(bool are_all)> answer;

  // Whether the next blob is there, and what it names is no nonsense.
  bool take(const expected<lookup>& found) {
    if (!found || !found->hit()) return false;
    if (!blobs[next++].is_tree) return true;
    const auto files = blobs_of_tree(found->value.payload());
    if (!files || blobs.size() + files->size() > max_named_blobs) return false;
    blobs.insert(blobs.end(), files->begin(), files->end());
    return true;
  }
};

// Bazel takes a result at its word: it is a hit only if all its blobs are there.
void http_handler::answer_result(const http_request& request, lookup found, reply_callback answer) {
  auto blobs = blobs_of_result(found.value.payload());
  if (!blobs) return answer(missing(request.route));
  const auto search = std::make_shared<blob_search>();
  search->blobs = std::move(*blobs);
  search->answer = [&request, value = found.value, answer = std::move(answer)](bool are_all) {
    answer(are_all ? value_reply(value, range_in(request.head)) : missing(request.route));
  };
  find_blobs(search);
}

// Answers whether all blobs from the next one on are stored.
void http_handler::find_blobs(const std::shared_ptr<blob_search>& search) {
  for (auto& next = search->next; next < search->blobs.size();) {
    const auto& name = search->blobs[next].digest;
    if (name == empty_digest) {
      ++next;
      continue;
    }
    auto asked = leases_->entries().get(blob_key(name));
    if (!asked.ready())
      return when_answered(std::move(asked), [this, search](const expected<lookup>& found) {
        if (!search->take(found)) return search->answer(false);
        find_blobs(search);
      });
    if (!search->take(asked.get())) return search->answer(false);
  }
  search->answer(true);
}

void http_handler::put(const http_request& request, http_body body, reply_callback answer) {
  const auto& route = request.route;
  if (route.kind == route_kind::blob) return put_blob(request, body, std::move(answer));
  if (route.kind == route_kind::nx_artifact) return put_new(request, body.value, std::move(answer));
  if (route.kind == route_kind::action_result && listener_.validate_results)
    if (const auto good = blobs_of_result(body.value.payload()); !good)
      return answer(refusal(route, 400, good.error().text()));
  leases_->put(route.key, body.value, [&route, answer = std::move(answer)](expected<done> stored) {
    answer(stored ? stored_reply(route) : refusal(route, stored.error()));
  });
}

void http_handler::put_blob(const http_request& request, const http_body& body,
                            reply_callback answer) {
  const auto& route = request.route;
  if (const auto hash = body.hash.hex(); hash != route.blob_digest)
    return answer(
        refusal(route, 400, "the SHA-256 of the body is " + hash + ", not that of the path"));
  if (route.blob_digest == empty_digest) return answer(stored_reply(route));
  // Other bytes under this key are wrong, whoever stored them.
  auto asked = leases_->entries().change(
      route.key, [value = body.value](const lookup& before, bool) -> entry_change {
        if (before.hit() && before.value.payload() == value.payload()) return {};
        return {entry_change::kind::put, value};
      });
  when_answered(std::move(asked),
                [&route, answer = std::move(answer)](expected<changed_entry> stored) {
                  answer(stored ? stored_reply(route) : refusal(route, stored.error()));
                });
}

// Nx wants to hear of an entry that is there.
void http_handler::put_new(const http_request& request, const artifact& value,
                           reply_callback answer) {
  const auto& route = request.route;
  when_answered(leases_->entries().insert(route.key, value),
                [&route, answer = std::move(answer)](expected<insert_outcome> stored) {
                  if (!stored) return answer(refusal(route, stored.error()));
                  if (*stored == insert_outcome::inserted) return answer(stored_reply(route));
                  answer(refusal(route, 409, "the entry exists: it is not replaced"));
                });
}

void http_handler::erase(const http_request& request, reply_callback answer) {
  const auto& route = request.route;
  when_answered(leases_->entries().erase(route.key),
                [&route, answer = std::move(answer)](expected<bool> erased) {
                  if (!erased) return answer(refusal(route, erased.error()));
                  answer(*erased ? plain_reply(204) : missing(route));
                });
}

void http_handler::find_properties(const http_request& request, reply_callback answer) {
  const auto properties = [path = std::string(path_of(request))](
                              std::optional<std::uint64_t> file_bytes) {
    auto reply = text_reply("application/xml; charset=utf-8", properties_page(path, file_bytes));
    reply.status = 207;
    return reply;
  };
  const auto& route = request.route;
  if (path_of(request).ends_with('/')) return answer(properties(std::nullopt));
  when_answered(leases_->entries().get(route.key),
                [&route, properties, answer = std::move(answer)](expected<lookup> found) {
                  if (!found) return answer(refusal(route, found.error()));
                  if (!found->hit()) return answer(missing(route));
                  answer(properties(found->value.payload().size()));
                });
}

} // namespace hearth::server
