// What a host and the supervisor that it started (`hearth-worker supervise`) say to each other: the
// job, read once from a descriptor, and the messages that come back. Pure functions, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/process.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::worker {

/// Changes whenever anything in this header does: host and worker have to be of one version.
inline constexpr std::string_view protocol_version = "2";

// The descriptors that a supervisor is started with, after the standard three.
inline constexpr int report_descriptor = 3;  ///< passed on to the program
inline constexpr int job_descriptor = 4;     ///< the encoded job, to its end
inline constexpr int control_descriptor = 5; ///< messages out; its end means: stop everything

/// Longest encoded job: Linux takes 2 MiB of arguments and environment by default.
inline constexpr std::size_t max_job_bytes = 8 << 20;

/// A program to run.
struct job {
  std::int64_t host = 0; ///< process id of the one who asks; its death stops everything
  std::string program;   ///< path of the executable
  std::string directory; ///< to change to first; empty: stay
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  resource_limits limits{};
};

std::string encode_job(const job& asked);
/// Errors: `malformed`.
expected<job> decode_job(std::string_view bytes);

/// What a supervisor tells its host; sent as the bytes that it is.
struct supervisor_message {
  enum kind : std::int32_t {
    refused_directory = 1, ///< `number` is the errno of changing the directory
    refused_program = 2,   ///< `number` is the errno of starting the program
    refused_process = 3,   ///< `number` is the errno of making the process
    ended = 4,             ///< `number` is the wait status; nothing of the job is left but `left`
  };
  std::int32_t what = 0;
  std::int32_t number = 0;
  std::int32_t stopped = 0; ///< it ended because it was told to stop
  std::int32_t left = 0;    ///< 1 when something of it could not be killed in time
};

} // namespace hearth::worker
