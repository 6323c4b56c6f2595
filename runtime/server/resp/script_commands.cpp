// EVAL and its like, for the scripts of Hearth's remote tier alone: each is carried out here, in
// one step among the changes of its key. Nothing interprets a client's text.
#include "messages/hex.hpp"
#include "runtime/server/access/ascii_case.hpp"
#include "runtime/server/entries/unix_time.hpp"
#include "runtime/server/resp/hash_changes.hpp"
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"
#include "storage/remote/scripts.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <openssl/evp.h>
#include <utility>

namespace hearth::server {
namespace {

using storage::remote_script;

constexpr std::string_view unknown_script =
    "ERR this server runs the scripts of Hearth's remote tier and no others";
constexpr std::string_view invalid_time = "ERR invalid expire time in script";

// --- the scripts -------------------------------------------------------------------------------

// What the script gets: its key is words[3], its arguments follow.
constexpr std::size_t key_place = 3;
constexpr std::size_t first_argument = 4;

struct script_outcome {
  std::int64_t number = 0;
  bool is_wrong_type = false;
};

using value_change =
    std::function<entry_change(const lookup& before, bool is_own, script_outcome& out)>;

// Carries out a script that changes a string.
void change_value(resp_session& in, const std::string& key, value_change change) {
  const auto outcome = std::make_shared<script_outcome>();
  auto answer = in.entries().change(
      key, [outcome, change = std::move(change)](const lookup& before, bool is_own) {
        outcome->is_wrong_type = before.hit() && type_of(before.value) != entry_type::string;
        return outcome->is_wrong_type ? entry_change{} : change(before, is_own, *outcome);
      });
  in.reply_later(std::move(answer), [&in, outcome](const expected<changed_entry>& result) {
    if (!result || outcome->is_wrong_type) {
      in.note_failed();
      return in.reply().error(result ? std::string(wrong_type) : failure_text(result.error()));
    }
    in.note_write(0);
    in.reply().integer(outcome->number);
  });
}

entry_change put_change(const artifact& value, script_outcome& out) {
  out.number = 1;
  return {entry_change::kind::put, value};
}

// Whether the entry is this text. One of the trusted namespace is not another namespace's to
// change.
bool is_text(const lookup& before, std::string_view text) {
  return before.hit() && before.value.payload() == text;
}

void renew_lease(resp_session& in, const resp_words& words) {
  const auto end =
      parse_expiry(words[first_argument + 1], expiry_unit::milliseconds, unix_time_ms());
  if (!end || *end <= unix_time_ms()) return in.reply().error(invalid_time);
  change_value(in, words[key_place],
               [token = words[first_argument], end = *end](const lookup& before, bool is_own,
                                                           script_outcome& out) -> entry_change {
                 if (before.hit() && !(is_own && is_text(before, token))) return {};
                 return put_change(make_value(token, end), out);
               });
}

void give_back(resp_session& in, const resp_words& words) {
  change_value(in, words[key_place],
               [token = words[first_argument]](const lookup& before, bool is_own,
                                               script_outcome& out) -> entry_change {
                 if (!is_own || !is_text(before, token)) return {};
                 out.number = 1;
                 return {entry_change::kind::erase, {}};
               });
}

void replace_mark(resp_session& in, const resp_words& words) {
  const auto& lifetime = words[first_argument + 2];
  const auto end = parse_expiry(lifetime, expiry_unit::milliseconds, unix_time_ms());
  const bool is_for_ever = lifetime == "0";
  if (!end || (!is_for_ever && *end <= unix_time_ms())) return in.reply().error(invalid_time);
  change_value(in, words[key_place],
               [mark = words[first_argument], bytes = words[first_argument + 1],
                end = is_for_ever ? 0 : *end](const lookup& before, bool,
                                              script_outcome& out) -> entry_change {
                 // A trusted mark is replaced in the own namespace, where it was looked up.
                 if (before.hit() && !is_text(before, mark)) return {};
                 return put_change(make_value(bytes, end), out);
               });
}

void add_fields(resp_session& in, const resp_words& words) {
  const auto end = parse_expiry(words[first_argument], expiry_unit::milliseconds, unix_time_ms());
  if (!end || *end <= unix_time_ms()) return in.reply().error(invalid_time);
  change_hash(
      in, words[key_place],
      [kept = words](hash_fields& fields) -> std::int64_t {
        add_pairs(fields, kept, first_argument + 1);
        return 1;
      },
      *end);
}

struct served_script {
  void (*run)(resp_session&, const resp_words&);
  std::size_t arguments; // at least
  bool takes_pairs;      // further ones come in pairs; else there are no more
};

constexpr std::array<served_script, storage::remote_script_count> served_scripts{{
    {renew_lease, 2, false},
    {give_back, 1, false},
    {add_fields, 3, true},
    {replace_mark, 3, false},
}};

void run_script(resp_session& in, const std::optional<remote_script>& script,
                const resp_words& words) {
  if (!script) return in.reply().error(unknown_script);
  const auto& served = served_scripts[static_cast<std::size_t>(*script)];
  const auto given = words.size() < first_argument ? 0 : words.size() - first_argument;
  const bool fits = served.takes_pairs
                        ? given >= served.arguments && (given - served.arguments) % 2 == 0
                        : given == served.arguments;
  if (words[2] != "1" || !fits)
    return in.reply().error("ERR the script takes one key, and other arguments");
  served.run(in, words);
}

// --- commands ----------------------------------------------------------------------------------

std::string sha1_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
    return {};
  std::string hex;
  append_hex(hex, {reinterpret_cast<const char*>(digest.data()), size});
  return hex;
}

// The script that EVALSHA names.
std::optional<remote_script> script_named(std::string_view sha1) {
  static const auto names = [] {
    std::array<std::string, storage::remote_script_count> all;
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = sha1_of(storage::text_of(static_cast<remote_script>(i)));
    return all;
  }();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty() && equal_ignoring_case(sha1, names[i]))
      return static_cast<remote_script>(i);
  return std::nullopt;
}

void eval(resp_session& in, const resp_words& words) {
  run_script(in, storage::script_of(words[1]), words);
}

void evalsha(resp_session& in, const resp_words& words) {
  const auto script = script_named(words[1]);
  if (!script) return in.reply().error("NOSCRIPT No matching script. Please use EVAL.");
  run_script(in, script, words);
}

void script(resp_session& in, const resp_words& words) {
  if (equal_ignoring_case(words[1], "load") && words.size() == 3) {
    if (!storage::script_of(words[2])) return in.reply().error(unknown_script);
    return in.reply().bytes(sha1_of(words[2]));
  }
  if (equal_ignoring_case(words[1], "exists") && words.size() > 2) {
    in.reply().array(words.size() - 2);
    for (std::size_t i = 2; i < words.size(); ++i)
      in.reply().integer(script_named(words[i]) ? 1 : 0);
    return;
  }
  in.reply().error("ERR unknown subcommand '" + words[1].substr(0, 128) + "'. Try SCRIPT HELP.");
}

constexpr resp_command script_table[] = {
    {"eval", -3, user_role::writer, request_kind::put, command_turn::alone, eval,
     ignore_with_number<1>},
    {"evalsha", -3, user_role::writer, request_kind::put, command_turn::alone, evalsha,
     ignore_with_number<1>},
    {"script", -2, user_role::reader, request_kind::other, command_turn::alone, script},
};

} // namespace

std::span<const resp_command> script_commands() noexcept { return script_table; }

} // namespace hearth::server
