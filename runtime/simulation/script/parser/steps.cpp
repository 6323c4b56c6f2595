#include "runtime/simulation/script/parser/arguments.hpp"
#include "runtime/simulation/script/parser/parts.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

namespace hearth::script {
namespace {

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

} // namespace

statement_body parse_deliver(line_reader& in, scope& names) {
  deliver made{no_limit, std::nullopt, {}};
  if (in.accept("until")) {
    made.until = take_known(in, names.labels, "the name of an answer");
  } else if (!in.accept("all")) {
    made.count = in.accept("one") ? 1 : in.take_number("one, all, until, or a number");
  }
  if (in.accept("to")) {
    actor_kind kind{};
    const auto word = in.peek_word();
    if (names.clients.contains(std::string(word)))
      made.to = place{in.take_word(""), "", std::nullopt};
    else
      made.to = names.take_actor(in, kind);
  }
  return made;
}

statement_body parse_run_until_idle(line_reader& in, scope&) {
  if (in.accept("always")) return set_auto_run{true};
  if (in.accept("when")) {
    in.expect_word("told");
    return set_auto_run{false};
  }
  run_until_idle made{max_idle_wait};
  if (in.accept("within")) made.within = in.take_duration("a time, as 5s");
  return made;
}

statement_body parse_advance(line_reader& in, scope&) { return pass_time{take_time(in), false}; }

statement_body parse_run(line_reader& in, scope&) { return pass_time{take_time(in), true}; }

statement_body parse_stall(line_reader& in, scope& names) {
  if (names.processes.contains(in.peek_word()))
    return stall{{in.take_word(""), {}, {}}, take_time(in)};
  actor_kind kind{};
  auto who = names.take_actor(in, kind);
  return stall{std::move(who), take_time(in)};
}

statement_body parse_order(line_reader& in, scope&) {
  const bool open = in.accept("open");
  if (!open && !in.accept("fixed")) in.fail("open or fixed");
  return set_order{open};
}

statement_body parse_limit(line_reader& in, scope&) {
  set_limit made{};
  if (in.accept("steps"))
    made.steps = in.take_number("a number of messages");
  else if (in.accept("time"))
    made.time = in.take_duration("a time");
  else
    in.fail("steps or time");
  return made;
}

statement_body parse_forget(line_reader& in, scope&) {
  in.expect_word("trace");
  return forget_trace{};
}

} // namespace hearth::script
