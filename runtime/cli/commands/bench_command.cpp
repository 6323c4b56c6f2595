#include "runtime/cli/commands/bench_command.hpp"

#include "runtime/cli/io/programs.hpp"

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
  return become_program(
      "hearth-bench", options_of(arguments, as_json),
      "hearth-bench (it needs LMDB, RocksDB and oneTBB, which scripts/setup installs)");
}

} // namespace hearth::cli
