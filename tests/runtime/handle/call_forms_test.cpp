// Calls in coroutines, tokens of compile callbacks, what a call tells, and empty handles.
#include "runtime/api/compile_function.hpp"
#include "runtime/caches/actions/action_cache.hpp"
#include "runtime/handle/typed_cache.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace call_forms_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

using typed = typed_cache<std::string, std::string>;

// Every asynchronous form with options, awaited: an answer each.
task await_all(const runtime& rt, cache in, typed values, std::vector<std::string>& answers,
               std::promise<void>& ended) {
  static_cast<void>(rt);
  std::stop_source source;
  const auto compile = [](std::stop_token) { return artifact::make("made"); };
  const auto note = [&](const auto& answer) {
    answers.emplace_back(answer ? "yes" : to_string(answer.error().code()));
  };
  const std::vector<key> keys{key("a"), key("b")};
  const std::vector<std::string> names{"a", "b"};
  const auto token = [&] { return source.get_token(); };
  note(co_await in.insert_async("a", artifact::make("a value that is too long for a place"),
                                call_options().within(60s).stopped_by(token())));
  note(co_await in.get_async("a", call_options().within(60s).stopped_by(token())));
  note(co_await in.get_many_async(keys, call_options().within(60s).stopped_by(token())));
  note(co_await in.put_async("a", artifact::make("another"),
                             call_options().within(60s).stopped_by(token())));
  note(co_await in.get_or_compile_async("c", compile,
                                        call_options().within(60s).stopped_by(token())));
  note(co_await in.lookup_or_compile_async("d", compile,
                                           call_options().within(60s).stopped_by(token())));
  note(co_await in.erase_async("a", call_options().within(60s).stopped_by(token())));
  note(co_await values.insert_async("a", "one", call_options().within(60s).stopped_by(token())));
  note(co_await values.get_async("a", call_options().within(60s).stopped_by(token())));
  note(co_await values.get_many_async(names, call_options().within(60s).stopped_by(token())));
  note(co_await values.put_async("a", "two", call_options().within(60s).stopped_by(token())));
  note(co_await values.get_or_compile_async(
      "c", [] { return std::string("three"); }, call_options().within(60s).stopped_by(token())));
  note(co_await values.lookup_or_compile_async(
      "d", [] { return std::string("four"); }, call_options().within(60s).stopped_by(token())));
  note(co_await values.erase_async("a", call_options().within(60s).stopped_by(token())));
  ended.set_value();
}

// An action of each kind, made within the await.
task await_actions(runtime& rt, std::vector<std::string>& answers, std::promise<void>& ended) {
  const auto actions = action_cache::open(rt).value();
  // (A braced list within the await is an internal error of GCC 12.)
  const std::vector<std::string> command{"sh", "-c", "echo of the action"};
  const auto ran = co_await actions.run_async(action(command), call_options().within(60s));
  answers.push_back(ran ? ran->out : ran.error().text());
  const auto found =
      co_await rt.open("other", cache_options().with_version("a long text, which no place holds"))
          ->get_async("k", call_options().within(60s));
  answers.push_back(found && !found->hit() ? "a miss" : "?");
  ended.set_value();
}

// Runs functions on one thread of its own, in their order.
class own_thread {
public:
  own_thread()
      : thread_([this] {
        while (auto next = take())
          next();
      }) {}
  own_thread(const own_thread&) = delete;
  own_thread& operator=(const own_thread&) = delete;
  ~own_thread() {
    run({});
    thread_.join();
  }
  void run(unique_function<void()> one) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(one));
    }
    changed_.notify_one();
  }
  std::thread::id id() const { return thread_.get_id(); }

private:
  unique_function<void()> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return next_ < queue_.size(); });
    return std::move(queue_[next_++]);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<unique_function<void()>> queue_;
  std::size_t next_ = 0;
  std::thread thread_;
};

task await_on(own_thread& where, cache in, std::vector<std::thread::id>& ran_on,
              std::promise<void>& ended) {
  const auto executor = [&](unique_function<void()> go_on) { where.run(std::move(go_on)); };
  (void)co_await in.get_async("a miss").via(executor);
  ran_on.push_back(std::this_thread::get_id());
  (void)co_await in.put_async("k", artifact::make("v")).via(executor);
  ran_on.push_back(std::this_thread::get_id());
  const auto hit = co_await in.get_async("k").via(executor); // ready at once
  ran_on.push_back(std::this_thread::get_id());
  CHECK(hit->value.payload() == "v");
  ended.set_value();
}

// A callback that runs until its token stops.
struct until_stopped {
  std::promise<void>& started;
  std::promise<void>& stopped;

  expected<artifact> operator()(const std::stop_token& stop) const {
    std::promise<void> told;
    const std::stop_callback on_stop(stop, [&] { told.set_value(); });
    started.set_value();
    told.get_future().wait();
    stopped.set_value();
    return fail(errc::compile_failed, "it was stopped");
  }
};

} // namespace

TEST_CASE("every asynchronous form takes options in a coroutine") {
  runtime rt(in_memory());
  std::vector<std::string> answers;
  std::promise<void> ended;
  await_all(rt, rt.open("c").value(), typed(rt.open("typed").value()), answers, ended);
  ended.get_future().wait();
  CHECK(answers == std::vector<std::string>(14, "yes"));
}

TEST_CASE_FIXTURE(on_disk, "actions and options of caches are made within a co_await") {
  runtime rt(settings());
  std::vector<std::string> answers;
  std::promise<void> ended;
  await_actions(rt, answers, ended);
  ended.get_future().wait();
  CHECK(answers == std::vector<std::string>{"of the action\n", "a miss"});
}

TEST_CASE("a coroutine goes on where its executor says") {
  runtime rt(in_memory());
  std::vector<std::thread::id> ran_on;
  std::promise<void> ended;
  own_thread where;
  await_on(where, rt.open("c").value(), ran_on, ended);
  ended.get_future().wait();
  CHECK(ran_on == std::vector<std::thread::id>(3, where.id()));
}

TEST_CASE("a compile callback is told when its caller's deadline passes") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::promise<void> started, stopped;
  SUBCASE("on a thread of the runtime") {
    auto late = cache.get_or_compile_async("k", until_stopped{started, stopped},
                                           call_options().within(20ms));
    CHECK(late.get().error().code() == errc::timeout);
    if (started.get_future().wait_for(0s) == std::future_status::ready) stopped.get_future().wait();
  }
  SUBCASE("on its own thread") {
    const auto made =
        cache.get_or_compile("k", until_stopped{started, stopped}, call_options().within(50ms));
    // On a machine that is busy for so long, the deadline passes before the callback begins.
    const bool has_begun = started.get_future().wait_for(0s) == std::future_status::ready;
    CHECK(made.error().text() ==
          (has_begun ? "it was stopped" : "the deadline passed before the answer came"));
  }
  // The lease has gone on.
  CHECK(cache.get_or_compile("k", [] { return artifact::make("v"); })->payload() == "v");
}

TEST_CASE("a compile callback is told when its caller gives up") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::promise<void> started, stopped;
  std::stop_source source;
  auto answer = cache.get_or_compile_async("k", until_stopped{started, stopped},
                                           call_options().stopped_by(source.get_token()));
  started.get_future().wait();
  SUBCASE("by its token") {
    source.request_stop();
    CHECK(answer.get().error().code() == errc::cancelled);
  }
  SUBCASE("by dropping the future") { answer = {}; }
  SUBCASE("by the end of the runtime") { rt.shutdown(); }
  stopped.get_future().wait();
}

TEST_CASE("a callback on the caller's thread is told by the caller's token and by the end") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::promise<void> started, stopped;
  std::stop_source source;
  auto made = std::async(std::launch::async, [&] {
    return cache.get_or_compile("k", until_stopped{started, stopped},
                                call_options().stopped_by(source.get_token()));
  });
  started.get_future().wait();
  SUBCASE("by its token") { source.request_stop(); }
  SUBCASE("by the end of the runtime") { rt.shutdown(); }
  CHECK(made.get().error().text() == "it was stopped");
}

TEST_CASE_FIXTURE(on_disk, "a deadline of zero answers what is known and sends nothing") {
  runtime rt(settings());
  const auto cache = rt.open("c").value();
  const auto disk = rt.open("disk", cache_options().without_memory()).value();
  REQUIRE(cache.insert("k", artifact::make("v")));
  REQUIRE(disk.insert("k", artifact::make("v")));
  const auto never = [] { return artifact::make("never"); };
  for (const auto deadline : {0ms, -1ms, std::chrono::milliseconds::min()}) {
    const auto now = call_options().within(deadline);
    CHECK(cache.get("k", now)->from == tier::memory);
    CHECK(disk.get("k", now)->from == tier::disk);
    CHECK(cache.get_or_compile("k", never, now)->payload() == "v");
    CHECK(cache.get_or_compile_async("k", never, now).get()->payload() == "v");
    CHECK(cache.get("x", now)->from == tier::none); // a miss is known: there is no remote tier
    CHECK(cache.insert("x", artifact::make("v"), now).error().code() == errc::timeout);
    CHECK(cache.insert_async("x", artifact::make("v"), now).get().error().code() == errc::timeout);
    CHECK(cache.put("x", artifact::make("v"), now).error().code() == errc::timeout);
    CHECK(cache.put_async("x", artifact::make("v"), now).get().error().code() == errc::timeout);
    CHECK(cache.erase("k", now).error().code() == errc::timeout);
    CHECK(cache.erase_async("k", now).get().error().code() == errc::timeout);
    CHECK(cache.get_or_compile("x", never, now).error().code() == errc::timeout);
    CHECK(cache.get_or_compile_async("x", never, now).get().error().code() == errc::timeout);
  }
  CHECK_FALSE(cache.get("x")->hit());
  CHECK(cache.get("k")->hit());
  const auto forever = call_options().within(std::chrono::milliseconds::max());
  CHECK(cache.get_or_compile("y", never, forever)->payload() == "never");
}

TEST_CASE_FIXTURE(on_disk, "a call tells where its artifact came from") {
  const auto make = [] { return artifact::make("v"); };
  {
    runtime rt(settings());
    const auto cache = rt.open("c").value();
    const auto made = cache.lookup_or_compile("k", make).value();
    CHECK(made.compiled);
    CHECK_FALSE(made.hit());
    CHECK(made.time_saved() == 0ns);
    const auto again = cache.lookup_or_compile_async("k", make).get().value();
    CHECK(again.from == tier::memory);
    CHECK_FALSE(again.compiled);
    CHECK(again.time_saved() > 0ns);
    CHECK(again.value.payload() == "v");
    const auto other = cache.lookup_or_compile_async("other", make).get().value();
    CHECK(other.compiled);
  }
  runtime rt(settings());
  CHECK(rt.open("c")->lookup_or_compile("k", make)->from == tier::disk);
}

TEST_CASE("who waits for another caller's compile is told so") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::promise<void> started, go_on;
  std::thread maker([&] {
    (void)cache.get_or_compile("k", [&]() -> expected<artifact> {
      started.set_value();
      go_on.get_future().wait();
      return artifact::make("v");
    });
  });
  started.get_future().wait();
  auto waits = cache.lookup_or_compile_async("k", [] { return artifact::make("never"); });
  while (rt.stats().leases_waiting == 0)
    std::this_thread::yield();
  go_on.set_value();
  maker.join();
  const auto told = waits.get().value();
  CHECK(told.waited);
  CHECK_FALSE(told.compiled);
  CHECK_FALSE(told.hit());
  CHECK(told.value.payload() == "v");
}

TEST_CASE("callbacks may be move-only") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  auto owned = std::make_unique<std::string>("owned");
  const auto made = cache.get_or_compile_async(
      "k", [owned = std::move(owned)] { return artifact::make(*owned); });
  auto told = std::make_unique<std::promise<std::string>>();
  auto text = told->get_future();
  cache.get_or_compile_async("k", [] { return artifact::make("never"); })
      .then([told = std::move(told)](expected<artifact> answer) {
        told->set_value(std::string(answer->payload()));
      });
  CHECK(text.get() == "owned");
  CHECK(cache.get_or_compile("k", [] { return artifact::make("never"); })->payload() == "owned");
}

TEST_CASE("an empty handle answers with an error, and can be assigned") {
  cache none;
  typed no_values;
  CHECK_FALSE(none);
  CHECK_FALSE(no_values);
  const auto never = [] { return artifact::make("never"); };
  const std::vector<key> keys{key("a"), key("b")};
  const auto value = artifact::make("v");
  CHECK(none.get("k").error().code() == errc::invalid_argument);
  CHECK(none.get("k", call_options()).error().code() == errc::invalid_argument);
  CHECK(none.get_async("k").get().error().code() == errc::invalid_argument);
  CHECK(none.get_async("k", call_options()).get().error().code() == errc::invalid_argument);
  CHECK(none.get_many(keys)[1].error().code() == errc::invalid_argument);
  CHECK(none.get_many_async(keys).get()->at(1).error().code() == errc::invalid_argument);
  CHECK(none.insert("k", value).error().code() == errc::invalid_argument);
  CHECK(none.insert_async("k", value).get().error().code() == errc::invalid_argument);
  CHECK(none.put("k", value).error().code() == errc::invalid_argument);
  CHECK(none.put_async("k", value).get().error().code() == errc::invalid_argument);
  CHECK(none.erase("k").error().code() == errc::invalid_argument);
  CHECK(none.erase_async("k").get().error().code() == errc::invalid_argument);
  CHECK(none.get_or_compile("k", never).error().code() == errc::invalid_argument);
  CHECK(none.get_or_compile_async("k", never).get().error().code() == errc::invalid_argument);
  CHECK(none.lookup_or_compile("k", never).error().code() == errc::invalid_argument);
  CHECK(none.time_saved() == 0ns);
  CHECK(no_values.get("k").error().code() == errc::invalid_argument);
  CHECK(no_values.get_or_compile("k", [] { return std::string("never"); }).error().code() ==
        errc::invalid_argument);
  CHECK(future<artifact>().get().error().code() == errc::cancelled);
  runtime rt(in_memory());
  none = rt.open("c").value();
  no_values = typed(none);
  CHECK(none.insert("k", value));
  CHECK(no_values.put("s", "text"));
  CHECK(no_values.get("s").value() == "text");
}

TEST_CASE("a typed cache has the forms of the untyped one") {
  runtime rt(in_memory());
  const typed values(rt.open("c").value());
  CHECK(values.put_async("a", "one").get());
  CHECK(values.insert_async("b", "two").get().value() == insert_outcome::inserted);
  const std::vector<std::string> names{"a", "none", "b"};
  for (const auto& found : {values.get_many(names), values.get_many_async(names).get().value()}) {
    REQUIRE(found.size() == 3);
    CHECK(found[0].value() == "one");
    CHECK_FALSE(found[1].value());
    CHECK(found[2].value() == "two");
  }
  CHECK(values.get_or_compile_async("c", [] { return std::string("three"); }).get() == "three");
  const auto outcome = values.lookup_or_compile("c", [] { return std::string("never"); }).value();
  CHECK(outcome.value == "three");
  CHECK(outcome.from == tier::memory);
  CHECK(outcome.time_saved > 0ns);
  const auto failed =
      values.lookup_or_compile_async("d", [](std::stop_token) -> expected<std::string> {
        return fail(errc::compile_failed, "no text");
      });
  CHECK(values.erase_async("a").get().value());
  CHECK_FALSE(values.get("a").value());
  // A stored value of another type names both.
  const typed_cache<std::string, int> numbers(values.untyped());
  CHECK(numbers.get("b").error().text().find("no 'int'") != std::string::npos);
}

TEST_CASE("a remote tier that cannot be made says why") {
  runtime none(in_memory());
  CHECK_FALSE(none.has_remote());
  CHECK(none.remote_problem().text().empty());
  auto wrong = in_memory();
  wrong.remote.url = "ftp://host";
  runtime rt(wrong);
  CHECK_FALSE(rt.has_remote());
  CHECK(rt.remote_problem().text().find("redis://") != std::string::npos);
}

TEST_CASE_FIXTURE(on_disk, "an action's stored outcome is found without a run") {
  runtime rt(settings());
  const auto actions = action_cache::open(rt).value();
  const action asked({"sh", "-c", "echo once"});
  CHECK_FALSE(actions.find(asked).value());
  REQUIRE(actions.run(asked)->out == "once\n");
  const auto found = actions.find(asked).value();
  REQUIRE(found);
  CHECK(found->found);
  CHECK(found->out == "once\n");
  CHECK(actions.find(action()).error().code() == errc::invalid_argument);
}

} // namespace call_forms_test
