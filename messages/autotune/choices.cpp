#include "messages/autotune/choices.hpp"

#include "messages/value.hpp"

#include <algorithm>

namespace hearth {
namespace {

constexpr std::string_view where = "choice times";

expected<choice_time> time_of(const value& stored) {
  if (const auto* time_ns = stored.as<std::int64_t>()) return choice_time{*time_ns, {}};
  if (const auto* problem = stored.as<std::string>(); problem && !problem->empty())
    return choice_time{0, *problem};
  return fail(error(errc::malformed, "expected nanoseconds or text").within(where));
}

} // namespace

bool knows_all(const choice_times& known, const std::vector<std::string>& choices) {
  return std::all_of(choices.begin(), choices.end(),
                     [&](const std::string& choice) { return known.contains(choice); });
}

choice_times known_of(const choice_times& known, const std::vector<std::string>& choices) {
  choice_times some;
  for (const auto& choice : choices)
    if (const auto at = known.find(choice); at != known.end()) some.insert(*at);
  return some;
}

std::string encode_times(const choice_times& times) {
  value::map fields;
  for (const auto& [choice, time] : times)
    fields[choice] = time.problem.empty() ? value(time.time_ns) : value(time.problem);
  return encode(value{std::move(fields)});
}

expected<choice_times> decode_times(std::string_view bytes) {
  const auto decoded = decode_value(bytes);
  if (!decoded) return fail(decoded.error().within(where));
  const auto* fields = decoded->as<value::map>();
  if (!fields) return fail(error(errc::malformed, "expected a map").within(where));
  choice_times times;
  for (const auto& [choice, stored] : *fields) {
    auto time = time_of(stored);
    if (!time) return fail(time.error());
    times.emplace(choice, std::move(*time));
  }
  return times;
}

} // namespace hearth
