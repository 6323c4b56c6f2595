// Misses that wait for the connection that missed first.
#include "runtime/server/connection/held_leases.hpp"
#include "tests/runtime/server/stepped_host.hpp"

namespace held_leases_test {

using namespace hearth;
using namespace hearth::server;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

// A connection whose answers are kept.
struct holder {
  explicit holder(server_bench& in)
      : holder(in, in.trusted()) {}
  holder(server_bench& in, entry_space of)
      : leases(std::make_unique<held_leases>(*host, in.context, std::move(of))) {}

  void get(std::string_view key) {
    leases->get(key, [this](expected<lookup> found) { got = std::move(found); });
  }
  bool has_answer() {
    return host->run_until([this] { return got.has_value(); });
  }
  // The value that a get finds; "miss" or the error.
  std::string find(std::string_view key) {
    got.reset();
    get(key);
    return answer();
  }
  std::string answer() {
    if (!has_answer()) return "no answer";
    if (!*got) return (*got).error().to_string();
    return (*got)->hit() ? std::string((*got)->value.payload()) : "miss";
  }
  std::string put(std::string_view key, std::string_view bytes) {
    std::optional<expected<done>> stored;
    leases->put(key, make_value(bytes), [&](expected<done> one) { stored = std::move(one); });
    if (!host->run_until([&] { return stored.has_value(); })) return "no answer";
    return *stored ? "done" : stored->error().to_string();
  }
  std::string insert(std::string_view key, std::string_view bytes) {
    std::optional<expected<insert_outcome>> stored;
    leases->insert(key, make_value(bytes),
                   [&](expected<insert_outcome> one) { stored = std::move(one); });
    if (!host->run_until([&] { return stored.has_value(); })) return "no answer";
    return *stored ? std::string(to_string(**stored)) : stored->error().to_string();
  }

  std::shared_ptr<stepped_host> host = std::make_shared<stepped_host>(nullptr);
  std::unique_ptr<held_leases> leases;
  std::optional<expected<lookup>> got;
};

struct fixture : server_bench {
  fixture() { settings.hold.wait = 60s; }
  holder a{*this}, b{*this};
};

} // namespace

TEST_CASE_FIXTURE(fixture, "the first miss is a miss, the second gets the value of the first") {
  CHECK(a.find("k") == "miss");
  CHECK(a.leases->holds("k"));
  CHECK(counters.holders_now == 1);
  b.get("k");
  CHECK_FALSE(b.got);
  CHECK(counters.held_now == 1);
  CHECK(a.put("k", "made") == "done");
  CHECK_FALSE(a.leases->holds("k"));
  CHECK(b.answer() == "made");
  CHECK(counters.held_now == 0);
  CHECK(counters.held_hits == 1);
  CHECK(counters.holders_now == 0);
  CHECK(counters.holders_ended == 0);
  CHECK(b.find("k") == "made");
}

TEST_CASE_FIXTURE(fixture, "a holder knows how long it has held a key") {
  const auto before = std::chrono::steady_clock::now();
  CHECK(a.leases->held_for("k") == 0s);
  CHECK(a.find("k") == "miss");
  const auto held = a.leases->held_for("k");
  CHECK(held > 0s);
  CHECK(held <= std::chrono::steady_clock::now() - before);
  CHECK(a.leases->held_for("other") == 0s);
  CHECK(a.put("k", "made") == "done");
  CHECK(a.leases->held_for("k") == 0s);
}

TEST_CASE_FIXTURE(fixture, "an entry that has expired does not keep a miss from being held") {
  CHECK(trusted().put("k", make_value("old", 1)).get());
  CHECK(a.find("k") == "miss");
  CHECK(a.leases->holds("k"));
  b.get("k");
  CHECK_FALSE(b.got);
  CHECK(a.put("k", "new") == "done");
  CHECK(b.answer() == "new");
}

TEST_CASE_FIXTURE(fixture, "a holder that misses its own key again does not wait for itself") {
  CHECK(a.find("k") == "miss");
  CHECK(a.find("k") == "miss");
  CHECK(counters.holders_now == 1);
}

TEST_CASE_FIXTURE(fixture, "the end of a connection makes the next one the holder") {
  CHECK(a.find("k") == "miss");
  b.get("k");
  a.leases.reset();
  CHECK(counters.holders_ended == 1);
  CHECK(b.answer() == "miss");
  CHECK(b.leases->holds("k"));
}

TEST_CASE_FIXTURE(fixture, "a holder that gives up all its keys makes the next ones the holders") {
  CHECK(a.find("k") == "miss");
  CHECK(a.find("l") == "miss");
  b.get("k");
  a.leases->abandon_all();
  CHECK(counters.holders_ended == 2);
  CHECK(b.answer() == "miss");
  CHECK(b.leases->holds("k"));
  CHECK_FALSE(a.leases->holds("l"));
  a.leases->abandon_all();
  CHECK(counters.holders_ended == 2);
}

TEST_CASE_FIXTURE(fixture, "a holder that takes too long loses the lease") {
  CHECK(a.find("k") == "miss");
  REQUIRE(a.host->timers.size() == 1);
  CHECK(a.host->timers.front().first == settings.hold.holder);
  b.get("k");
  a.host->run_timers();
  CHECK_FALSE(a.leases->holds("k"));
  CHECK(counters.holders_ended == 1);
  CHECK(b.answer() == "miss");
  CHECK(b.leases->holds("k"));
  SUBCASE("and its value is stored all the same") {
    CHECK(a.put("k", "late") == "done");
    CHECK(a.find("k") == "late");
  }
}

TEST_CASE_FIXTURE(fixture, "the timer of an earlier lease does not end a later one") {
  CHECK(a.find("k") == "miss");
  CHECK(a.put("k", "1") == "done");
  CHECK(trusted().erase("k").get().value());
  auto early = std::exchange(a.host->timers, {});
  CHECK(a.find("k") == "miss");
  early.front().second();
  CHECK(a.leases->holds("k"));
}

TEST_CASE_FIXTURE(fixture, "a timer that is left over does nothing after the end") {
  CHECK(a.find("k") == "miss");
  a.leases.reset();
  a.host->run_timers();
  CHECK(counters.holders_now == 0);
}

TEST_CASE_FIXTURE(fixture, "a wait that takes too long is a miss without a lease") {
  CHECK(a.find("k") == "miss");
  settings.hold.wait = 1ms; // not before: on a busy machine the first miss may take longer
  CHECK(b.find("k") == "miss");
  CHECK_FALSE(b.leases->holds("k"));
  CHECK(counters.held_deadlines == 1);
  CHECK(counters.held_now == 0);
}

TEST_CASE_FIXTURE(fixture, "misses above the bound are answered at once") {
  settings.hold.max_held = 1;
  CHECK(a.find("k") == "miss");
  b.get("k");
  holder c{*this};
  CHECK(c.find("k") == "miss");
  CHECK(counters.held_refused == 1);
  CHECK_FALSE(c.leases->holds("k"));
}

TEST_CASE_FIXTURE(fixture, "a connection holds a bounded number of leases") {
  for (std::size_t i = 0; i < held_leases::max_leases; ++i)
    REQUIRE(a.find("k" + std::to_string(i)) == "miss");
  CHECK(a.find("more") == "miss");
  CHECK_FALSE(a.leases->holds("more"));
  CHECK(counters.holders_now == held_leases::max_leases);
}

TEST_CASE_FIXTURE(fixture, "a connection that ends while it waits is counted out and not called") {
  CHECK(a.find("k") == "miss");
  b.get("k");
  CHECK(counters.held_now == 1);
  b.leases.reset();
  CHECK(counters.held_now == 0);
  CHECK(a.put("k", "v") == "done");
  holder c{*this};
  CHECK(c.find("k") == "v");
  CHECK_FALSE(b.got);
}

TEST_CASE_FIXTURE(fixture, "a put under a lease replaces what another caller stored meanwhile") {
  CHECK(a.find("k") == "miss");
  CHECK(b.put("k", "theirs") == "done");
  CHECK(a.put("k", "ours") == "done");
  CHECK(b.find("k") == "ours");
}

TEST_CASE_FIXTURE(fixture, "a wait ends with whatever a client stores, and so does the lease") {
  CHECK(a.find("k") == "miss");
  b.get("k");
  SUBCASE("a change, which knows no lease") {
    auto changed = trusted().change("k", [](const lookup&, bool) -> entry_change {
      return {entry_change::kind::put, make_value("made")};
    });
    CHECK(changed.get());
  }
  SUBCASE("a put by another client") { CHECK(trusted().put("k", make_value("made")).get()); }
  SUBCASE("an insert by another client") { CHECK(trusted().insert("k", make_value("made")).get()); }
  CHECK(b.answer() == "made");
  CHECK(counters.held_hits == 1);
  CHECK(counters.held_now == 0);
  CHECK(a.host->run_until([&] { return !a.leases->holds("k"); }));
  CHECK(counters.holders_now == 0);
}

TEST_CASE_FIXTURE(fixture, "a client of another namespace waits for the trusted value, too") {
  server::identity who;
  who.name_space = "pull";
  const auto pull = [&] { return open(who, 0); };
  holder first{*this, pull()}, second{*this, pull()};
  CHECK(first.find("k") == "miss");
  second.get("k");
  SUBCASE("stored") { CHECK(trusted().put("k", make_value("made")).get()); }
  SUBCASE("made by a holder of its own") {
    CHECK(a.find("k") == "miss");
    CHECK(a.put("k", "made") == "done");
  }
  CHECK(second.answer() == "made");
}

TEST_CASE_FIXTURE(fixture, "a wait goes on when what was stored is gone again") {
  CHECK(a.find("k") == "miss");
  b.get("k");
  CHECK(trusted().put("k", make_value("gone")).get());
  CHECK(trusted().erase("k").get().value());
  CHECK(trusted().put("other", make_value("")).get());
  bool is_idle = false;
  b.host->post([&] { is_idle = true; });
  CHECK(b.host->run_until([&] { return is_idle; }));
  CHECK_FALSE(b.got);
  CHECK(a.put("k", "made") == "done");
  CHECK(b.answer() == "made");
}

TEST_CASE_FIXTURE(fixture, "at the end of a wait the entry is looked up once more") {
  CHECK(a.find("k") == "miss");
  settings.hold.wait = 1ms;
  b.get("k");
  // As another process does, of which the server hears nothing.
  CHECK(rt.open("server..0").value().put(key::bytes("k"), make_value("theirs")));
  CHECK(b.answer() == "theirs");
  CHECK(counters.held_deadlines == 0);
}

TEST_CASE_FIXTURE(fixture, "a lease that is granted to a connection that is gone goes on") {
  CHECK(a.find("k") == "miss");
  b.get("k");
  SUBCASE("its session is gone") { b.leases.reset(); }
  SUBCASE("it is gone as a whole") {
    b.leases.reset();
    b.host.reset();
  }
  CHECK(a.leases->abandon("k"));
  holder c{*this};
  CHECK(c.find("k") == "miss");
  CHECK(c.leases->holds("k"));
}

TEST_CASE_FIXTURE(fixture, "an insert ends the lease, and leaves what is there") {
  CHECK(a.find("k") == "miss");
  CHECK(a.insert("k", "1") == "inserted");
  CHECK_FALSE(a.leases->holds("k"));
  CHECK(a.insert("k", "2") == "exists");
  CHECK(a.find("k") == "1");
}

} // namespace held_leases_test
