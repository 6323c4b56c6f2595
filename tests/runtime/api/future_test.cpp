#include "runtime/api/future.hpp"

#include "messages/replies.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace future_test {

using namespace hearth;

namespace {

using words = std::unique_ptr<std::string>; // shows moves and destruction
using state = completion_state<words>;

words make(std::string text) { return std::make_unique<std::string>(std::move(text)); }

struct pending {
  std::shared_ptr<state> asked = std::make_shared<state>();
  completion<words> answers{asked};
  future<words> answer{asked};
};

static_assert(sizeof(future<lookup>) <= 32, "as large as what it holds, and a word");
static_assert(std::is_nothrow_move_constructible_v<future<words>>);

} // namespace

TEST_CASE("a future that is ready gives its value once") {
  future<words> answer{make("made")};
  CHECK(answer.ready());
  CHECK(answer.state() == nullptr);
  const auto got = answer.get();
  REQUIRE(got);
  CHECK(**got == "made");
  CHECK_FALSE(answer.ready());
  const auto again = answer.get();
  REQUIRE_FALSE(again);
  CHECK(again.error().code() == errc::cancelled);
  CHECK(again.error().text() == "this answer was taken before");
}

TEST_CASE("a future that is ready gives its error once") {
  future<words> answer{expected<words>(fail(errc::io, "the disk is gone"))};
  CHECK(answer.ready());
  const auto got = answer.get_for(std::chrono::milliseconds(0));
  REQUIRE_FALSE(got);
  CHECK(got.error() == error(errc::io, "the disk is gone"));
  CHECK_FALSE(answer.ready());
  CHECK(answer.get().error().code() == errc::cancelled);
}

TEST_CASE("a future that is moved hands on its content and is left empty") {
  SUBCASE("a value") {
    future<words> from{make("made")};
    future<words> to{std::move(from)};
    CHECK_FALSE(from.ready());
    from = std::move(to);
    CHECK_FALSE(to.ready());
    CHECK(**from.get() == "made");
  }
  SUBCASE("an error") {
    future<words> from{expected<words>(fail(errc::io, "the disk is gone"))};
    future<words> to{std::move(from)};
    CHECK_FALSE(from.ready());
    CHECK(to.ready());
    CHECK(to.get().error().code() == errc::io);
  }
  SUBCASE("an answer to come") {
    pending asked;
    future<words> to{std::move(asked.answer)};
    CHECK(asked.answer.state() == nullptr);
    CHECK(to.state() == asked.asked);
    CHECK_FALSE(to.ready());
    CHECK(asked.answers.deliver(make("made")));
    CHECK(to.ready());
    CHECK(**to.get() == "made");
  }
  SUBCASE("nothing") {
    future<words> from{make("made")};
    static_cast<void>(from.get());
    future<words> to{std::move(from)};
    CHECK_FALSE(to.ready());
  }
}

TEST_CASE("a future that another one replaces is given up") {
  pending first, second;
  first.answer = std::move(second.answer);
  CHECK_FALSE(first.answers.wanted());
  CHECK(second.answers.wanted());
  CHECK(second.answers.deliver(make("second")));
  CHECK(**first.answer.get() == "second");
  auto& same = first.answer;
  first.answer = future<words>{make("third")};
  first.answer = std::move(same);
  CHECK(**first.answer.get() == "third");
}

TEST_CASE("a future that is dropped is given up, unless its answer was taken") {
  auto asked = std::make_shared<state>();
  const completion<words> answers{asked};
  bool told = false;
  asked->on_give_up([&] { told = true; });
  SUBCASE("dropped") {
    { const future<words> dropped{asked}; }
    CHECK(told);
    CHECK_FALSE(answers.deliver(make("late")));
  }
  SUBCASE("taken by a callback") {
    words came;
    {
      future<words> answer{asked};
      answer.then([&](expected<words> result) { came = std::move(*result); });
    }
    CHECK_FALSE(told);
    CHECK(answers.deliver(make("made")));
    CHECK(*came == "made");
  }
}

TEST_CASE("futures in a growing vector keep their content") {
  std::vector<future<words>> all;
  std::vector<std::shared_ptr<state>> asked;
  std::vector<completion<words>> answers;
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == 0) {
      all.emplace_back(make(std::to_string(i)));
    } else if (i % 3 == 1) {
      all.emplace_back(expected<words>(fail(errc::io, std::to_string(i))));
    } else {
      asked.push_back(std::make_shared<state>());
      answers.emplace_back(asked.back());
      all.emplace_back(asked.back());
    }
  }
  for (std::size_t i = 0; i < answers.size(); ++i)
    CHECK(answers[i].deliver(make(std::to_string(3 * i + 2))));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto got = all[i].get();
    CHECK((got ? **got : got.error().text()) == std::to_string(i));
  }
}

} // namespace future_test
