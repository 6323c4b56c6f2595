// Why something was not found: what --explain and `hearth explain --last` say.
#include "tests/support/action_bench.hpp"
#include "tests/support/hearth_program.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace explain_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// A variable of this process and of the programs that it starts.
struct scoped_variable {
  scoped_variable(const char* variable, const std::string& text)
      : name(variable) {
    ::setenv(name, text.c_str(), 1);
  }
  scoped_variable(const scoped_variable&) = delete;
  ~scoped_variable() { ::unsetenv(name); }
  const char* name;
};

constexpr auto plan = R"([toolchain]
compiler = "./cc"
flags = ["-O1", "-std=c++20"]

[[kernel]]
name = "twice"
source = "twice.cpp"
entry = "twice"
symbols = ["n"]
buffers = [{ type = "i32", shape = ["n"], output = true }]
configs = [{ UNROLL = 1 }]
guards = ["True"]
shapes = [{ n = 8 }]
)";

constexpr auto kernel = R"(#include "factor.hpp"
#include <cstdint>
extern "C" void twice(void* const* buffers, const int64_t* sizes) {
  auto* out = static_cast<int32_t*>(buffers[0]);
  for (int64_t i = 0; i < sizes[0]; ++i)
    out[i] = factor;
}
)";

// A plan with its own compiler, and commands in the same folder.
struct workplace : action_bench {
  workplace() {
    write("plan.toml", plan);
    write("twice.cpp", kernel);
    write("factor.hpp", "constexpr int factor = 2;\n");
    make_compiler("#!/bin/sh\nexec g++ \"$@\"\n");
  }
  void make_compiler(const std::string& script) const {
    write("cc", script);
    fs::permissions(folder / "cc", fs::perms::owner_all);
  }
  program_result compile(words options = {}) const {
    words all{"compile", "plan.toml", "--explain", "--store", store, "--jobs", "1"};
    all.insert(all.end(), options.begin(), options.end());
    auto done = program_run(all, logs, folder).wait();
    REQUIRE_MESSAGE(done.status == 0, done.err);
    return done;
  }
  program_result last() const {
    return program_run({"explain", "--last", "--store", store}, logs, folder).wait();
  }
};

void check_says(const std::string& text, const std::string& part) {
  CHECK_MESSAGE(text.find(part) != text.npos, text);
}

} // namespace

TEST_CASE_FIXTURE(workplace, "compile --explain names the header, the flag and the compiler") {
  CHECK(last().status == 1);
  check_says(compile().out, "nothing earlier is known to compare it with");
  CHECK(compile().out.find("not found") == std::string::npos); // a hit

  write("factor.hpp", "constexpr int factor = 3;\n");
  const auto header = compile().out;
  check_says(header, "twice n=8: not found; otherwise than before:\n  sources[\"factor.hpp\"]: ");
  CHECK(header.find("flags") == std::string::npos);
  CHECK(header.find("toolchain") == std::string::npos);

  auto other = text("plan.toml");
  write("plan.toml", other.replace(other.find("-O1"), 3, "-O2"));
  check_says(compile().out, "  flags[0]: \"-O1\" -> \"-O2\"\n");

  make_compiler("#!/bin/sh\nexec g++ -fno-plt \"$@\"\n");
  const auto compiler = compile({"--json"}).json();
  const auto missed = compiler.at("kernels")[0].at("missed").dump();
  check_says(missed, "toolchain.files.driver: ");
  CHECK(missed.find("sources") == std::string::npos);

  check_says(last().out, "toolchain.files.driver: "); // the run before this command
  CHECK(last().status == 0);
}

TEST_CASE_FIXTURE(workplace, "run --explain names the header, the flag and the compiler") {
  const words options{"--explain", "--out", "twice.o"};
  words command{"g++", "-c", "twice.cpp", "-o", "twice.o"};
  check_says(run(options, command).err, "nothing earlier is known to compare it with");
  CHECK(run(options, command).err.empty()); // a hit

  write("factor.hpp", "constexpr int factor = 3;\n");
  const auto header = run(options, command);
  CHECK(header.status == 0);
  check_says(header.err, "g++: not found; otherwise than before:\n  factor.hpp changed\n");

  command.insert(command.begin() + 1, "-O2");
  check_says(run(options, command).err, "  command[1]: new: \"-O2\"\n");

  command[1] = "-O3";
  check_says(run(options, command).err, "  command[1]: \"-O2\" -> \"-O3\"\n");
  check_says(last().out, "command[1]: \"-O2\" -> \"-O3\"");

  const words by_script{"./cc", "-c", "twice.cpp", "-o", "twice.o"};
  REQUIRE(run(options, by_script).status == 0);
  make_compiler("#!/bin/sh\nexec g++ -fno-plt \"$@\"\n");
  const auto compiler = run(options, by_script).err;
  check_says(compiler, "  program.content: ");
  CHECK(compiler.find("command") == std::string::npos);
}

TEST_CASE_FIXTURE(workplace, "details of keys are not kept when that is turned off") {
  compile({"--keep-details", "no"});
  write("factor.hpp", "constexpr int factor = 3;\n");
  check_says(compile({"--keep-details", "no"}).out, "nothing earlier is known");
  CHECK(last().status == 1);
  const auto listed = program_run({"list", "--store", store}, logs, folder).wait();
  CHECK(listed.out.find("key_details") == std::string::npos);
}

TEST_CASE_FIXTURE(workplace,
                  "a search path that repeats a folder makes no plan and no compile anew") {
  write("lib/empty.h", "");
  const auto place = (folder / "lib").string();
  words compile_line{"g++", "-c", "twice.cpp", "-o", "twice.o"};
  const words options{"--explain", "--env", "LIBRARY_PATH", "CPATH", "--out", "twice.o"};
  {
    const scoped_variable library("LIBRARY_PATH", place);
    const scoped_variable include("CPATH", place);
    compile();
    REQUIRE(run(options, compile_line).status == 0);
  }
  {
    const scoped_variable library("LIBRARY_PATH", place + ":" + place);
    const scoped_variable include("CPATH", place + ":" + place);
    CHECK(compile({"--json"}).json().at("compiler_runs") == 0);
    CHECK(run(options, compile_line).err.empty());
  }
  const scoped_variable library("LIBRARY_PATH", place + "::" + place); // the current folder too
  check_says(compile().out, "  environment.LIBRARY_PATH: ");
}

} // namespace explain_test
