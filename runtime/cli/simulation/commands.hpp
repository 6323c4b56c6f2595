// The commands `hearth script` and `hearth simulate`: scripted and random message tests in a
// simulated world. They touch no store of the user's.
#pragma once

#include "messages/error.hpp"
#include "runtime/cli/io/output.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

/// Seeds from `first` to `last`, both included.
struct seed_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// "3..17", or "3" alone. Errors: `invalid_argument`.
expected<seed_range> parse_seeds(std::string_view text);

struct script_arguments {
  std::vector<std::string> files;
  std::string seeds; ///< a range; empty: messages in order
  bool trace = false;
  bool json = false;
};

/// Runs each script under each seed. Returns 1 when an expectation failed, 2 when a script is
/// malformed. A signal that asks it to end makes it print the summary so far; the status is then
/// 128 plus the signal.
int script(const script_arguments& arguments);

struct simulate_arguments {
  std::string seeds;
  unsigned hosts = 1;
  unsigned processes = 2; ///< number per host
  unsigned minutes = 1;   ///< length in virtual time
  bool cluster = false;   ///< every world has a Redis Cluster
  bool remotes = false;   ///< every world has two servers, one behind the other
  bool trace = false;
  bool no_hash = false; ///< the trace is not hashed
  bool json = false;
};

/// Simulates each seed. Returns 1 when a check failed, and prints its seed and the command that
/// repeats it. Signals: as `script`.
int simulate(const simulate_arguments& arguments);

} // namespace hearth::cli
