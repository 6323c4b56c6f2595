#include "runtime/server/entries/change_order.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using hearth::server::change_order;

namespace {

// Begins changes and keeps their turns until the test ends them.
struct fixture {
  void begin(const std::string& name, bool alone, std::uint64_t key = 7) {
    const auto note = [this, name](change_order::turn turn) {
      running.push_back(name);
      turns.emplace_back(name, std::move(turn));
    };
    alone ? order->begin_alone(key, note) : order->begin(key, note);
  }
  void end(const std::string& name) {
    for (auto at = turns.begin(); at != turns.end(); ++at)
      if (at->first == name) {
        // The next changes begin while this one ends.
        const auto turn = std::move(at->second);
        turns.erase(at);
        return;
      }
    FAIL("it does not run: ", name);
  }

  std::shared_ptr<change_order> order = std::make_shared<change_order>();
  std::vector<std::string> running;
  std::vector<std::pair<std::string, change_order::turn>> turns;
};

using names = std::vector<std::string>;

} // namespace

TEST_CASE_FIXTURE(fixture,
                  "change order: plain changes run side by side, one alone waits for all") {
  begin("a", false);
  begin("b", false);
  begin("alone", true);
  CHECK(running == names{"a", "b"});
  end("a");
  CHECK(running == names{"a", "b"});
  end("b");
  CHECK(running == names{"a", "b", "alone"});
}

TEST_CASE_FIXTURE(fixture, "change order: nothing overtakes a change that waits") {
  begin("a", false);
  begin("alone", true);
  begin("b", false);
  begin("c", false);
  begin("second alone", true);
  CHECK(running == names{"a"});
  end("a");
  CHECK(running == names{"a", "alone"});
  end("alone");
  CHECK(running == names{"a", "alone", "b", "c"});
  end("c");
  end("b");
  CHECK(running.back() == "second alone");
}

TEST_CASE_FIXTURE(fixture, "change order: other keys do not wait") {
  begin("alone", true, 1);
  begin("other", true, 2);
  begin("same place", false, 1 + 1024);
  CHECK(running == names{"alone", "other"});
  end("alone");
  CHECK(running == names{"alone", "other", "same place"});
}

TEST_CASE("change order: a change that ends at once lets a long queue go on") {
  const auto order = std::make_shared<change_order>();
  change_order::turn first;
  order->begin_alone(7, [&](change_order::turn turn) { first = std::move(turn); });
  int ended = 0;
  for (int i = 0; i < 200'000; ++i)
    order->begin_alone(7, [&](const change_order::turn&) { ++ended; });
  CHECK(ended == 0);
  first.reset();
  CHECK(ended == 200'000);
}
