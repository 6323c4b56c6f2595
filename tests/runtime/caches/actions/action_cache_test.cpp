// Actions in programs that embed Hearth: real processes.
#include "runtime/caches/actions/action_cache.hpp"

#include "runtime/actions/action_key.hpp"
#include "runtime/actions/tool_identity.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/runtimes.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace action_cache_test {

using namespace hearth;
using namespace hearth::test;
namespace {

namespace fs = std::filesystem;

struct actions_fixture : on_disk {
  actions_fixture() { fs::create_directory(folder); }

  action shell(const std::string& script) const {
    action asked;
    asked.command = {"sh", "-c", "echo run >> '" + (directory / "runs").string() + "'; " + script};
    asked.directory = folder;
    return asked;
  }
  std::size_t runs() const { return lines_of(file_text(directory / "runs")).size(); }

  fs::path folder = directory / "work";
};

action_outcome run(const action_cache& actions, const action& asked) {
  auto outcome = actions.run(asked);
  REQUIRE_MESSAGE(outcome, outcome.error().text());
  return *outcome;
}

std::string key_of(const action_cache& actions, const action& asked) {
  const auto key = actions.key_of(asked);
  REQUIRE_MESSAGE(key, key.error().text());
  return key->text();
}

} // namespace

TEST_CASE_FIXTURE(actions_fixture, "a host is told in full which hearth-worker is missing") {
  auto without = settings();
  without.worker = "/nowhere/hearth-worker";
  runtime rt(without);
  const auto outcome = action_cache::open(rt)->run(shell("echo out"));
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().text().find("no program at /nowhere/hearth-worker, where the configuration "
                                    "has hearth-worker; correct or remove it") !=
        std::string::npos);
  CHECK(runs() == 0);
}

TEST_CASE_FIXTURE(actions_fixture, "an outcome is found with its streams, outputs and time") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  auto asked = shell("echo out; echo err >&2; echo made > a; chmod +x a");
  asked.outputs = {"a"};
  const auto ran = run(actions, asked);
  const auto found = run(actions, asked);
  CHECK_FALSE(ran.found);
  CHECK(found.found);
  CHECK(runs() == 1);
  for (const auto& one : {ran, found}) {
    CHECK(one.succeeded());
    CHECK(one.out == "out\n");
    CHECK(one.err == "err\n");
    REQUIRE(one.outputs.size() == 1);
    CHECK(one.outputs[0].bytes.payload() == "made\n");
    CHECK(one.outputs[0].executable);
    CHECK(one.time_taken_ns == ran.time_taken_ns);
  }
  CHECK(ran.time_taken_ns > 0);
}

TEST_CASE_FIXTURE(actions_fixture,
                  "every part of an action that can change its result is in the key") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  write_text(folder / "in", "1");
  fs::create_directory(folder / "tree");
  write_text(folder / "tree/file", "1");
  const auto base = [&] {
    auto asked = shell("true");
    asked.inputs = {"in", "tree"};
    asked.texts = {{"text", "1"}};
    asked.outputs = {"a", "b"};
    asked.environment = {{"NAME", "1"}};
    return asked;
  };
  std::set<std::string> keys{key_of(actions, base())};
  const auto differs = [&](action asked) { return keys.insert(key_of(actions, asked)).second; };
  CHECK_FALSE(differs(base()));
  const auto changed = [&](auto change) {
    auto asked = base();
    change(asked);
    return differs(asked);
  };
  CHECK(changed([](action& a) { a.command.push_back("more"); }));
  CHECK(changed([](action& a) { a.command[0] = "bash"; }));
  CHECK(changed([](action& a) { a.outputs = {"b", "a"}; }));
  CHECK(changed([](action& a) { a.texts["text"] = "2"; }));
  CHECK(changed([](action& a) { a.environment["NAME"] = "2"; }));
  CHECK(changed([](action& a) { a.environment["PATH"] = "/bin:/usr/bin"; }));
  CHECK(changed([](action& a) { a.dependency_file = "a.d"; }));
  CHECK(changed([](action& a) { a.sees_undeclared = false; }));
  CHECK(changed([](action& a) { a.keep_failures = true; }));
  CHECK(changed([](action& a) { a.placeholders = true; }));
  CHECK(changed([](action& a) { a.toolchains = {"g++"}; }));
  CHECK(changed([](action& a) { a.inputs = {"in"}; }));
  write_text(folder / "in", "2");
  CHECK(differs(base()));
  write_text(folder / "tree/file", "2");
  CHECK(differs(base()));
}

TEST_CASE_FIXTURE(actions_fixture, "parts that cannot change the result are not in the key") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  auto asked = shell("true");
  const auto key = key_of(actions, asked);
  asked.timeout = std::chrono::seconds(5);
  asked.priority = 7;
  asked.limits.memory_bytes = 1 << 30;
  CHECK(key_of(actions, asked) == key);
  const auto elsewhere = directory / "elsewhere";
  fs::create_directory(elsewhere);
  asked.directory = elsewhere;
  CHECK(key_of(actions, asked) == key);
}

TEST_CASE_FIXTURE(actions_fixture, "a compiler is identified by its content, not by PATH") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  action asked;
  asked.command = {"g++", "--version"};
  asked.directory = folder;
  const auto key = key_of(actions, asked);
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", (before + ":/nowhere").c_str(), 1);
  CHECK(key_of(actions, asked) == key);
  auto other = shell("true");
  const auto with_more = key_of(actions, other);
  ::setenv("PATH", before.c_str(), 1);
  CHECK(key_of(actions, other) != with_more);
}

TEST_CASE("names that are compilers") {
  for (const auto* name : {"g++", "gcc-12", "cc", "clang++-14", "x86_64-linux-gnu-g++-12", "c++"})
    CHECK_MESSAGE(is_compiler_name(name), name);
  for (const auto* name : {"sh", "ccache", "g", "gccgo", "protoc", "clang-format", ""})
    CHECK_MESSAGE(!is_compiler_name(name), name);
}

TEST_CASE("the folder's name may be in gcc's intermediate code, which is packed") {
  const auto may_tell = [](std::vector<std::string> words) {
    process_request run;
    run.argv = std::move(words);
    return may_tell_folder(run);
  };
  CHECK(may_tell({"gcc", "-O2", "-flto", "-c", "a.c"}));
  CHECK(may_tell({"cc", "-flto=auto", "-c", "a.c"}));
  CHECK_FALSE(may_tell({"clang", "-flto", "-c", "a.c"}));
  CHECK_FALSE(may_tell({"gcc", "-O2", "-fno-lto", "-c", "a.c"}));
}

TEST_CASE_FIXTURE(actions_fixture, "inputs may be texts and a program may be one of them") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  action asked;
  asked.command = {"./tool.sh", "deep/data"};
  asked.texts = {{"tool.sh", "#!/bin/sh\ncat \"$1\"; ls\n"}, {"deep/data", "data\n"}};
  CHECK(run(actions, asked).out == "data\ndeep\ntool.sh\n");
  asked.texts["deep/data"] = "other\n";
  CHECK(run(actions, asked).out == "other\ndeep\ntool.sh\n");
}

TEST_CASE_FIXTURE(actions_fixture, "the command works in its own folder") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  write_text(folder / "there", "1");
  const auto outcome = run(actions, shell("pwd; echo left > behind; cat there"));
  CHECK(outcome.succeeded());
  CHECK(outcome.out.ends_with(folder.string() + "\n1")); // by itself, or at the end of another
  CHECK_FALSE(fs::exists(folder / "behind"));
}

TEST_CASE_FIXTURE(actions_fixture, "placeholders stand for absolute paths in the working folder") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  write_text(folder / "a", "1");
  action asked;
  asked.command = {"sh", "-c", "cd / && cat {in:a} > {out:b} && test -d {directory} && echo '{x}'"};
  asked.placeholders = true;
  asked.directory = folder;
  asked.inputs = {"a"};
  asked.outputs = {"b"};
  const auto outcome = run(actions, asked);
  CHECK(outcome.out == "{x}\n");
  CHECK(outcome.outputs.at(0).bytes.payload() == "1");
}

TEST_CASE_FIXTURE(actions_fixture, "eight threads that request one action have it run once") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  auto asked = shell("echo made > a");
  asked.outputs = {"a"};
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto outcome = actions.run(asked);
      right += outcome && outcome->outputs.at(0).bytes.payload() == "made\n";
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(right == 8);
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(actions_fixture, "a run without waiters is killed") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  const auto line = directory / "line";
  REQUIRE(::mkfifo(line.c_str(), 0600) == 0);
  std::stop_source stop;
  auto waiting = actions.run_async(shell("echo > '" + line.string() + "'; sleep 1000"),
                                   call_options().stopped_by(stop.get_token()));
  lines_of(file_text(line)); // the command runs
  stop.request_stop();
  CHECK(waiting.get().error().code() == errc::cancelled);
  // The one worker is free again.
  CHECK(run(actions, shell("echo next")).out == "next\n");
  const auto late =
      actions.run(shell("sleep 1000"), call_options().within(std::chrono::milliseconds(50)));
  CHECK(late.error().code() == errc::timeout);
  CHECK(run(actions, shell("echo last")).out == "last\n");
}

TEST_CASE_FIXTURE(actions_fixture, "an input that changes while the command runs is not kept") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  const auto in = directory / "in";
  write_text(in, "1");
  auto asked = shell("cat ../in; echo changed > '" + in.string() + "'");
  asked.inputs = {"../in"};
  const auto outcome = run(actions, asked);
  CHECK(outcome.out == "1");
  CHECK(outcome.problem == "an input changed while the command ran");
  write_text(in, "1");
  CHECK(run(actions, asked).out == "1");
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(actions_fixture, "what has changed since the caller began is not kept") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  write_text(folder / "found", "1");
  action asked;
  asked.command = {"awk", "{ print; print \"x: found\" > \"d\" }", "found"};
  asked.directory = folder;
  asked.dependency_file = "d";
  asked.begun_ns = 1; // all files are younger
  const auto younger = run(actions, asked);
  CHECK(younger.out == "1\n");
  CHECK(younger.problem.find("changed while the command ran") != std::string::npos);
  using std::chrono::system_clock;
  asked.begun_ns = std::chrono::nanoseconds(system_clock::now().time_since_epoch()).count();
  const auto older = run(actions, asked);
  CHECK_FALSE(older.found);
  CHECK(older.problem == "");
  CHECK(run(actions, asked).found);
}

TEST_CASE_FIXTURE(actions_fixture, "discovered inputs are told apart by folder and by content") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  const auto in = [&](const std::string& name, const std::string& content) {
    const auto place = directory / name;
    fs::create_directories(place);
    write_text(place / "found", content);
    action asked; // no shell, whose results are of one folder
    asked.command = {"awk", "{ print; print \"x: found\" > \"d\" }", "found"};
    asked.directory = place;
    asked.dependency_file = "d";
    return run(actions, asked);
  };
  CHECK_FALSE(in("one", "1").found);
  CHECK_FALSE(in("two", "2").found);
  const auto second = in("one", "2"), first = in("two", "1");
  CHECK(second.found);
  CHECK(second.out == "2\n");
  CHECK(first.found);
  CHECK(first.out == "1\n");
}

TEST_CASE_FIXTURE(actions_fixture,
                  "a missing or wrong dependency file is reported and the result not kept") {
  auto unwatched = settings();
  unwatched.watch_programs = false; // otherwise what was seen counts, not what the file says
  runtime rt(unwatched);
  const auto actions = *action_cache::open(rt);
  auto asked = shell("echo fine");
  asked.dependency_file = "d";
  CHECK_FALSE(run(actions, asked).problem.empty());
  CHECK_FALSE(run(actions, asked).found);
  asked.command.back() += "; echo words > d";
  CHECK(run(actions, asked).problem.find("not a make rule") != std::string::npos);
}

TEST_CASE_FIXTURE(actions_fixture, "a damaged entry is run again, not served") {
  auto unwatched = settings();
  unwatched.watch_programs = false;
  runtime rt(unwatched);
  const auto actions = *action_cache::open(rt);
  auto asked = shell("echo fine");
  asked.sees_undeclared = false;
  const auto results = *rt.open("results");
  REQUIRE(results.insert(key(key_of(actions, asked)), artifact::make("no result")));
  CHECK(run(actions, asked).out == "fine\n");
  CHECK(run(actions, asked).found);
}

TEST_CASE_FIXTURE(actions_fixture, "damaged inputs and results of a watched action are run again") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  const auto asked = shell("echo fine");
  const auto results = *rt.open("results");
  const key base(key_of(actions, asked));
  const auto inputs = key::tuple({base, observations_part()});
  const auto known = [&] {
    const auto found = results.get(inputs);
    REQUIRE(found);
    return observations_in(decode_members(found->value.payload()).value_or(member_set{}));
  };
  CHECK(run(actions, asked).out == "fine\n");
  REQUIRE(known().size() == 1);
  const auto result = key::tuple({base, observed_part(known().front())});
  REQUIRE(results.put(result, artifact::make("no result")));
  CHECK(run(actions, asked).out == "fine\n");
  CHECK(runs() == 2);
  CHECK(run(actions, asked).found);
  REQUIRE(results.put(inputs, artifact::make("no set")));
  CHECK(run(actions, asked).out == "fine\n");
  CHECK(runs() == 3);
  CHECK(run(actions, asked).found);
}

TEST_CASE_FIXTURE(actions_fixture, "outputs are materialized all or none") {
  action_outcome outcome;
  outcome.outputs = {{"a", artifact::make("1"), true}, {"b/c", artifact::make("2"), false}};
  REQUIRE(materialize_outputs(outcome, folder));
  CHECK(file_text(folder / "a") == "1");
  CHECK(file_text(folder / "b/c") == "2");
  fs::create_directory(folder / "d");
  outcome.outputs = {{"a", artifact::make("new"), false}, {"d", artifact::make("x"), false}};
  CHECK(materialize_outputs(outcome, folder).error().code() == errc::invalid_argument);
  CHECK(file_text(folder / "a") == "1");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& one : fs::directory_iterator(folder))
    ++files;
  CHECK(files == 3); // nothing else is left
}

TEST_CASE_FIXTURE(actions_fixture, "bad actions are refused before anything runs") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  const auto code_of = [&](const action& asked) { return actions.run(asked).error().code(); };
  CHECK(code_of(action{}) == errc::invalid_argument);
  auto asked = shell("true");
  asked.inputs = {"missing"};
  CHECK(code_of(asked) == errc::not_found);
  asked = shell("true");
  asked.command[0] = "no-such-program-of-hearth";
  CHECK(code_of(asked) == errc::program_not_found);
  asked = shell("true");
  asked.outputs = {"a", "./a"};
  CHECK(code_of(asked) == errc::invalid_argument);
  CHECK(runs() == 0);
}

TEST_CASE_FIXTURE(actions_fixture, "every run is in the trace") {
  runtime rt(settings());
  const auto actions = *action_cache::open(rt);
  auto asked = shell("echo > a");
  asked.outputs = {"a"};
  run(actions, asked);
  run(actions, asked);
  const auto spans = actions.trace();
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].name == "sh a");
  CHECK(spans[0].duration_ns > 0);
}

} // namespace action_cache_test
