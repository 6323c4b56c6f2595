// Hosts that share a real Redis Cluster: plans and runs, while masters die and slots move.
#include "storage/resp/cluster_slots.hpp"
#include "tests/support/asker.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/local_cluster.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

namespace cluster_fleet_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

constexpr int kernels = 8;

// A plan of some kernels, whose compiler logs each of its runs.
struct fleet {
  fleet() {
    fs::create_directory(work);
    std::string plan = "[toolchain]\ncompiler = \"./cc\"\n";
    for (int i = 0; i < kernels; ++i) {
      const auto name = "k" + std::to_string(i);
      write_text(work / (name + ".cpp"), "#include <cstdint>\nextern \"C\" void " + name +
                                             "(void* const* buffers, const int64_t*) {\n"
                                             "  *static_cast<int32_t*>(buffers[0]) = " +
                                             std::to_string(i) + ";\n}\n");
      plan += "[[kernel]]\nname = \"" + name + "\"\nsource = \"" + name + ".cpp\"\nentry = \"" +
              name +
              "\"\nsymbols = [\"n\"]\n"
              "buffers = [{ type = \"i32\", shape = [\"n\"], output = true }]\n"
              "configs = [{ TILE = 1 }]\nshapes = [{ n = 1 }]\n";
    }
    write_text(work / "plan.toml", plan);
    write_text(work / "cc", "#!/bin/sh\ncase \" $* \" in *\" -o \"*)\necho run >> '" +
                                (directory / "runs").string() + "'\n;; esac\nexec g++ \"$@\"\n");
    fs::permissions(work / "cc", fs::perms::owner_all);
  }

  std::vector<std::string> plan_at(const std::string& host, const std::string& url) const {
    return {"compile", (work / "plan.toml").string(),
            "--store", (directory / host).string(),
            "--jobs",  "1",
            "--json",  "--remote",
            url,       "--remote-deadline",
            "10s"}; // a busy machine is not a failing server
  }
  program_result compile(const std::string& host, const std::string& url) const {
    return run_hearth(plan_at(host, url), directory.path());
  }
  std::vector<std::string> run_of(const std::string& name, const std::string& host,
                                  const std::string& url) const {
    return {"run",       "--store",     (directory / host).string(),
            "--remote",  url,           "--remote-deadline",
            "10s",       "--in",        name + ".cpp",
            "--in",      "cc",          "--out",
            name + ".o", "--",          "./cc",
            "-c",        name + ".cpp", "-o",
            name + ".o"};
  }
  std::size_t runs() const {
    return fs::exists(directory / "runs") ? lines_of(file_text(directory / "runs")).size() : 0;
  }

  temporary_directory directory;
  fs::path work = directory / "work";
};

void check_found(const program_result& result) {
  REQUIRE_MESSAGE(result.status == 0, result.err);
  const auto report = result.json();
  CHECK(report.at("compiler_runs") == 0);
  CHECK(report.at("failures") == 0);
  CHECK(report.at("hits") == report.at("requests"));
}

int processes() {
  const auto* many = std::getenv("HEARTH_CLUSTER_PROCESSES");
  return many ? std::atoi(many) : 24;
}

} // namespace

TEST_CASE_FIXTURE(fleet, "cluster: three hosts share plans, and a master may die in the middle") {
  const local_cluster cluster;
  const auto url = cluster.url();
  const auto whole = compile("a", url);
  REQUIRE_MESSAGE(whole.status == 0, whole.err);
  CHECK(whole.json().at("compiler_runs") == kernels);
  check_found(compile("b", url));
  // All of an entry is in one slot, and the entries are spread over all masters.
  for (std::size_t i = 0; i < local_cluster::masters; ++i)
    CHECK(std::stoul(cluster.ask(i, {"DBSIZE"})) > 0);

  for (std::size_t i = 0; i < local_cluster::masters; ++i)
    cluster.ask(i, {"FLUSHALL"});
  const auto before = runs();
  program_run cold(plan_at("c", url), directory.path());
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (runs() < before + 2)
    REQUIRE(std::chrono::steady_clock::now() < limit);
  cluster.node(0).kill();
  const auto ended = cold.wait_at_most(std::chrono::seconds(300));
  REQUIRE_MESSAGE(ended.status == 0, ended.err);
  CHECK(ended.json().at("failures") == 0);
  CHECK(ended.json().at("compiler_runs") == kernels);
  cluster.wait_for_new_leader(0, 0, 1);
  // What the dead master has taken with it is compiled once more; then all is there.
  const auto again = compile("d", url);
  REQUIRE_MESSAGE(again.status == 0, again.err);
  CHECK(again.json().at("failures") == 0);
  check_found(compile("e", url));
}

TEST_CASE_FIXTURE(fleet, "cluster: nothing is wrong while slots move under many processes") {
  const local_cluster cluster;
  const auto url = cluster.url();
  const int count = processes();
  for (int i = 0; i < count; ++i) {
    const auto name = "s" + std::to_string(i);
    write_text(work / (name + ".cpp"), "int f() { return " + std::to_string(i) + "; }\n");
  }
  // Some processes at a time, while every slot that has names goes round.
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<bool> is_over = false;
  std::vector<program_result> results;
  std::thread builder([&] {
    constexpr int at_once = 4;
    for (int first = 0; first < count; first += at_once) {
      std::vector<program_run> some;
      for (int i = first; i < std::min(count, first + at_once); ++i)
        some.emplace_back(run_of("s" + std::to_string(i), "a", url), directory.path(), work);
      for (auto& one : some)
        results.push_back(one.wait());
    }
    is_over = true;
  });
  std::set<std::uint16_t> moved;
  std::size_t from = 0;
  while (!is_over) {
    const auto to = (from + 1) % local_cluster::masters;
    const auto server = connected(cluster.node(from).url());
    const auto names = ask(*server, {"KEYS", "*"});
    REQUIRE(is_ok(names));
    for (const auto& name : names.value.items) {
      const auto slot = hearth::storage::slot_of(name.text);
      if (cluster.leader_of(slot, from) != from) continue;
      cluster.move_slot(slot, from, to);
      moved.insert(slot);
    }
    from = to;
  }
  builder.join();
  CHECK(moved.size() > 1);
  for (const auto& result : results) {
    CHECK_MESSAGE(result.status == 0, result.err);
    CHECK(result.err == "");
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(runs() == static_cast<std::size_t>(count));
  // Another host finds each, with the bytes that the compiler made.
  for (int i = 0; i < count; ++i) {
    const auto name = "s" + std::to_string(i);
    const auto made = file_text(work / (name + ".o"));
    fs::remove(work / (name + ".o"));
    const auto result = program_run(run_of(name, "b", url), directory.path(), work).wait();
    REQUIRE_MESSAGE(result.status == 0, result.err);
    CHECK(file_text(work / (name + ".o")) == made);
  }
  CHECK(runs() == static_cast<std::size_t>(count));
  MESSAGE(count << " processes in " << took.count() << " s, " << moved.size() << " slots moved");
}

} // namespace cluster_fleet_test
