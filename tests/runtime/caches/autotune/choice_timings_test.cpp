#include "runtime/caches/autotune/choice_timings.hpp"

#include "messages/autotune/names.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <optional>
#include <thread>

namespace choice_timings_test {

using namespace hearth;
using namespace hearth::test;

namespace {

choice_question about(std::vector<std::string> choices) {
  return {"mm", "[[2,3],[3,4]]", "high", std::move(choices)};
}

// Measures those choices and counts its calls.
struct stopwatch {
  explicit stopwatch(std::vector<std::string> of, std::int64_t factor = 1)
      : choices(std::move(of))
      , times(factor) {}
  choice_timings::benchmark measure() {
    return [this]() -> expected<choice_times> {
      ++runs;
      choice_times result;
      for (const auto& choice : choices)
        result[choice] = {static_cast<std::int64_t>(choice.size()) * times, {}};
      return result;
    };
  }
  std::vector<std::string> choices;
  std::int64_t times;
  std::atomic<int> runs = 0;
};

} // namespace

TEST_CASE_FIXTURE(on_disk, "choices are measured once and remembered by the next process") {
  stopwatch watch({"a", "bb"});
  {
    runtime rt(settings());
    const auto timings = choice_timings::open(rt).value();
    const auto first = timings.lookup(about({"a", "bb"}), watch.measure());
    CHECK(first.value() == choice_times{{"a", {1, ""}}, {"bb", {2, ""}}});
    CHECK(timings.lookup(about({"bb"}), watch.measure()).value() == choice_times{{"bb", {2, ""}}});
  }
  runtime rt(settings());
  const auto timings = choice_timings::open(rt).value();
  CHECK(timings.lookup(about({"a", "bb"}), watch.measure())->size() == 2);
  CHECK(watch.runs == 1);
}

TEST_CASE_FIXTURE(on_disk, "if one is missing all are measured again together") {
  runtime rt(settings());
  const auto timings = choice_timings::open(rt).value();
  stopwatch slow({"a", "bb"}, 100), fast({"a", "bb", "ccc"}, 1);
  REQUIRE(timings.lookup(about({"a", "bb"}), slow.measure()));
  const auto again = timings.lookup(about({"a", "bb", "ccc"}), fast.measure());
  CHECK(again.value() == choice_times{{"a", {1, ""}}, {"bb", {2, ""}}, {"ccc", {3, ""}}});
  CHECK(timings.lookup(about({"a"}), fast.measure())->at("a").time_ns == 1);
  CHECK(fast.runs == 1);
}

TEST_CASE_FIXTURE(on_disk, "without a function all known times are returned") {
  runtime rt(settings());
  const auto timings = choice_timings::open(rt).value();
  CHECK(timings.lookup(about({"a"}))->empty());
  stopwatch watch({"a", "ccc"});
  REQUIRE(timings.lookup(about({"a", "ccc"}), watch.measure()));
  // All known times, not only those before the first unknown one.
  CHECK(timings.lookup(about({"unknown", "a", "other", "ccc"})).value() ==
        choice_times{{"a", {1, ""}}, {"ccc", {3, ""}}});
}

TEST_CASE_FIXTURE(on_disk, "operation, inputs and precision distinguish benchmarks") {
  runtime rt(settings());
  const auto timings = choice_timings::open(rt).value();
  stopwatch watch({"a"});
  for (const auto& question :
       {choice_question{"mm", "x", "p", {"a"}}, choice_question{"bmm", "x", "p", {"a"}},
        choice_question{"mm", "y", "p", {"a"}}, choice_question{"mm", "x", "q", {"a"}}})
    REQUIRE(timings.lookup(question, watch.measure()));
  CHECK(watch.runs == 4);
}

TEST_CASE_FIXTURE(on_disk, "when it is off nothing is written, and no stored timing is lost") {
  runtime rt(settings());
  const auto on = choice_timings::open(rt).value();
  const auto off = choice_timings::open(rt, false).value();
  stopwatch watch({"a"}), other({"a"}, 50);
  REQUIRE(on.lookup(about({"a"}), watch.measure()));
  CHECK(off.lookup(about({"a"}), other.measure())->at("a").time_ns == 50);
  CHECK(other.runs == 1);
  CHECK(on.lookup(about({"a"}), other.measure())->at("a").time_ns == 1);
  CHECK(off.lookup(about({"a"}))->empty());
}

TEST_CASE_FIXTURE(on_disk, "one benchmark runs at a time, the others wait for it") {
  runtime here(settings()), there(settings()); // two runtimes behave as two processes would
  std::atomic<int> runs = 0, running = 0;
  std::atomic<bool> overlapped = false;
  constexpr int threads = 6;
  std::barrier start(threads);
  const auto measure = [&]() -> expected<choice_times> {
    overlapped = overlapped || ++running > 1;
    ++runs;
    std::this_thread::yield();
    --running;
    return choice_times{{"a", {7, ""}}};
  };
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      const auto timings = choice_timings::open(i % 2 == 0 ? here : there).value();
      start.arrive_and_wait();
      const auto found = timings.lookup(about({"a"}), measure);
      if (!found || found->at("a").time_ns != 7) overlapped = true;
    });
  all.clear();
  CHECK(runs == 1);
  CHECK_FALSE(overlapped);
}

TEST_CASE_FIXTURE(on_disk, "a benchmark that fails is an error for its caller alone") {
  runtime rt(settings());
  const auto timings = choice_timings::open(rt).value();
  const auto failed = timings.lookup(about({"a"}), []() -> expected<choice_times> {
    return fail(errc::unsupported, "no device");
  });
  CHECK(failed.error().code() == errc::unsupported);
  const auto partial = timings.lookup(about({"a", "b"}), [] {
    return choice_times{{"a", {1, ""}}};
  });
  CHECK(partial.error().code() == errc::invalid_value);
  stopwatch watch({"a"});
  CHECK(timings.lookup(about({"a"}), watch.measure()));
  CHECK(watch.runs == 1);
}

TEST_CASE_FIXTURE(on_disk, "timings that cannot be read are measured again") {
  runtime rt(settings());
  const auto timings = choice_timings::open(rt).value();
  cache_options of_this_host;
  of_this_host.remote = false;
  const auto entries = rt.open(measured_choices, of_this_host).value();
  const auto question = about({"a"});
  REQUIRE(entries.put(
      key::tuple({key(question.operation), key(question.inputs), key(question.precision)}),
      artifact::make("no msgpack")));
  stopwatch watch({"a"});
  CHECK(timings.lookup(question, watch.measure())->at("a").time_ns == 1);
  CHECK(watch.runs == 1);
}

TEST_CASE_FIXTURE(on_disk, "timings under another hint are other timings") {
  runtime rt(settings());
  const auto timings = choice_timings::open(rt).value();
  stopwatch watch({"a"});
  const auto ask = [&](std::optional<std::int64_t> hint) {
    auto question = about({"a"});
    question.hint_override = hint;
    REQUIRE(timings.lookup(question, watch.measure()));
    return watch.runs.load();
  };
  CHECK(ask(std::nullopt) == 1);
  CHECK(ask(8192) == 2);
  CHECK(ask(4096) == 3);
  CHECK(ask(8192) == 3);
  CHECK(ask(std::nullopt) == 3);
  auto spelled = about({"a"}); // as Inductor would write the inputs with a hint
  spelled.inputs += "_8192";
  REQUIRE(timings.lookup(spelled, watch.measure()));
  CHECK(watch.runs == 4);
}

} // namespace choice_timings_test
