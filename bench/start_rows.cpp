// start.*: how long a command takes that has little to do, its process included. Each turn starts
// the program many times, one after the other.
#include "bench/frame/row_folder.hpp"
#include "bench/frame/started_program.hpp"
#include "bench/rows.hpp"

namespace hearth::bench {
namespace {

constexpr std::size_t starts = 50;

void measure_version(row_run& run) {
  const auto times = run.scaled(starts, 2);
  run.compare({{"hearth", turns_of({{hearth_program(), "--version"}}, times)},
               {"true", turns_of({{"/bin/true"}}, times)}},
              "a start that prints the version");
}

void measure_get(row_run& run) {
  const row_folder place(run.how().directory / "start");
  const auto store = (place.path() / "store").string();
  const auto file = (place.path() / "value").string();
  write_text(file, std::string(1024, 'v'));
  run_once({{hearth_program(), "insert", "--store", store, "key", file}});
  const auto times = run.scaled(starts, 2);
  run.compare({{"hearth", turns_of({{hearth_program(), "get", "--store", store, "key"}}, times)},
               {"true", turns_of({{"/bin/true"}}, times)}},
              "a start that prints a stored entry of 1 KiB");
}

} // namespace

void add_start_rows(registry& all) {
  all.rows.push_back(
      {"start.version", "`hearth --version`, its process included", {"true"}, measure_version});
  all.rows.push_back(
      {"start.get", "`hearth get` of a stored entry of 1 KiB", {"true"}, measure_get});
}

} // namespace hearth::bench
