// Who a client is, and what it may do.
#include "runtime/server/http/http_handler.hpp"
#include "runtime/server/http/message/authorization.hpp"

#include "messages/key.hpp"

#include <utility>

namespace hearth::server {
namespace {

// Of a key, around its text.
constexpr std::size_t key_frame_bytes = 8;

bool is_identity_coding(std::string_view coding) { return coding.empty() || coding == "identity"; }

} // namespace

void http_handler::identify(const http_request& request,
                            std::function<void(std::optional<http_reply>)> next) {
  const auto& head = request.head;
  if (request.route.is_open() || head.method == "OPTIONS") return next(std::nullopt);
  // Without users there is nothing to check a password against, and some clients have to be given
  // one: all are anonymous, as long as anonymous clients may in.
  const bool has_no_users = context_.settings.users_file.empty() && host_.anonymous();
  if (head.authorization.empty() || has_no_users) {
    authorization_.clear();
    return next(act_for(request.route, host_.anonymous()));
  }
  if (head.authorization == authorization_) return next(std::nullopt);
  check_credentials(request, std::move(next));
}

void http_handler::check_credentials(const http_request& request,
                                     std::function<void(std::optional<http_reply>)> next) {
  const auto shown = parse_authorization(request.head.authorization);
  if (!shown) return next(unauthorized(request.route, "only Basic and Bearer are understood"));
  // The answer may come on another thread.
  auto answer = [this, host = host_.weak_from_this(), alive = std::weak_ptr(alive_), &request,
                 next = std::move(next)](expected<identity_ptr> who) {
    if (const auto living = host.lock())
      living->post([this, alive, &request, next, who] {
        if (!alive.expired()) next(take_answer(request, who));
      });
  };
  if (shown->is_token)
    context_.users.check_token(shown->secret, host_.peer(), std::move(answer));
  else
    context_.users.check_password(shown->user, shown->secret, host_.peer(), std::move(answer));
}

std::optional<http_reply> http_handler::take_answer(const http_request& request,
                                                    expected<identity_ptr> who) {
  context_.note_credentials(who, host_.peer());
  if (who) {
    auto refused = act_for(request.route, *who);
    if (!refused) authorization_ = request.head.authorization;
    return refused;
  }
  if (who.error().code() != errc::permission) return refusal(request.route, who.error());
  return unauthorized(request.route, "no user has these credentials");
}

// From now on requests are this identity's. The leases of another one end.
std::optional<http_reply> http_handler::act_for(const http_route& route, const identity_ptr& who) {
  if (!who) return unauthorized(route, "credentials are needed");
  if (who == identity_) return std::nullopt;
  auto entries = context_.entries_of(*who, 0);
  if (!entries) return refusal(route, entries.error());
  leases_ = std::make_unique<held_leases>(host_, context_, std::move(*entries));
  identity_ = who;
  space_ = &context_.counters.space(who->name_space);
  return std::nullopt;
}

std::optional<http_reply> http_handler::refuse(const http_request& request) const {
  const auto& [head, route] = request;
  if (head.expects == expectation::unknown)
    return refusal(route, 417, "only `100-continue` can be expected");
  if (!allows(route, head.method)) {
    auto reply = refusal(route, 405, "this path does not have the method " + head.method);
    reply.add_field("Allow", allowed_methods(route));
    return reply;
  }
  if (route.key.size() > max_key_bytes - key_frame_bytes)
    return refusal(route, 414, "the path is longer than a key may be");
  if (head.writes()) return refuse_write(request);
  if (head.method == "PROPFIND" && head.depth != "0")
    return refusal(route, 403, "properties are found at depth 0 only");
  return refuse_page(request);
}

std::optional<http_reply> http_handler::refuse_page(const http_request& request) const {
  const auto kind = request.route.kind;
  if (kind != route_kind::metrics && kind != route_kind::status_json) return std::nullopt;
  if (!identity_ || identity_->may_manage() || identity_->is_anonymous) return std::nullopt;
  return refusal(request.route, 403, "this page is for admins");
}

std::optional<http_reply> http_handler::refuse_write(const http_request& request) const {
  const auto& [head, route] = request;
  if (!identity_->may_write() && identity_->refused == refused_writes::error)
    return refusal(route, 403, identity_->user + " may read only");
  if (head.method != "PUT") return std::nullopt;
  if (!head.is_chunked && !head.content_length)
    return refusal(route, 411, "a PUT needs a Content-Length or chunks");
  if (head.has_content_range) return refusal(route, 400, "a part of an entry cannot be put");
  if (!is_identity_coding(head.content_encoding) && head.content_encoding != "zstd")
    return refusal(route, 415, "the only content coding is zstd");
  return std::nullopt;
}

} // namespace hearth::server
