// Requests of a host's actor to a cache.
#include "runtime/handle/actor_form.hpp"
#include "tests/support/runtimes.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <doctest/doctest.h>

#include <future>
#include <thread>

namespace actor_form_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

struct fixture {
  fixture() { add_message_types(settings); }
  caf::actor_system_config settings;
  caf::actor_system host{settings};
  runtime rt{in_memory(), host};
  hearth::cache cache = rt.open("c").value();
};

// Takes the lease of `at` and keeps it until the actor dies.
caf::behavior lease_keeper(caf::event_based_actor* self, const key_address& at,
                           std::promise<lease_id>* has_it) {
  self->request(at.owner, caf::infinite, verb::acquire_v, at.key)
      .then([has_it](const lease_reply& reply) { has_it->set_value(reply.lease.take()); });
  return {[](verb::clear) {}};
}

} // namespace

TEST_CASE_FIXTURE(fixture, "an actor asks with requests that have deadlines") {
  caf::scoped_actor self{host};
  const auto at = address(cache, "k").value();
  const auto ask = [&]<class T>(T result, auto... parts) {
    self->request(at.owner, 10s, parts...)
        .receive([&](const T& answer) { result = answer; },
                 [&](const caf::error& why) { FAIL(from_caf(why).to_string()); });
    return result;
  };
  CHECK_FALSE(ask(lookup{}, verb::get_v, at.key).hit());
  CHECK(ask(insert_outcome::exists, verb::insert_v, at.key, artifact::make("v")) ==
        insert_outcome::inserted);
  CHECK(cache.get("k")->value.payload() == "v");
  ask(done{}, verb::put_v, at.key, artifact::make("w"));
  CHECK(ask(lookup{}, verb::get_v, at.key).value.payload() == "w");
  CHECK(ask(false, verb::erase_v, at.key));
  const auto lease = ask(lease_reply{}, verb::acquire_v, at.key);
  CHECK(lease.lease.id() != 0);
  CHECK(ask(insert_outcome::exists, verb::fulfil_v, lease.lease.take(), artifact::make("made")) ==
        insert_outcome::inserted);
  CHECK(cache.get("k")->value.payload() == "made");
}

TEST_CASE_FIXTURE(fixture,
                  "a request that is not answered in time is a timeout error of the cache") {
  caf::scoped_actor self{host};
  const auto at = address(cache, "k").value();
  std::promise<lease_id> has_it;
  auto keeper = host.spawn(lease_keeper, at, &has_it);
  CHECK(has_it.get_future().get() != 0);
  self->request(at.owner, 1ms, verb::acquire_v, at.key)
      .receive([](const lease_reply&) { FAIL("nobody ended the lease"); },
               [](const caf::error& why) { CHECK(from_caf(why).code() == errc::timeout); });
  caf::anon_send_exit(keeper, caf::exit_reason::kill);
}

TEST_CASE_FIXTURE(fixture, "an actor that dies with a lease passes it on to a waiting thread") {
  const auto at = address(cache, "k").value();
  std::promise<lease_id> has_it;
  auto keeper = host.spawn(lease_keeper, at, &has_it);
  CHECK(has_it.get_future().get() != 0);
  auto next = cache.get_or_compile_async("k", [] { return artifact::make("by the next"); });
  CHECK_FALSE(next.ready());
  caf::anon_send_exit(keeper, caf::exit_reason::kill);
  CHECK(next.get()->payload() == "by the next");
}

TEST_CASE_FIXTURE(fixture, "a request that cannot be sent gets no address") {
  CHECK(address(cache, key::bytes(std::string(max_key_bytes, 'k'))).error().code() ==
        errc::invalid_key);
  rt.shutdown();
  CHECK(address(cache, "k").error().code() == errc::closed);
}

} // namespace actor_form_test
