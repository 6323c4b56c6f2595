// A running supervisor, and our ends of its pipes and sockets. Owned by the call that runs the
// program, and used on its thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/os/files/descriptor.hpp"
#include "runtime/process/worker/job.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

namespace hearth::process {

class supervised_process {
public:
  /// Starts `program` (the path of hearth-worker) with a job and the stdin of its program. Errors:
  /// `process_failed`, and those of making descriptors.
  static expected<supervised_process> start(const std::string& program, const worker::job& asked,
                                            std::string_view input, bool streams_apart);
  supervised_process(supervised_process&& other) noexcept;
  supervised_process& operator=(supervised_process&&) = delete;
  /// Ends the supervisor: waits for it a few seconds, then kills it.
  ~supervised_process();

  int output() const { return output_.get(); }
  int errors() const { return errors_.get(); } ///< -1 when they are part of `output`
  int report() const { return report_.get(); }
  int control() const { return control_.get(); }
  /// What the supervisor of a watched job has written before its last message: why not everything
  /// was seen, and what was.
  expected<std::pair<std::string, std::string>> sightings() const;

  /// Asks the supervisor to kill everything; it still reports the outcome.
  void ask_to_stop() const;
  /// The next message; empty when the supervisor has ended.
  std::optional<worker::supervisor_message> receive() const;
  /// How the supervisor itself ended, after `receive` returned empty: "was killed by SIGKILL".
  std::string ending();

private:
  supervised_process() = default;
  void wait(std::chrono::milliseconds patience);

  pid_t process_ = -1; // -1 once it was waited for
  int status_ = 0;
  os::descriptor handle_;
  os::descriptor output_;
  os::descriptor errors_;
  os::descriptor report_;
  os::descriptor control_;
  os::descriptor watch_;
};

} // namespace hearth::process
