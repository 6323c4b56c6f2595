// What the processes of this host know together about the server of the fleet: that it does not
// answer. A build is hundreds of processes, each with a breaker of its own, and each would wait for
// its deadline once.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/handle/runtime.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hearth::cli {

/// Kept in the store, in the file `remote.pause`, and for the second remote tier and those behind
/// it in `remote.pause.2` and so on; without a store each process asks by itself.
class remote_pause {
public:
  using time = std::chrono::sys_time<std::chrono::nanoseconds>;

  static constexpr std::chrono::seconds shortest{10};
  static constexpr std::chrono::seconds longest{60};

  /// `settings` has a remote tier. `place`: which of several, from 0.
  explicit remote_pause(const config& settings, std::size_t place = 0);

  /// Whether this process may ask the server: it is not known to be away, or this process is the
  /// one to try it again. Others may not until it has `told`, or for `shortest`.
  bool may_ask(time now);
  /// Notes whether the server answered. Each time that it did not makes the pause longer.
  void tell(bool answered, time now);
  /// The server's URL without secrets, as counters name it.
  const std::string& name() const noexcept { return name_; }

private:
  std::filesystem::path path_; // a store that is made later has it later
  std::uint64_t server_;       // a hash of its address and user
  std::string name_;
  bool is_trying_ = false; // this process ends the pause, or makes it longer
};

/// Leaves the remote tiers that are paused out of the settings. The result has those that are left;
/// none without a store.
std::vector<remote_pause> pause_remotes(config& host);
/// Tells which servers answered this runtime.
void tell_of_remotes(std::vector<remote_pause>& pauses, const runtime& rt);

} // namespace hearth::cli
