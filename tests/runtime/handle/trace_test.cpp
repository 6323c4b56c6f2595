// The trace of a runtime: every compile with its key, its wait, its compile and its insert.
#include "runtime/caches/actions/action_cache.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/runtimes.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <future>
#include <thread>

namespace trace_test {

using namespace hearth;
using namespace hearth::test;

namespace {

config traced() {
  auto settings = in_memory();
  settings.trace = true;
  return settings;
}

using steps = std::vector<std::string>;

// The spans of a key as texts, sorted; each with its tier, if it has one.
steps steps_of(const span_list& spans, const std::string& key) {
  steps found;
  for (const auto& span : spans)
    if (span.key == key)
      found.push_back(span.category + (span.tier.empty() ? "" : " in " + span.tier));
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace

TEST_CASE(
    "trace: a compile callback has its wait, its compile and its insert, and a hit its tier") {
  runtime rt(traced());
  const auto cache = *rt.open("kernels");
  REQUIRE(cache.get_or_compile("a", [] { return artifact::make("code"); }));
  auto spans = rt.trace();
  CHECK(steps_of(spans, "kernels \"a\"") == steps{"compile", "insert", "wait"});
  for (const auto& span : spans) {
    CHECK(span.duration_ns >= 0);
    CHECK(span.lane != 0);
  }
  // The steps follow one another.
  CHECK(spans[0].start_ns + spans[0].duration_ns <= spans[1].start_ns);
  CHECK(spans[1].start_ns + spans[1].duration_ns <= spans[2].start_ns);
  REQUIRE(cache.get_or_compile("a", [] { return artifact::make("never"); }));
  CHECK(steps_of(rt.trace(), "kernels \"a\"") == steps{"hit in memory"});
  CHECK(rt.trace().empty());
}

TEST_CASE("trace: an asynchronous compile is in it, and so is who waited for it") {
  runtime rt(traced());
  const auto cache = *rt.open("kernels");
  std::promise<void> begun, end;
  auto made = cache.get_or_compile_async("a", [&]() -> expected<artifact> {
    begun.set_value();
    end.get_future().wait();
    return artifact::make("code");
  });
  begun.get_future().wait();
  auto waits = cache.get_or_compile_async("a", [] { return artifact::make("never"); });
  end.set_value();
  REQUIRE(made.get());
  REQUIRE(waits.get());
  CHECK(steps_of(rt.trace(), "kernels \"a\"") == steps{"compile", "insert", "wait", "wait"});
}

TEST_CASE_FIXTURE(on_disk, "trace: a hit on disk has that tier") {
  auto with_trace = settings();
  with_trace.trace = true;
  {
    runtime rt(with_trace);
    REQUIRE(rt.open("kernels")->insert("a", artifact::make("code")));
  }
  runtime rt(with_trace);
  REQUIRE(rt.open("kernels")->get_or_compile("a", [] { return artifact::make("never"); }));
  CHECK(steps_of(rt.trace(), "kernels \"a\"") == steps{"hit in disk"});
}

TEST_CASE("trace: a compile that failed has no insert") {
  runtime rt(traced());
  const auto made = rt.open("kernels")->get_or_compile(
      "a", []() -> expected<artifact> { return fail(errc::compile_failed, "no"); });
  CHECK_FALSE(made);
  CHECK(steps_of(rt.trace(), "kernels \"a\"") == steps{"compile", "wait"});
}

TEST_CASE("trace: without the setting calls leave nothing in it") {
  runtime rt(in_memory());
  REQUIRE(rt.open("kernels")->get_or_compile("a", [] { return artifact::make("code"); }));
  CHECK(rt.trace().empty());
}

TEST_CASE("bypasses are counted by their reason, and the number of reasons is bounded") {
  runtime rt(in_memory());
  rt.note_bypass("a callable");
  rt.note_bypass("a callable");
  for (int i = 0; i < 1200; ++i)
    rt.note_bypass(std::to_string(i));
  const auto counts = rt.stats().bypasses;
  CHECK(counts.at("a callable") == 2);
  CHECK(counts.at("998") == 1);
  CHECK(counts.at("other") == 201);
  CHECK(counts.size() == 1001);
}

} // namespace trace_test
