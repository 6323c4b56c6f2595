// `hearth serve` for a test: on free ports of this machine and on Unix sockets, with a store of its
// own. It ends with the object.
#pragma once

#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace hearth::test {

class running_server {
public:
  /// Serves with these arguments behind `serve --store ...`: `--listen resp=127.0.0.1:0`, ..., or a
  /// settings file.
  explicit running_server(std::vector<std::string> arguments);
  running_server(const running_server&) = delete;
  running_server& operator=(const running_server&) = delete;
  ~running_server();

  /// The port of the first listener of this protocol: "resp", "http".
  std::uint16_t port(const std::string& protocol) const;
  const std::filesystem::path& directory() const { return directory_.path(); }
  std::filesystem::path store() const { return directory_ / "store"; }
  /// Ends it as a crash does; `start` starts it again on the same store, maybe at other ports.
  void kill();
  void start();
  void signal(int number) { run_->signal(number); }
  pid_t pid() const { return run_->pid(); }
  /// Waits for the end of a server that was killed, and starts it again.
  void restart();
  /// Asks it to end, and waits.
  program_result end();

private:
  temporary_directory directory_;
  std::vector<std::string> arguments_;
  int runs_ = 0;
  std::optional<program_run> run_;
  std::vector<std::string> listening_;
};

} // namespace hearth::test
