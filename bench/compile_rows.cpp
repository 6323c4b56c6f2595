// cc.*, run.*: compiles by `hearth cc` and `hearth run`, their processes included, beside ccache.
// Each turn that finds results, or compiles from nothing, ends with a look at the files: they are
// those that the compiler makes alone.
#include "bench/compile_folder.hpp"
#include "bench/frame/figures.hpp"
#include "bench/frame/row_folder.hpp"
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"
#include "runtime/fingerprints/files/file_stamp.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <thread>
#include <utility>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t hits_a_turn = 50;
constexpr std::size_t misses_a_turn = 10;
constexpr std::size_t shared_headers = 2;
constexpr std::size_t project_files = 40;
constexpr std::size_t project_headers = 6;
constexpr std::size_t cold_files = 60;
constexpr std::size_t neighbours = 5'000;
constexpr std::size_t compiles_at_once = 2;
constexpr double least_overhead = 1e-6; // seconds

fs::path place_of(const row_run& run) { return run.how().directory / "compiles"; }

// Waits until the files are old enough for launchers to trust their times: Hearth wants two
// seconds, ccache one. A user's headers are older than that.
void let_files_age(const row_run& run) {
  using namespace std::chrono;
  if (run.how().smoke) return;
  std::this_thread::sleep_for(nanoseconds(fingerprints::racy_window_ns) + milliseconds(100));
}

double seconds_of(const std::function<void()>& work) {
  const stopwatch watch;
  work();
  return watch.seconds();
}

// A turn finds the object of `u.c` many times.
contender hits(const compile_folder& in, const compile_launcher& by, const file_map& alone,
               std::size_t times) {
  const auto program = in.compile(by, "u");
  for (int i = 0; i < 2; ++i) // a miss, and a hit that may still remember something
    run_once(program);
  return {by.name,
          [&in, by, alone, turn = turns_of(program, times)] {
            const double seconds = turn();
            in.require_outputs(alone, by);
            return seconds;
          },
          [&in] { in.remove_outputs(); }};
}

// Both find the object of a source with this text and so many headers.
void compare_hits(row_run& run, const compile_launcher& ours, const std::string& text,
                  std::size_t headers) {
  const row_folder place(place_of(run));
  const compile_folder in(place.path());
  in.write_headers(headers);
  in.write("u.c", text);
  let_files_age(run);
  run_once(in.compile(compiler_alone(), "u"));
  const auto alone = in.outputs();
  const auto times = run.scaled(hits_a_turn, 2);
  run.compare({hits(in, ours, alone, times), hits(in, ccache(), alone, times)},
              fmt::format("a compile with {} headers that is found", headers));
}

void measure_run_hit(row_run& run) {
  compare_hits(run, hearth_run(), library_include + source_text(shared_headers, 0), shared_headers);
}

std::function<void(row_run&)> hits_with(std::size_t headers) {
  return
      [headers](row_run& run) { compare_hits(run, hearth_cc(), source_text(headers, 0), headers); };
}

struct compile_seconds {
  double launched; // with the launcher
  double alone;    // by the compiler alone, of the same source
};

// Compiles a source that no launcher has seen: no other one has its number.
compile_seconds compile_new_source(const compile_folder& in, const compile_launcher& by,
                                   std::size_t number) {
  in.write("u.c", library_include + source_text(shared_headers, number));
  in.remove_outputs();
  const auto launched = seconds_of([&] { run_once(in.compile(by, "u")); });
  const auto made = in.outputs();
  in.remove_outputs();
  const auto alone = seconds_of([&] { run_once(in.compile(compiler_alone(), "u")); });
  in.require_outputs(made, by);
  return {launched, alone};
}

// A turn compiles new sources. It returns the median of what the launcher adds to the compiler's
// time; where noise hides that, a small number.
contender overhead(const compile_folder& in, const compile_launcher& by, std::size_t& number,
                   std::size_t times) {
  compile_new_source(in, by, number++); // the launcher learns about the compiler
  return {by.name, [&in, &number, by, times] {
            std::vector<double> added;
            for (std::size_t i = 0; i < times; ++i) {
              const auto seconds = compile_new_source(in, by, number++);
              added.push_back(seconds.launched - seconds.alone);
            }
            return std::max(median(added), least_overhead);
          }};
}

void measure_miss(row_run& run) {
  const row_folder place(place_of(run));
  const compile_folder in(place.path());
  in.write_headers(shared_headers);
  let_files_age(run);
  const auto times = run.scaled(misses_a_turn, 1);
  std::size_t number = 0;
  run.compare({overhead(in, hearth_cc(), number, times), overhead(in, ccache(), number, times)},
              "added to the compile of a new source");
}

// A turn builds everything once. It starts without outputs, and without a cache when it is `cold`.
contender builds(const compile_folder& in, const compile_launcher& by, const file_map& alone,
                 bool cold, std::function<void()> build) {
  return {by.name,
          [&in, by, alone, build = std::move(build)] {
            const double seconds = seconds_of(build);
            in.require_outputs(alone, by);
            return seconds;
          },
          [&in, by, cold] {
            in.remove_outputs();
            if (cold) in.remove_cache(by);
          }};
}

std::string makefile_of(std::size_t files) {
  std::string objects = "main.o";
  for (std::size_t i = 0; i < files; ++i)
    objects += fmt::format(" f{}.o", i);
  return "objects = " + objects +
         "\nproject: $(objects)\n\t$(CC) -o $@ $(objects)\n"
         "%.o: %.c\n\t$(CC) -O2 -MMD -c $< -o $@\n";
}

// A program of so many files and a main file, which calls them all.
void write_project(const compile_folder& in, std::size_t files) {
  std::string declarations, sum = "0";
  for (std::size_t i = 0; i < files; ++i) {
    in.write(fmt::format("f{}.c", i), library_include + source_text(project_headers, i));
    declarations += fmt::format("int f{}(int);\n", i);
    sum += fmt::format(" + f{}(1)", i);
  }
  in.write("main.c", declarations + "int main(void) { return (" + sum + ") == 0; }\n");
  in.write_headers(project_headers);
  in.write("Makefile", makefile_of(files));
}

void make_project(const compile_folder& in, const compile_launcher& by) {
  std::string compiler;
  for (const auto& word : by.line)
    compiler += '\'' + word + "' ";
  run_once(in.program(
      by, {"make", "-s", fmt::format("-j{}", compiles_at_once), "CC=" + compiler + "gcc"}));
}

contender project_builds(const compile_folder& in, const compile_launcher& by,
                         const file_map& alone, bool cold) {
  const auto result = builds(in, by, alone, cold, [&in, by] { make_project(in, by); });
  if (cold) return result;
  result.prepare();
  result.turn(); // fills the cache
  return result;
}

std::function<void(row_run&)> project_with(bool cold) {
  return [cold](row_run& run) {
    const row_folder place(place_of(run));
    const compile_folder in(place.path());
    const auto files = run.scaled(project_files, 2);
    write_project(in, files);
    let_files_age(run);
    make_project(in, compiler_alone());
    const auto alone = in.outputs();
    run.compare(
        {project_builds(in, hearth_cc(), alone, cold), project_builds(in, ccache(), alone, cold)},
        fmt::format("a build of {} files with {} cache", files + 1, cold ? "an empty" : "a full"));
  };
}

contender cold_runs(const compile_folder& in, const compile_launcher& by, const file_map& alone,
                    std::size_t files) {
  std::vector<started_program> programs;
  for (std::size_t i = 0; i < files; ++i)
    programs.push_back(in.compile(by, fmt::format("f{}", i)));
  return builds(in, by, alone, true,
                [programs = std::move(programs)] { run_all(programs, compiles_at_once); });
}

void measure_cold_runs(row_run& run) {
  const row_folder place(place_of(run));
  const compile_folder in(place.path());
  const auto files = run.scaled(cold_files, 2);
  in.write_headers(shared_headers);
  for (std::size_t i = 0; i < files; ++i)
    in.write(fmt::format("f{}.c", i), library_include + source_text(shared_headers, i));
  let_files_age(run);
  for (std::size_t i = 0; i < files; ++i)
    run_once(in.compile(compiler_alone(), fmt::format("f{}", i)));
  const auto alone = in.outputs();
  run.compare({cold_runs(in, hearth_run(), alone, files), cold_runs(in, ccache(), alone, files)},
              fmt::format("compiles of {} files, {} at a time, from an empty cache", files,
                          compiles_at_once));
}

// A turn compiles new sources in this folder.
contender new_runs(const std::string& name, const compile_folder& in, std::size_t& number,
                   std::size_t times) {
  compile_new_source(in, hearth_run(), number++); // Hearth learns about the compiler
  return {name, [&in, &number, times] {
            double seconds = 0;
            for (std::size_t i = 0; i < times; ++i)
              seconds += compile_new_source(in, hearth_run(), number++).launched;
            return seconds / static_cast<double>(times);
          }};
}

void measure_neighbours(row_run& run) {
  const row_folder place(place_of(run));
  const compile_folder among(place.path() / "among");
  const compile_folder alone(place.path() / "alone");
  const auto others = run.scaled(neighbours, 50);
  for (const auto* in : {&among, &alone})
    in->write_headers(shared_headers);
  for (std::size_t i = 0; i < others; ++i)
    among.write(fmt::format("neighbour{}.h", i), fmt::format("int n{};\n", i));
  let_files_age(run);
  const auto times = run.scaled(misses_a_turn, 1);
  std::size_t number = 0;
  run.compare({new_runs("hearth", among, number, times), new_runs("alone", alone, number, times)},
              fmt::format("a run of a new compile; hearth among {} other files", others));
}

} // namespace

void add_compile_rows(registry& all) {
  const auto add = [&](const char* name, const char* work, const char* peer,
                       std::function<void(row_run&)> measure) {
    all.rows.push_back({name, work, {peer}, std::move(measure)});
  };
  add("cc.hit.2h", "`hearth cc` of a stored compile with 2 headers", "ccache", hits_with(2));
  add("cc.hit.260h", "`hearth cc` of a stored compile with 260 headers", "ccache", hits_with(260));
  add("cc.miss", "what `hearth cc` adds to the compile of a new source", "ccache", measure_miss);
  add("cc.project.cold", "`make -j2` of a C project of 41 files, with an empty cache", "ccache",
      project_with(true));
  add("cc.project.warm", "the same with a full cache", "ccache", project_with(false));
  add("run.hit", "`hearth run` of a small compile that is stored", "ccache", measure_run_hit);
  add("run.cold", "`hearth run` of 60 small compiles, 2 at a time, with an empty cache", "ccache",
      measure_cold_runs);
  add("run.neighbours", "`hearth run` of a new compile among 5,000 files, beside one alone",
      "alone", measure_neighbours);
}

} // namespace hearth::bench
