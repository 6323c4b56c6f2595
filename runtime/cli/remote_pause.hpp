// What the processes of this host know together about the server of the fleet: that it does not
// answer. A build is hundreds of processes, each with a breaker of its own, and each would wait for
// its deadline once.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/handle/runtime.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace hearth::cli {

/// Kept in the store, in the file `remote.pause`; without one each process asks by itself.
class remote_pause {
public:
  using time = std::chrono::sys_time<std::chrono::nanoseconds>;

  static constexpr std::chrono::seconds shortest{10};
  static constexpr std::chrono::seconds longest{60};

  /// `settings` has a remote tier.
  explicit remote_pause(const config& settings);

  /// Whether this process may ask the server: it is not known to be away, or this process is the
  /// one to try it again. Others may not until it has `told`, or for `shortest`.
  bool may_ask(time now);
  /// Notes whether the server answered. Each time that it did not makes the pause longer.
  void tell(bool answered, time now);

private:
  std::filesystem::path path_; // a store that is made later has it later
  std::uint64_t server_;       // a hash of its address and user
  bool is_trying_ = false;     // this process ends the pause, or makes it longer
};

/// Leaves the remote tier out of the settings while it is paused. The result is null then, and
/// without a remote tier or a store.
std::unique_ptr<remote_pause> pause_remote(config& host);
/// Tells whether the server answered this runtime.
void tell_of_remote(remote_pause* pause, const runtime& rt);

} // namespace hearth::cli
