// A compile plan: the checked contents of a TOML file, and the requests and entries derived from
// them. Plain values, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/guard.hpp"
#include "messages/process.hpp"
#include "messages/value.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hearth::orchestrator {

struct plan_toolchain {
  std::string compiler; ///< as written
  std::vector<std::string> flags;
  std::chrono::milliseconds timeout{120'000}; ///< limit of one compiler run, and of one trial
};

struct plan_buffer {
  element_type type = element_type::f32;
  std::vector<guard_expression> shape; ///< a symbol, a number, or an expression of them
  bool output = false;
};

/// A macro of a configuration, in the plan's order. The compiler is told -D`name`=`text`.
struct plan_macro {
  std::string name;
  std::string text;
  value as_written; ///< int, text, bool or float, for reports
};
using plan_config = std::vector<plan_macro>;

struct plan_kernel {
  std::string name;
  std::string source; ///< as written: relative to the plan's folder, or absolute
  std::string entry;
  std::string reference; ///< empty: nothing to check against
  double tolerance = 0;
  std::vector<std::string> symbols;
  std::vector<plan_buffer> buffers;
  std::vector<plan_config> configs;
  std::vector<guard_expression> guards;          ///< empty: one entry per shape
  std::vector<std::vector<std::int64_t>> shapes; ///< values of `symbols`, in their order
};

/// One kernel with one shape.
struct plan_request {
  std::size_t kernel = 0;
  std::size_t shape = 0;
  std::optional<std::size_t> guard;  ///< the first guard in plan order that holds
  std::vector<trial_buffer> buffers; ///< buffers with the shape's dimensions
  std::size_t entry = 0;             ///< index in `plan::entries` of the one that serves it
};

/// A unit that is compiled and tuned once: a kernel with a guard, or with a shape when it has no
/// guards.
struct plan_entry {
  std::size_t kernel = 0;
  std::optional<std::size_t> guard;
  std::vector<std::size_t> requests; ///< requests that it serves; it is tuned on the first
};

struct plan {
  std::string path;      ///< as given
  std::string directory; ///< the plan's folder, absolute
  plan_toolchain toolchain;
  std::vector<plan_kernel> kernels;
  std::vector<plan_request> requests; ///< kernels in plan order, shapes in plan order
  std::vector<plan_entry> entries;    ///< by their first requests; none for a guard without shapes
};

/// Maximum size of a plan's file, bytes.
inline constexpr std::size_t max_plan_bytes = 4u << 20;
/// Maximum kernels of a plan, and maximum configs, guards and shapes of a kernel.
inline constexpr std::size_t max_plan_kernels = 1024;
inline constexpr std::size_t max_plan_items = 4096;
/// Maximum symbols of a kernel.
inline constexpr std::size_t max_plan_symbols = 64;

/// Reads and checks a plan, and that its sources exist; runs nothing. Errors are one line that
/// names the file and, where it has one, the line and the key ("plan.toml:12: kernel[0].tolerance:
/// ..."): `malformed`; `not_found` (the plan, or a source); `unknown_name`, `overflow`,
/// `division_by_zero`, `invalid_argument` (of guards and dimensions for a shape); `too_large`
/// (above these limits, or buffers of more than a trial may have); the system's error when the file
/// cannot be read.
expected<plan> load_plan(const std::string& path);

} // namespace hearth::orchestrator
