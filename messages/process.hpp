// Requests to run a subprocess and their results; and trials of compiled kernels, which run in a
// subprocess. Plain values, any thread.
#pragma once

#include "messages/visibility.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// Limits of a program and of each program that it starts; 0: the host's limit.
struct resource_limits {
  std::uint64_t memory_bytes = 0; ///< address space
  std::uint64_t cpu_seconds = 0;
  std::uint64_t file_bytes = 0; ///< size of a file that it writes
  std::uint64_t open_files = 0;

  friend bool operator==(const resource_limits&, const resource_limits&) = default;
};

/// Whether the files that a program and its descendants look at are noted.
enum class watching : std::uint8_t {
  none,
  files,           ///< opened, run, listed, asked about, and looked for in vain
  files_and_links, ///< also symbolic links whose text alone is read, of which compilers read
                   ///< thousands, and the path of the working folder
};

/// An overlay over a folder, which the program and its descendants alone see: what they change in
/// the folder lies elsewhere, and the host's files stay as they are.
struct folder_cover {
  std::string folder;               ///< absolute, without symbolic links
  std::string changes;              ///< an empty folder, not below `folder`: gets what is changed
  std::string work;                 ///< another one, for the kernel
  std::string temporary;            ///< a third one, for the program's temporary files
  std::vector<std::string> hidden;  ///< absolute paths below `folder`: not there at the start
  std::vector<std::string> folders; ///< absolute paths below `folder`: folders that are there

  friend bool operator==(const folder_cover&, const folder_cover&) = default;
};

/// One run of a program.
struct process_request {
  std::vector<std::string> argv;        ///< argv[0] is a path, or a name to find in PATH
  std::vector<std::string> environment; ///< "NAME=value"; the whole environment
  std::string directory;                ///< working directory; empty: the caller's
  std::string input;                    ///< the whole content of its stdin
  std::chrono::milliseconds deadline{120'000};
  std::size_t output_limit = 1 << 20; ///< bytes kept of stdout and stderr together
  bool streams_apart = false;         ///< stderr goes to `errors`, with its own limit
  resource_limits limits{};
  watching watch = watching::none;
  /// For a watched program: its scratch directory, whose links are followed as they are at each
  /// look; may be empty. A path without symbolic links.
  std::string scratch{};
  std::optional<folder_cover> cover{};
};

/// The outcome of a run.
struct process_result {
  bool timed_out = false; ///< killed at its deadline
  bool cancelled = false; ///< killed because the caller stopped waiting
  int exit_status = 0;    ///< meaningful when `signal` is 0
  int signal = 0;         ///< the signal that ended it, or 0
  std::string output;     ///< stdout and stderr in order of arrival, cut in the middle at the limit
  std::string errors;     ///< stderr, if the streams are kept apart
  std::string report;     ///< its output to descriptor 3 (hearth-worker uses it)
  std::int64_t wall_ns = 0;
  std::string sightings;  ///< if it was watched: what it looked at, see `read_sightings`
  std::string blind_spot; ///< why not all that it looked at is there; empty: all is

  /// Whether it ended by itself, with an exit status.
  bool exited() const { return !timed_out && !cancelled && signal == 0; }
  bool succeeded() const { return exited() && exit_status == 0; }
};

enum class element_type : std::uint8_t { f32, f64, i32, i64, u8 };

/// A buffer of a trial: `shape` in elements, row-major and dense.
struct trial_buffer {
  element_type type = element_type::f32;
  std::vector<std::int64_t> shape;
  bool output =
      false; ///< zeroed at first and compared with the reference; other buffers are seeded
};

/// The kernel to run: `extern "C" void entry(void* const* buffers, const int64_t* sizes)`.
struct trial_request {
  std::string library; ///< path of the shared object
  std::string entry;
  std::string reference; ///< same signature, same library; empty: no comparison
  double tolerance = 0;  ///< |got - expected| <= tolerance * max(1, |expected|)
  std::vector<trial_buffer> buffers;
  std::vector<std::int64_t> sizes;
  std::uint64_t seed = 0;
  std::int64_t timing_ns = 100'000'000; ///< approximate duration of the timing
};

enum class trial_status : std::uint8_t {
  good,
  wrong,   ///< an output differs from the reference's
  crashed, ///< a signal, an exit, or no answer
  hung,    ///< killed at its deadline
  unfit,   ///< the trial was not possible: symbol missing, buffers too large
  not_run, ///< cancelled, or the machine could not start a process
};

struct trial_result {
  trial_status status = trial_status::unfit;
  std::string reason;       ///< why the kernel is not good; one line
  std::int64_t time_ns = 0; ///< one call, 10th percentile of the timed rounds
  std::int64_t rounds = 0;
};

} // namespace hearth
