#include "runtime/simulation/script/parser/arguments.hpp"

#include "messages/time_text.hpp"
#include "runtime/simulation/simulated_compiler.hpp"

#include <chrono>
#include <cstdlib>
#include <utility>

namespace hearth::script {
namespace {

// "bytes", or size:20KiB: so many bytes that are made up
artifact take_value(line_reader& in) {
  if (in.at_string()) return artifact::make(in.take_string("a value"));
  const auto column = in.column();
  const auto word = in.take_word("a value, as \"bytes\" or size:20KiB");
  const auto size = word.starts_with("size:") ? size_of(word.substr(5)) : std::nullopt;
  if (!size || *size > (64u << 20))
    in.fail_at(column,
               "expected a value, as \"bytes\" or size:20KiB (at most 64MiB), got '" + word + "'");
  std::string bytes(*size, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>('a' + i * i % 251 % 26);
  return artifact::make(bytes);
}

spoken_argument take_number_argument(line_reader& in, const scope& names) {
  if (in.accept("present")) return epoch_number{false};
  if (in.accept("stale")) return epoch_number{true};
  const auto word = in.peek_word();
  const auto dot = word.rfind('.');
  const auto part = dot == std::string_view::npos ? "" : word.substr(dot);
  if (part != ".lease" && part != ".session")
    return simulation::argument(in.take_number("a number, or ANSWER.lease, or ANSWER.session"));
  const auto name = std::string(word.substr(0, dot));
  if (!names.labels.contains(name)) in.fail("the name of an answer before " + std::string(part));
  in.take_word("");
  return answer_number{name};
}

// notes ANSWER: of the session that this answer brought
answer_notes take_noted_answer(line_reader& in, const scope& names) {
  return {take_known(in, names.labels, "the name of an answer")};
}

spoken_argument take_notes(line_reader& in, const scope& names) {
  if (in.accept("notes")) return take_noted_answer(in, names);
  return simulation::argument(tuning_notes{});
}

tuning_place take_tuning_place(line_reader& in) {
  tuning_place made{take_key(in), std::nullopt};
  if (in.accept("remote")) made.remote = take_key(in);
  return made;
}

cache_name take_cache(line_reader& in) { return {in.take_name("the name of a cache")}; }

error take_error(line_reader& in) {
  const auto column = in.column();
  const auto word = in.take_word("an error's name, as compile_failed");
  for (unsigned code = 1; code <= static_cast<unsigned>(errc::internal); ++code)
    if (to_string(static_cast<errc>(code)) == word)
      return {static_cast<errc>(code), in.take_string("the error's text")};
  in.fail_at(column, "expected an error's name, as compile_failed, got '" + word + "'");
}

trial_request take_trial_request(line_reader& in) {
  trial_request request;
  request.entry = in.take_name("the name of the entry");
  return request;
}

bool at_assignment(line_reader& in) {
  const auto word = in.peek_word();
  return word.find('=') != std::string_view::npos;
}

std::pair<std::string, std::int64_t> take_assignment(line_reader& in) {
  const auto column = in.column();
  const auto word = in.take_word("NAME=NUMBER");
  const auto equals = word.find('=');
  std::int64_t number = 0;
  const auto digits = equals == std::string::npos ? "" : word.substr(equals + 1);
  const auto* end = digits.data() + digits.size();
  char* stopped = nullptr;
  if (!digits.empty()) number = std::strtoll(digits.c_str(), &stopped, 10);
  if (digits.empty() || equals == 0 || stopped != end)
    in.fail_at(column, "expected NAME=NUMBER, got '" + word + "'");
  return {word.substr(0, equals), number};
}

hints take_sizes(line_reader& in) {
  hints values;
  while (at_assignment(in))
    values.insert(take_assignment(in));
  return values;
}

autotune_record take_record(line_reader& in) {
  autotune_record record;
  while (at_assignment(in)) {
    const auto word = in.peek_word();
    if (word.starts_with("hash=")) {
      record.configs_hash = word.substr(5);
      in.take_word("");
      continue;
    }
    const auto [name, number] = take_assignment(in);
    if (name == "time")
      record.time_taken_ns = number;
    else if (name == "descent")
      record.config.found_by_coordesc = number != 0;
    else
      record.config.arguments[name] = value(number);
  }
  return record;
}

// hash=abc [descent] TILE=16 TILE=32: candidates of one parameter each
autotune_choices take_choices(line_reader& in) {
  autotune_choices choices;
  const auto column = in.column();
  const auto word = in.take_word("hash=TEXT");
  if (!word.starts_with("hash=")) in.fail_at(column, "expected hash=TEXT, got '" + word + "'");
  choices.configs_hash = word.substr(5);
  choices.coordinate_descent = in.accept("descent");
  while (at_assignment(in)) {
    const auto [name, number] = take_assignment(in);
    choices.configs.push_back({.arguments = {{name, value(number)}}});
  }
  return choices;
}

tune_mode take_mode(line_reader& in) {
  for (const auto mode :
       {tune_mode::full, tune_mode::descent, tune_mode::cached_only, tune_mode::off})
    if (in.accept(to_string(mode))) return mode;
  in.fail("full, descent, cached-only or off");
}

tuning take_tuning(line_reader& in, const scope& names) {
  tuning made;
  made.key = take_key(in);
  if (in.accept("mode")) made.mode = take_mode(in);
  if (in.accept("notes")) made.notes = take_noted_answer(in, names);
  if (in.accept("guard")) made.guard = in.take_string("the guard");
  if (in.accept("sizes")) made.sizes = take_sizes(in);
  in.expect_word("configs");
  while (at_assignment(in))
    made.configs.push_back(in.take_word(""));
  if (made.configs.empty()) in.fail("a configuration, as TILE=16");
  return made;
}

} // namespace

key_name take_key(line_reader& in) {
  constexpr std::string_view what = "a key, as fxgraph/matmul or tunes@2/\"a b\"";
  const auto column = in.column();
  auto word = in.take_word(what);
  const auto slash = word.find('/');
  if (slash == std::string::npos || slash == 0)
    in.fail_at(column, "expected " + std::string(what) + ", got '" + word + "'");
  key_name made;
  made.cache = word.substr(0, slash);
  if (const auto at = made.cache.find('@'); at != std::string::npos) {
    made.version = made.cache.substr(at + 1);
    made.cache.resize(at);
  }
  if (!cache_id::make(made.cache, made.version))
    in.fail_at(column, "expected the name of a cache, got '" + made.cache + "'");
  const auto text = word.substr(slash + 1);
  if (text.empty() && in.at_string()) {
    made.k = key(in.take_string(what));
  } else if (text.starts_with('#')) {
    made.k =
        key::integer(in.part(std::string_view(text).substr(1)).take_integer("a number after #"));
  } else if (text.empty()) {
    in.fail(what);
  } else {
    made.k = key(text);
  }
  return made;
}

time_range take_time(line_reader& in) {
  const auto column = in.column();
  const auto word = in.take_word("a time, as 5ms or 1ms..5ms");
  const auto dots = word.find("..");
  const auto least = parse_time(word.substr(0, dots));
  const auto most = dots == std::string::npos ? least : parse_time(word.substr(dots + 2));
  if (!least || !most || *most < *least)
    in.fail_at(column, "expected a time, as 5ms or 1ms..5ms, got '" + word + "'");
  return {*least, *most};
}

namespace {

key_names take_keys(line_reader& in) {
  key_names made{take_key(in)};
  while (in.peek_word().find('/') != std::string_view::npos)
    made.push_back(take_key(in));
  return made;
}

} // namespace

spoken_argument take_argument(line_reader& in, const scope& names, parameter p) {
  using simulation::argument;
  const auto what = std::string(simulation::syntax_of(p));
  switch (p) {
  case parameter::key: return take_key(in);
  case parameter::value: return argument(take_value(in));
  case parameter::number: return take_number_argument(in, names);
  case parameter::text: return argument(in.take_string(what));
  case parameter::failure: return argument(take_error(in));
  case parameter::action:
    return argument(simulation::simulated_compiler::action(in.take_string(what)));
  case parameter::trial: return argument(take_trial_request(in));
  case parameter::duration:
    return argument(std::chrono::duration_cast<std::chrono::milliseconds>(in.take_duration(what)));
  case parameter::sizes: return argument(take_sizes(in));
  case parameter::record: return argument(take_record(in));
  case parameter::tuning: return take_tuning(in, names);
  case parameter::priority: return argument(static_cast<int>(in.take_integer(what)));
  case parameter::id: return argument(in.take_integer(what));
  case parameter::tuning_place: return take_tuning_place(in);
  case parameter::choices: return argument(take_choices(in));
  case parameter::notes: return take_notes(in, names);
  case parameter::cache: return take_cache(in);
  case parameter::keys: return take_keys(in);
  }
  in.fail(what);
}

} // namespace hearth::script
