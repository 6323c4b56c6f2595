#include "runtime/cli/commands/bench_command.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <unistd.h>

namespace hearth::cli {
namespace {

std::vector<std::string> options_of(const bench_arguments& arguments, bool as_json) {
  std::vector<std::string> all;
  if (arguments.list) all.emplace_back("--list");
  if (arguments.smoke) all.emplace_back("--smoke");
  if (arguments.processor_time) all.emplace_back("--cpu");
  if (as_json) all.emplace_back("--json");
  if (!arguments.directory.empty()) all.push_back("--dir=" + arguments.directory);
  if (!arguments.rounds.empty()) all.push_back("--rounds=" + arguments.rounds);
  if (!arguments.only.empty()) all.push_back("--only=" + arguments.only);
  all.emplace_back("--");
  all.insert(all.end(), arguments.rows.begin(), arguments.rows.end());
  return all;
}

} // namespace

status bench(const bench_arguments& arguments, bool as_json) {
  std::error_code ignored;
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "hearth-bench";
  auto path = program.string();
  auto given = options_of(arguments, as_json);
  std::vector<char*> argv{path.data()};
  for (auto& argument : given)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL); // exec keeps the SIG_IGN that main set
  ::execv(path.c_str(), argv.data());
  std::signal(SIGPIPE, SIG_IGN);
  if (errno != ENOENT) return report(error_of_errno(errno, "run " + path));
  report(
      {errc::not_found, "no benchmark at " + path +
                            ": build the target hearth-bench (it needs LMDB, RocksDB and oneTBB, "
                            "which scripts/setup installs)"});
  return trouble;
}

} // namespace hearth::cli
