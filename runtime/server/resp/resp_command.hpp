// The commands of the Redis protocol that the server knows. Constant tables, any thread.
#pragma once

#include "runtime/server/access/ascii_case.hpp"
#include "runtime/server/resp/resp_session.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::server {

/// The version of Redis whose commands and error texts these are.
inline constexpr std::string_view compatible_redis_version = "7.0.15";

/// What a command needs before it runs.
enum class command_turn : std::uint8_t {
  alone, ///< the writes before it are done
  write, ///< runs beside the writes before it; its errors come in their turn
  plain, ///< as `write` without options (no more words than its arity), else `alone`
};

struct resp_command {
  std::string_view name; ///< lower case
  int arity;             ///< words with the name; negative: at least that many
  user_role role;        ///< the least role that may run it
  request_kind kind;
  command_turn turn;
  void (*run)(resp_session&, const resp_words&);
  /// Answers in place of `run` to a user whose role is too low and whose writes are ignored: as if
  /// it had been carried out, with no effect. Null: such a user is refused like any other.
  void (*when_ignored)(resp_session&, const resp_words&) = nullptr;
  bool needs_user = true; ///< false: before AUTH too
};

/// The command of this name, in any case; null: there is none.
const resp_command* find_command(std::string_view name) noexcept;

/// The tables, one for each file of commands.
std::span<const resp_command> string_commands() noexcept;
std::span<const resp_command> key_commands() noexcept;
std::span<const resp_command> hash_commands() noexcept;
std::span<const resp_command> stream_commands() noexcept;
std::span<const resp_command> script_commands() noexcept;
std::span<const resp_command> connection_commands() noexcept;
std::span<const resp_command> server_commands() noexcept;
/// All of them.
std::span<const std::span<const resp_command>> command_tables() noexcept;

/// For `when_ignored`: replies with a number, or OK, in the command's turn.
template <std::int64_t Number>
void ignore_with_number(resp_session& in, const resp_words&) {
  in.fill_turn(in.begin_turn(), integer_text(Number));
}
inline void ignore_with_ok(resp_session& in, const resp_words&) {
  in.fill_turn(in.begin_turn(), status_text("OK"));
}

} // namespace hearth::server
