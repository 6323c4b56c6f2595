// hearth script and simulate: scripted message tests, and random ones, in a simulated world. No
// store of the user's is touched.
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
  std::string seeds; ///< empty: in order
  bool trace = false;
  bool json = false;
};

/// Runs each script under each seed. 1: an expectation failed; 2: a script is malformed.
status script(const script_arguments& arguments);

struct simulate_arguments {
  std::string seeds;
  unsigned hosts = 1;
  unsigned processes = 2; ///< of a host
  unsigned minutes = 1;   ///< of virtual time
  bool trace = false;
  bool json = false;
};

/// Simulates each seed. 1: something did not hold; its seed and the command that shows it again are
/// printed.
status simulate(const simulate_arguments& arguments);

} // namespace hearth::cli
