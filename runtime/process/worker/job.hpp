// The protocol between a host and the supervisor that it started (`hearth-worker supervise`): the
// job, read once from a descriptor, and the messages sent back. Pure functions, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/process.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::worker {

/// Changes whenever anything in this header does: host and worker have to be of one version.
inline constexpr std::string_view protocol_version = "5";

// The descriptors that a supervisor is started with, after the standard three.
inline constexpr int report_descriptor = 3;  ///< passed on to the program
inline constexpr int job_descriptor = 4;     ///< the encoded job, to its end
inline constexpr int control_descriptor = 5; ///< carries messages out; its end stops everything
inline constexpr int watch_descriptor = 6;   ///< a file for what a watched job has looked at

/// Longest encoded job: Linux takes 2 MiB of arguments and environment by default.
inline constexpr std::size_t max_job_bytes = 8 << 20;

/// A program to run.
struct job {
  std::int64_t host = 0; ///< process id of the host; its death stops everything
  std::string program;   ///< path of the executable
  std::string directory; ///< working directory; empty: the current one
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  resource_limits limits{};
  watching watch = watching::none;
  std::string scratch{};               ///< as in `process_request`
  std::optional<folder_cover> cover{}; ///< as in `process_request`
};

std::string encode_job(const job& asked);
/// Errors: `malformed`.
expected<job> decode_job(std::string_view bytes);

/// A message of a supervisor to its host; sent as its raw bytes.
struct supervisor_message {
  enum kind : std::int32_t {
    refused_directory = 1, ///< `number` is the errno of changing the directory
    refused_program = 2,   ///< `number` is the errno of starting the program
    refused_process = 3,   ///< `number` is the errno of making the process
    refused_cover = 5,     ///< `number` is the errno of making the overlay
    ended = 4,             ///< `number` is the wait status; no process is left, unless `left`
  };
  std::int32_t what = 0;
  std::int32_t number = 0;
  std::int32_t stopped = 0; ///< 1 when the job ended by a request to stop
  std::int32_t left = 0;    ///< 1 when a process of it could not be killed in time
};

} // namespace hearth::worker
