// A host that is made of actors: its own actor system, and requests to the actor that owns a key.
#include <hearth/actors.hpp>
#include <hearth/hearth.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <iostream>

namespace {

using namespace std::chrono_literals;

// Looks a kernel up, compiles it when it is missing, and ends.
void build(caf::event_based_actor* self, const hearth::key_address& kernel) {
  const auto failed = [](const caf::error& why) {
    std::cout << hearth::from_caf(why).to_string() << '\n';
  };
  self->request(kernel.owner, 10s, hearth::verb::acquire_v, kernel.key)
      .then(
          [=](const hearth::lease_reply& reply) {
            if (reply.found.hit()) {
              std::cout << "found: " << reply.found.value.payload() << '\n';
              return;
            }
            std::cout << "compiling\n"; // this actor holds the lease; all others wait
            self->request(kernel.owner, 10s, hearth::verb::fulfil_v, reply.lease.take(),
                          hearth::artifact::make("machine code"))
                .then([](hearth::insert_outcome how) { std::cout << to_string(how) << '\n'; },
                      failed);
          },
          failed);
}

} // namespace

int main() {
  caf::actor_system_config settings;
  hearth::add_message_types(settings);
  caf::actor_system host(settings);
  hearth::runtime rt({}, host);
  const auto kernels = rt.open("kernels");
  if (!kernels) return std::cerr << kernels.error().text() << '\n', 1;
  const auto kernel = hearth::address(*kernels, "relu");
  if (!kernel) return std::cerr << kernel.error().text() << '\n', 1;

  for (int turn = 0; turn < 2; ++turn) {
    caf::scoped_actor self{host};
    self->wait_for(host.spawn(build, *kernel));
  }
}
