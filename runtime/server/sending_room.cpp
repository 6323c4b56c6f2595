#include "runtime/server/sending_room.hpp"

#include <chrono>
#include <utility>

namespace hearth::server {
namespace {

constexpr std::chrono::milliseconds pause{20};
constexpr int most_pauses = 500;

void look(session_host& host, server_context& context, std::uint64_t bytes,
          std::function<void(bool)> next, int pauses) {
  const bool has_room = context.has_room_to_send(bytes);
  if (has_room || pauses == most_pauses) return next(has_room);
  host.post_after(pause, [&host, &context, bytes, next = std::move(next), pauses]() mutable {
    look(host, context, bytes, std::move(next), pauses + 1);
  });
}

} // namespace

bool may_send(session_host& host, const server_context& context, std::uint64_t bytes) {
  host.note_loaded(bytes);
  return context.has_room_to_send(bytes);
}

void when_sendable(session_host& host, server_context& context, std::uint64_t bytes,
                   std::function<void(bool)> next) {
  look(host, context, bytes, std::move(next), 0);
}

} // namespace hearth::server
