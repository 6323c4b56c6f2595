// The main job as its users run it: real compilers, real processes, one store.
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace compile_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// A copy of the test plans in its own directory, with a store beside it.
struct workplace {
  explicit workplace(const std::string& folder = "plans")
      : plans(directory / folder)
      , store((directory / "store").string()) {
    fs::copy(fs::path(HEARTH_SOURCE_DIR) / "tests/integration/plans", plans);
  }

  std::vector<std::string> arguments(const std::string& plan) const {
    return {"compile", (plans / plan).string(), "--store", store, "--json", "--jobs", "2",
            "--watch", watches ? "yes" : "no"};
  }
  program_result compile(const std::string& plan) const {
    return run_hearth(arguments(plan), directory.path());
  }
  // Replaces `from`, which must occur, in a file of the plans.
  void edit(const std::string& file, const std::string& from, const std::string& to) const {
    auto text = file_text(plans / file);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_text(plans / file, text.replace(at, from.size(), to));
  }
  // Makes the plan's compiler a script that logs every run with an output, runs `before`, and then
  // executes g++. It may look at files that change meanwhile: then its compiles are not watched, or
  // nothing would be kept.
  void wrap_compiler(const std::string& plan, const std::string& before = ":") {
    watches = before == ":";
    write_text(plans / "cc", "#!/bin/sh\ncase \" $* \" in *\" -o \"*)\n"
                             "printf '%s\\n' \"$*\" >> '" +
                                 log().string() + "'\n" + before + "\n;; esac\nexec g++ \"$@\"\n");
    fs::permissions(plans / "cc", fs::perms::owner_all);
    edit(plan, "compiler = \"g++\"", "compiler = \"./cc\"");
  }
  fs::path log() const { return directory / "runs.log"; }
  // The outputs of the wrapped compiler's runs, without the output's path.
  std::vector<std::string> runs() const {
    auto lines = lines_of(file_text(log()));
    for (auto& line : lines)
      line.erase(line.find(" -o "), line.find(' ', line.find(" -o ") + 4) - line.find(" -o "));
    return lines;
  }

  temporary_directory directory;
  fs::path plans;
  std::string store;
  bool watches = true;
};

std::set<std::string> statuses(const nlohmann::json& report) {
  std::set<std::string> all;
  for (const auto& kernel : report.at("kernels"))
    all.insert(kernel.at("status").get<std::string>());
  return all;
}

nlohmann::json configs(const nlohmann::json& report) {
  auto all = nlohmann::json::array();
  for (const auto& kernel : report.at("kernels"))
    all.push_back({kernel.at("name"), kernel.at("sizes"), kernel.at("guard"), kernel.at("config")});
  return all;
}

// The report's row of a kernel.
nlohmann::json row(const nlohmann::json& report, const std::string& name) {
  for (const auto& kernel : report.at("kernels"))
    if (kernel.at("name") == name) return kernel;
  FAIL("no kernel " << name);
  return {};
}

void check_bad_plan(const workplace& place, const std::string& plan,
                    const std::vector<std::string>& named) {
  const auto result = place.compile(plan);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK_MESSAGE(lines_of(result.err).size() == 1, result.err);
  for (const auto& word : named)
    CHECK_MESSAGE(result.err.find(word) != std::string::npos, result.err);
  CHECK_FALSE(fs::exists(place.store));
}

} // namespace

TEST_CASE_FIXTURE(workplace, "a second run compiles nothing and every request hits") {
  const auto cold = compile("small.toml");
  REQUIRE_MESSAGE(cold.status == 0, cold.err);
  CHECK(cold.json().at("compiler_runs") == 8);
  CHECK(cold.json().at("failures") == 0);
  CHECK(cold.json().at("time_saved_ms") == 0);
  CHECK(statuses(cold.json()).contains("compiled"));
  const auto warm = compile("small.toml");
  CHECK(warm.status == 0);
  CHECK(warm.json().at("compiler_runs") == 0);
  CHECK(warm.json().at("trials") == 0);
  CHECK(warm.json().at("hits") == 5);
  CHECK(warm.json().at("time_saved_ms") > 0);
  CHECK(warm.json().at("requests") == 5);
  CHECK(statuses(warm.json()) == std::set<std::string>{"disk", "memory"});
  CHECK(configs(warm.json()) == configs(cold.json()));
}

TEST_CASE_FIXTURE(workplace, "a folder for temporary files that the host names is no input") {
  fs::create_directory(directory / "tmp");
  const char* before = std::getenv("TMPDIR");
  const std::string host = before ? before : "";
  ::setenv("TMPDIR", (directory / "tmp").c_str(), 1);
  const auto cold = compile("tiny.toml");
  const auto warm = compile("tiny.toml");
  host.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", host.c_str(), 1);
  REQUIRE(cold.status == 0);
  CHECK(cold.json().at("compiler_runs") > 0);
  CHECK(warm.json().at("compiler_runs") == 0);
  CHECK(fs::is_empty(directory / "tmp"));
}

TEST_CASE_FIXTURE(workplace, "eight processes at once compile each action exactly once") {
  wrap_compiler("small.toml");
  std::vector<program_run> processes;
  for (int i = 0; i < 8; ++i)
    processes.emplace_back(arguments("small.toml"), directory.path());
  std::set<std::string> outcomes;
  std::size_t compiler_runs = 0;
  for (auto& process : processes) {
    const auto result = process.wait();
    REQUIRE_MESSAGE(result.status == 0, result.err << result.out);
    compiler_runs += result.json().at("compiler_runs").get<std::size_t>();
    outcomes.insert(configs(result.json()).dump());
  }
  CHECK(compiler_runs == 8);
  auto made = runs();
  CHECK(made.size() == 8);
  std::sort(made.begin(), made.end());
  CHECK(std::unique(made.begin(), made.end()) == made.end());
  CHECK(outcomes.size() == 1);
}

TEST_CASE_FIXTURE(workplace, "seven processes do not wait for an eighth that is stopped") {
  // While the file `hold` exists, compiles write a byte to a pipe and wait.
  const auto hold = directory / "hold";
  const auto begun = (directory / "begun").string();
  const auto gate = (directory / "gate").string();
  REQUIRE(mkfifo(begun.c_str(), 0600) == 0);
  REQUIRE(mkfifo(gate.c_str(), 0600) == 0);
  write_text(hold, "");
  wrap_compiler("small.toml", "if [ -e '" + hold.string() + "' ]; then echo > '" + begun +
                                  "'; read line < '" + gate + "'; fi");
  const int begun_end = open(begun.c_str(), O_RDWR | O_CLOEXEC);
  const int gate_end = open(gate.c_str(), O_RDWR | O_CLOEXEC);
  program_run stopped(arguments("small.toml"), directory.path());
  char mark = 0;
  for (int i = 0; i < 2; ++i) // one for each worker
    REQUIRE(read(begun_end, &mark, 1) == 1);
  stopped.signal(SIGSTOP);
  fs::remove(hold);
  std::vector<program_run> others;
  for (int i = 0; i < 7; ++i)
    others.emplace_back(arguments("small.toml"), directory.path());
  std::size_t compiler_runs = 0;
  bool waits_are_told = false;
  for (auto& one : others) {
    const auto result = one.wait();
    REQUIRE_MESSAGE(result.status == 0, result.err << result.out);
    compiler_runs += result.json().at("compiler_runs").get<std::size_t>();
    waits_are_told = waits_are_told || result.err.find("waiting for ") != std::string::npos;
  }
  CHECK(compiler_runs == 8); // the other seven together; the stopped one has begun two of them
  CHECK(runs().size() == 10);
  CHECK(waits_are_told);
  stopped.signal(SIGCONT);
  REQUIRE(write(gate_end, "go\ngo\n", 6) == 6);
  const auto last = stopped.wait();
  CHECK_MESSAGE(last.status == 0, last.err);
  CHECK(compile("small.toml").json().at("hits") == 5);
  close(begun_end);
  close(gate_end);
}

TEST_CASE_FIXTURE(workplace, "after a kill in the middle nothing acknowledged is compiled again") {
  // While the file `hold` exists, the fourth compile and later ones hang, and write a byte to one
  // pipe. Every compiler holds another pipe open: it ends when no compiler is left.
  const auto hold = directory / "hold";
  const auto hangs = (directory / "hangs").string();
  const auto alive = (directory / "alive").string();
  REQUIRE(mkfifo(hangs.c_str(), 0600) == 0);
  REQUIRE(mkfifo(alive.c_str(), 0600) == 0);
  write_text(hold, "");
  wrap_compiler("small.toml", "if [ -e '" + hold.string() + "' ]; then exec 9>'" + alive +
                                  "'; if [ $(wc -l < '" + log().string() +
                                  "') -gt 3 ]; then echo > '" + hangs + "'; sleep 1000; fi; fi");
  const int hangs_end = open(hangs.c_str(), O_RDWR | O_CLOEXEC);
  const int alive_end = open(alive.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(fcntl(alive_end, F_SETFL, 0) == 0);
  program_run cold(arguments("small.toml"), directory.path());
  char mark = 0;
  for (int i = 0; i < 2; ++i) // one for each worker
    REQUIRE(read(hangs_end, &mark, 1) == 1);
  const auto acknowledged_now = [&] {
    const auto listed =
        run_hearth({"list", "--store", store, "--cache", "actions", "--json"}, directory.path());
    REQUIRE_MESSAGE(listed.status == 0, listed.err);
    return listed.json().size();
  };
  while (acknowledged_now() == 0) { // a result is about to be stored
  }
  cold.kill();
  CHECK(cold.wait().status == -9);
  while (read(alive_end, &mark, 1) > 0) {
  }
  close(alive_end);
  close(hangs_end);

  const auto acknowledged = acknowledged_now();
  REQUIRE(acknowledged > 0);
  CHECK(acknowledged <= 3);
  fs::remove(hold);
  fs::remove(log());
  const auto next = compile("small.toml");
  REQUIRE_MESSAGE(next.status == 0, next.err);
  CHECK(next.json().at("compiler_runs") == 8 - acknowledged);
  CHECK(runs().size() == 8 - acknowledged);
  CHECK(compile("small.toml").json().at("hits") == 5);
}

TEST_CASE_FIXTURE(workplace, "a touched header recompiles the kernels that include it alone") {
  REQUIRE(compile("small.toml").status == 0);
  write_text(plans / "shared.hpp", file_text(plans / "shared.hpp") + "using touched = int;\n");
  const auto touched = compile("small.toml").json();
  CHECK(touched.at("compiler_runs") == 4);
  CHECK(row(touched, "scale").at("status") == "compiled");
  CHECK(row(touched, "add").at("status") == "disk");
}

TEST_CASE_FIXTURE(workplace, "other flags recompile everything and the old flags hit everything") {
  REQUIRE(compile("small.toml").status == 0);
  edit("small.toml", "\"-O2\"", "\"-O1\"");
  CHECK(compile("small.toml").json().at("compiler_runs") == 8);
  edit("small.toml", "\"-O1\"", "\"-O2\"");
  const auto old = compile("small.toml").json();
  CHECK(old.at("compiler_runs") == 0);
  CHECK(old.at("hits") == old.at("requests"));
}

TEST_CASE_FIXTURE(workplace,
                  "bad configurations are left out with a reason and the others are used") {
  const auto result = compile("rejects.toml");
  REQUIRE_MESSAGE(result.status == 0, result.err);
  const auto faulty = row(result.json(), "faulty");
  CHECK(faulty.at("config").at("FAULT") == 0);
  std::map<int, std::string> reasons;
  for (const auto& r : faulty.at("rejected"))
    reasons[r.at("config").at("FAULT").get<int>()] = r.at("reason").get<std::string>();
  REQUIRE(reasons.size() == 4);
  CHECK(reasons.at(1).find("does not compile") == 0);
  CHECK(reasons.at(2) == "crashed: SIGSEGV in faulty");
  CHECK(reasons.at(3) == "hung: faulty still running after 3 s, killed");
  CHECK(reasons.at(4).find("wrong result: output 1 [999]") == 0);
  CHECK(row(result.json(), "add").at("status") == "compiled");
  const auto warm = compile("rejects.toml").json();
  CHECK(warm.at("compiler_runs") == 0);
  CHECK(warm.at("hits") == warm.at("requests"));
  CHECK(row(warm, "faulty").at("rejected").size() == 4);
}

TEST_CASE_FIXTURE(workplace, "a kernel without a good configuration fails and is not cached") {
  for (int i = 0; i < 2; ++i) {
    const auto result = compile("hopeless.toml");
    CHECK(result.status == 1);
    const auto report = result.json();
    CHECK(report.at("failures") == 1);
    const auto faulty = row(report, "faulty");
    CHECK(faulty.at("status") == "failed");
    CHECK(faulty.at("config").is_null());
    CHECK(faulty.at("error") == "no configuration is good");
    CHECK(faulty.at("rejected").size() == 3);
    CHECK(row(report, "add").at("status") == (i == 0 ? "compiled" : "disk"));
  }
}

TEST_CASE_FIXTURE(workplace, "a broken plan is one line that names the place") {
  check_bad_plan(*this, "none.toml", {"none.toml"});
  edit("small.toml", "compiler = \"g++\"", "compiler = \"g++");
  check_bad_plan(*this, "small.toml", {"small.toml:5"});
  edit("small.toml", "compiler = \"g++", "compilers = \"g++\"");
  check_bad_plan(*this, "small.toml", {"small.toml:5", "compilers"});
  edit("small.toml", "compilers", "compiler");
  edit("small.toml", "shape = [\"n\"] }", "shape = [\"nn\"] }");
  check_bad_plan(*this, "small.toml", {"small.toml:16", "nn"});
  edit("small.toml", "shape = [\"nn\"] }", "shape = [\"n\"] }");
  edit("small.toml", "shapes = [{ n = 4096 }, { n = 1001 }, { n = 64 }]", "shapes = []");
  check_bad_plan(*this, "small.toml", {"small.toml:19", "shapes"});
  edit("small.toml", "shapes = []", "shapes = [{ n = 8 }]");
  fs::remove(plans / "scale.cpp");
  check_bad_plan(*this, "small.toml", {"small.toml:11", "scale.cpp"});
}

TEST_CASE_FIXTURE(workplace, "a missing compiler is bad input") {
  edit("small.toml", "compiler = \"g++\"", "compiler = \"no-such-compiler\"");
  const auto result = compile("small.toml");
  CHECK(result.status == 2);
  CHECK(result.err.find("no-such-compiler") != std::string::npos);
}

TEST_CASE("quotes, blanks and other alphabets in paths, flags and sources work") {
  const workplace place("pl\xc3\xa4ne mit 'Quotes' \"and\" $blanks");
  fs::rename(place.plans / "add.cpp", place.plans / "\xe5\x8a\xa0 'a' \"b\" #c.cpp");
  place.edit("small.toml", "source = \"add.cpp\"", "source = '''\xe5\x8a\xa0 'a' \"b\" #c.cpp'''");
  place.edit("small.toml", "\"-std=c++20\"",
             "\"-std=c++20\", '''-DNOTE=\"it's \xc3\xa4 $HOME note\"'''");
  const auto cold = place.compile("small.toml");
  REQUIRE_MESSAGE(cold.status == 0, cold.err);
  CHECK(cold.json().at("compiler_runs") == 8);
  const auto warm = place.compile("small.toml").json();
  CHECK(warm.at("compiler_runs") == 0);
  CHECK(warm.at("hits") == 5);
}

TEST_CASE_FIXTURE(workplace, "a plan runs without a usable store") {
  write_text(directory / "store", "a file, not a directory");
  const auto result = compile("small.toml");
  CHECK(result.status == 0);
  CHECK(result.json().at("compiler_runs") == 8);
  CHECK(result.err.find("without a disk tier") != std::string::npos);
}

TEST_CASE_FIXTURE(workplace, "a recorded plan makes a host without a remote as warm") {
  const auto bundle = (directory / "warm.bundle").string();
  write_text(directory / "keys", "one 00112233445566778899aabbccddeeff\n");
  fs::permissions(directory / "keys", fs::perms::owner_read);
  const auto keys = (directory / "keys").string();
  auto recorded = arguments("small.toml");
  recorded.insert(recorded.end(), {"--record", bundle, "--signing-keys", keys});
  const auto cold = run_hearth(recorded, directory.path()).json();
  CHECK(cold["compiler_runs"] > 0);
  CHECK(cold["recorded"]["file"] == bundle);
  CHECK(cold["recorded"]["left_out"] == 0);
  const auto listed = run_hearth({"bundle", "list", bundle, "--json"}, directory.path()).json();
  CHECK(listed["records"].size() == cold["recorded"]["records"]);
  CHECK(listed["signed_by"] == "one");

  store = (directory / "elsewhere").string();
  const auto imported =
      run_hearth({"bundle", "import", bundle, "--signing-keys", keys, "--store", store, "--json"},
                 directory.path())
          .json();
  CHECK(imported["added"] == cold["recorded"]["records"]);
  CHECK(imported["types"]["plan"] > 0);
  CHECK(imported["types"]["tuning"] > 0);
  const auto warm = compile("small.toml").json();
  CHECK(warm["compiler_runs"] == 0);
  CHECK(warm["trials"] == 0);
  CHECK(warm["hits"] == warm["requests"]);
  CHECK(warm["recorded"] == nullptr);
}

TEST_CASE_FIXTURE(workplace, "a recording that cannot be written is said before anything runs") {
  wrap_compiler("small.toml");
  auto to_stdout = arguments("small.toml");
  to_stdout.insert(to_stdout.end(), {"--record", "-"});
  check_error(run_hearth(to_stdout, directory.path()), 2,
              "--record: the report goes to stdout; name a file");
  auto unsigned_keys = arguments("small.toml");
  unsigned_keys.insert(unsigned_keys.end(), {"--signing-keys", "keys"});
  CHECK(run_hearth(unsigned_keys, directory.path()).status == 2);
  CHECK_FALSE(fs::exists(log()));
}

TEST_CASE_FIXTURE(workplace, "a trace holds every compile and trial") {
  auto with_trace = arguments("small.toml");
  const auto path = (directory / "trace.json").string();
  with_trace.insert(with_trace.end(), {"--trace", path});
  const auto result = run_hearth(with_trace, directory.path());
  REQUIRE(result.status == 0);
  const auto events = nlohmann::json::parse(file_text(path)).at("traceEvents");
  const auto count = [&](const char* category) {
    return std::count_if(events.begin(), events.end(),
                         [&](const auto& event) { return event.at("cat") == category; });
  };
  CHECK(count("compile") == 8);
  CHECK(count("wait") == 8); // for the lease
  CHECK(count("insert") == 8);
  for (const auto& event : events)
    if (event.at("cat") != "trial")
      CHECK(event.at("args").at("key").get<std::string>().starts_with("actions "));
  CHECK(count("trial") >= 8); // close candidates are tried again
  CHECK(count("trial") == result.json().at("trials"));
}

TEST_CASE_FIXTURE(workplace, "the counters of a plan are written for Prometheus") {
  auto with_metrics = arguments("small.toml");
  const auto path = (directory / "hearth.prom").string();
  with_metrics.insert(with_metrics.end(), {"--metrics", path});
  REQUIRE(run_hearth(with_metrics, directory.path()).status == 0);
  const auto page = file_text(path);
  CHECK(page.find("\n# TYPE hearth_programs_total counter\nhearth_programs_total 8\n") !=
        std::string::npos);
  CHECK(page.find("\nhearth_unanswered 0\n") != std::string::npos);
  with_metrics.back() = (directory / "none" / "hearth.prom").string();
  const auto refused = run_hearth(with_metrics, directory.path());
  CHECK(refused.status == 2);
  CHECK(lines_of(refused.err).back().find(with_metrics.back()) != std::string::npos);
}

TEST_CASE_FIXTURE(workplace,
                  "a comment in a header keeps the tuning, and the winner alone is compiled") {
  const auto cold = compile("small.toml").json();
  REQUIRE(cold.at("failures") == 0);
  REQUIRE(cold.at("trials") > 0);
  write_text(plans / "shared.hpp",
             "// A comment.\n\n" + file_text(plans / "shared.hpp") + "\n/* and one */\n");
  edit("add.cpp", "int64_t i = 0;", "int64_t   i = 0; // rows");
  const auto commented = compile("small.toml").json();
  CHECK(commented.at("failures") == 0);
  CHECK(commented.at("trials") == 0);
  CHECK(commented.at("compiler_runs") > 0);
  CHECK(commented.at("compiler_runs") < cold.at("compiler_runs"));
  CHECK(configs(commented) == configs(cold));
  CHECK(compile("small.toml").json().at("compiler_runs") == 0);
  edit("add.cpp", "i + UNROLL <= m", "UNROLL + i <= m"); // other code
  CHECK(compile("small.toml").json().at("trials") > 0);
}

} // namespace compile_test
