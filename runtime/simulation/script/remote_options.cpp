#include "runtime/simulation/script/remote_options.hpp"

#include "messages/time_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace hearth::script {
namespace {

using simulation::redis_behavior;

// ID,ID: the first signs
storage::signing_keys keys_of(const std::string& ids) {
  storage::signing_keys keys;
  for (std::size_t at = 0; at < ids.size();) {
    const auto end = std::min(ids.find(',', at), ids.size());
    if (end > at) keys.push_back(simulation::signing_key_named(ids.substr(at, end - at)));
    at = end + 1;
  }
  return keys;
}

redis_behavior::scope take_scope(line_reader& in) {
  using scope = redis_behavior::scope;
  if (!in.accept("to")) return scope::all;
  if (in.accept("reads")) return scope::reads;
  if (in.accept("writes")) return scope::writes;
  if (in.accept("scripts")) return scope::scripts;
  in.fail("reads, writes or scripts");
}

} // namespace

bool set_remote_option(const std::string& name, const std::string& text,
                       simulation::remote_options& options) {
  const auto time = parse_milliseconds(text);
  const auto size = size_of(text);
  if (name == "remote_mode" && text == "read_only")
    options.mode = remote_mode::read_only;
  else if (name == "remote_mode" && text == "write_only")
    options.mode = remote_mode::write_only;
  else if (name == "remote_queue" && size && *size > 0)
    options.queue_entries = *size;
  else if (name == "remote_value" && size)
    options.max_value_bytes = *size;
  else if (name == "lease" && time)
    options.lease_time = *time;
  else if (name == "lifetime" && time)
    options.ttl = *time;
  else if (name == "signing" && !text.empty())
    options.keys = keys_of(text);
  else
    return false;
  return true;
}

std::optional<redis_behavior> accept_behavior(line_reader& in) {
  using kind = redis_behavior::kind;
  constexpr std::array<std::pair<std::string_view, kind>, 6> plain{{{"heals", kind::well},
                                                                    {"refuses", kind::refuses},
                                                                    {"distrusts", kind::untrusted},
                                                                    {"stalls", kind::stalls},
                                                                    {"cuts", kind::cuts},
                                                                    {"garbles", kind::garbles}}};
  redis_behavior made;
  for (const auto& [word, what] : plain) {
    if (!in.accept(word)) continue;
    made.what = what;
    return made;
  }
  if (in.accept("slow")) {
    made.what = kind::slow;
    made.delay = in.take_duration("how long each answer takes, as 50ms");
    return made;
  }
  if (!in.accept("errors")) return std::nullopt;
  made.what = kind::errors;
  made.text = in.take_string("the error, as \"OOM command not allowed\"");
  made.of = take_scope(in);
  return made;
}

} // namespace hearth::script
