#include "runtime/caches/autotune/choice_timings.hpp"

#include "messages/autotune/names.hpp"
#include "runtime/engine/calls/key_lock.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"

#include <utility>

namespace hearth {
namespace {

key key_of(const choice_question& question) {
  const key operation(question.operation), inputs(question.inputs), precision(question.precision);
  if (!question.hint_override) return key::tuple({operation, inputs, precision});
  return key::tuple({operation, inputs, precision, key::integer(*question.hint_override)});
}

} // namespace

expected<choice_timings> choice_timings::open(runtime& in, bool enabled) {
  cache_options of_this_host;
  of_this_host.remote = false;
  auto over = in.open(measured_choices, of_this_host);
  if (!over) return fail(over.error());
  return choice_timings(internals::core(in).shared_from_this(), std::move(*over), enabled);
}

// An unreadable entry counts as empty.
choice_times choice_timings::known(const key& question) const {
  if (!enabled_) return {};
  const auto found = cache_.get(question);
  if (!found || !found->hit()) return {};
  return decode_times(found->value.payload()).value_or(choice_times{});
}

expected<choice_times> choice_timings::measure_alone(const choice_question& question, const key& at,
                                                     const benchmark& measure) const {
  const auto lock = engine::key_lock::take(
      core_, derived_key(cache_key(internals::name(cache_), at.encoded()), key("measuring")));
  if (!lock) return fail(lock.error());
  auto times = known(at); // another caller may have measured meanwhile
  if (knows_all(times, question.choices)) return known_of(times, question.choices);
  auto measured = measure();
  if (!measured) return measured;
  if (!knows_all(*measured, question.choices))
    return fail(errc::invalid_value,
                "the benchmark of " + question.operation + " left a choice out");
  if (!enabled_) return measured;
  for (const auto& [choice, time] : *measured)
    times.insert_or_assign(choice, time);
  if (auto kept = cache_.put(at, artifact::make(encode_times(times))); !kept)
    core_->log(log_level::warning, "timings are not kept: " + kept.error().text());
  return known_of(*measured, question.choices);
}

expected<choice_times> choice_timings::lookup(const choice_question& question,
                                              const benchmark& measure) const {
  const auto at = key_of(question);
  const auto times = known(at);
  if (!measure || knows_all(times, question.choices)) return known_of(times, question.choices);
  return measure_alone(question, at, measure);
}

} // namespace hearth
