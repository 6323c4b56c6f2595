// Remembered tunings from the point of view of the program's users: real compilers, real processes,
// a real server.
#include "tests/support/hearth_program.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace autotune_test {

using namespace hearth::test;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct workplace {
  workplace()
      : plans(directory / "plans") {
    fs::copy(fs::path(HEARTH_SOURCE_DIR) / "tests/integration/plans", plans);
  }
  fs::path store(const std::string& name) const { return directory / ("store-" + name); }
  std::vector<std::string> arguments(const std::string& store_name, const std::string& plan,
                                     const std::vector<std::string>& more) const {
    std::vector<std::string> all{
        "compile", (plans / plan).string(), "--store", store(store_name).string(), "--jobs", "2",
        "--json",  "--remote-deadline",     "10s"}; // a busy machine is not a failing server
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  json compile(const std::string& store_name, const std::string& plan,
               const std::vector<std::string>& more = {}) const {
    const auto result = run_hearth(arguments(store_name, plan, more), directory.path());
    REQUIRE_MESSAGE(result.status == 0, result.err);
    return result.json();
  }
  program_result autotune(const std::string& store_name, std::vector<std::string> words) const {
    words.insert(words.begin(), "autotune");
    words.insert(words.end(), {"--store", store(store_name).string()});
    return run_hearth(words, directory.path());
  }
  json list(const std::string& store_name) const {
    const auto listed = autotune(store_name, {"list", "--json"});
    REQUIRE_MESSAGE(listed.status == 0, listed.err);
    return listed.json();
  }
  void edit(const std::string& file, const std::string& from, const std::string& to) const {
    auto text = file_text(plans / file);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_text(plans / file, text.replace(at, from.size(), to));
  }

  temporary_directory directory;
  fs::path plans;
};

json configs(const json& report) {
  auto all = json::array();
  for (const auto& kernel : report.at("kernels"))
    all.push_back({kernel.at("name"), kernel.at("sizes"), kernel.at("guard"), kernel.at("config")});
  return all;
}

// The remote tier's counters of a named cache in a report.
json counts(const json& report, const std::string& cache) {
  for (const auto& one : report.at("remote").at("caches"))
    if (one.at("cache") == cache) return one;
  return nullptr;
}

constexpr std::size_t entries_of_small = 4;

// Checks the work of another machine that has the tunings but no artifacts.
void check_only_winners_are_compiled(const json& cold, const json& other) {
  CHECK(other.at("compiler_runs") == entries_of_small);
  CHECK(other.at("trials") == 0);
  CHECK(other.at("failures") == 0);
  CHECK(other.at("bundle").at("hit") == true);
  CHECK(other.at("bundle").at("entries") == entries_of_small);
  CHECK(other.at("bundle").at("time_saved_ms") > 0);
  CHECK(configs(other) == configs(cold));
}

} // namespace

TEST_CASE_FIXTURE(workplace,
                  "with tunings alone in the remote tier another machine tunes nothing") {
  const local_redis redis;
  const std::vector<std::string> tunings_alone{"--remote", redis.url(), "--remote-caches",
                                               "autotune"};
  const auto cold = compile("a", "small.toml", tunings_alone);
  CHECK(cold.at("compiler_runs") == 8);
  CHECK(cold.at("trials") >= 8);
  CHECK(cold.at("bundle").at("stored") == true);
  CHECK(counts(cold, "kernels").is_null());
  CHECK(counts(cold, "actions").is_null());
  CHECK(counts(cold, "autotune.bundle").at("puts") == 1);
  const auto other = compile("b", "small.toml", tunings_alone);
  check_only_winners_are_compiled(cold, other);
  CHECK(other.at("bundle").at("stored") == false);
  CHECK(counts(other, "autotune.bundle").at("hits") == 1);
  CHECK(counts(other, "autotune.best").is_null());
  const auto warm = compile("b", "small.toml", tunings_alone);
  CHECK(warm.at("compiler_runs") == 0);
  CHECK(warm.at("hits") == warm.at("requests"));
}

TEST_CASE_FIXTURE(workplace,
                  "with the artifacts deleted from the server another machine tunes nothing") {
  const local_redis redis;
  const std::vector<std::string> remote{"--remote", redis.url()};
  const auto cold = compile("a", "small.toml", remote);
  // Deletes everything except tunings from the server.
  const auto script = "return #redis.call('keys', '*')";
  CHECK(redis.eval(script) > 8);
  redis.eval("local n = 0 for _, k in ipairs(redis.call('keys', '*')) do "
             "if not string.find(k, 'autotune') then redis.call('del', k) n = n + 1 end "
             "end return n");
  const auto other = compile("b", "small.toml", remote);
  check_only_winners_are_compiled(cold, other);
}

TEST_CASE_FIXTURE(workplace,
                  "other comments find the same bundle, other code finds the tunings one by one") {
  const local_redis redis;
  const std::vector<std::string> tunings_alone{"--remote", redis.url(), "--remote-caches",
                                               "autotune"};
  compile("a", "small.toml", tunings_alone);
  edit("small.toml", "# Two kernels", "# 2 kernels");
  CHECK(compile("b", "small.toml", tunings_alone).at("bundle").at("hit") == true);
  edit("small.toml", "timeout = \"60s\"", "timeout = \"61s\"");
  const auto other = compile("c", "small.toml", tunings_alone);
  CHECK(other.at("bundle").at("hit") == false);
  CHECK(other.at("bundle").at("stored") == true);
  CHECK(other.at("bundle").at("entries") == entries_of_small);
  CHECK(counts(other, "autotune.best").at("hits") == entries_of_small);
  CHECK(other.at("compiler_runs") == entries_of_small);
  CHECK(other.at("trials") == 0);
}

TEST_CASE_FIXTURE(workplace, "two plans that share kernels, tuned at once, tune each kernel once") {
  const local_redis redis;
  const std::vector<std::string> tunings_alone{"--remote", redis.url(), "--remote-caches",
                                               "autotune"};
  fs::copy_file(plans / "small.toml", plans / "other.toml");
  edit("other.toml", "timeout = \"60s\"", "timeout = \"61s\"");
  program_run one(arguments("a", "small.toml", tunings_alone), directory.path());
  program_run two(arguments("a", "other.toml", tunings_alone), directory.path());
  const auto first = one.wait(), second = two.wait();
  REQUIRE_MESSAGE(first.status == 0, first.err);
  REQUIRE_MESSAGE(second.status == 0, second.err);
  const auto sum = [&](const char* what) {
    return first.json().at(what).get<int>() + second.json().at(what).get<int>();
  };
  CHECK(sum("compiler_runs") == 8);
  CHECK(sum("trials") >= 8);
  // One of the two processes tuned each entry; the other waited for it or found it.
  std::set<std::string> tuned, tuned_twice;
  for (const auto* report : {&first, &second}) {
    std::set<std::string> here; // several requests share an entry
    const auto kernels = report->json().at("kernels");
    for (const auto& kernel : kernels)
      if (kernel.at("status") == "compiled")
        here.insert(kernel.at("name").dump() + kernel.at("guard").dump());
    for (const auto& entry : here)
      if (!tuned.insert(entry).second) tuned_twice.insert(entry);
  }
  CHECK(tuned.size() == entries_of_small);
  CHECK(tuned_twice == std::set<std::string>());
  CHECK(configs(first.json()) == configs(second.json()));
  for (const auto* report : {&first, &second}) {
    CHECK(report->json().at("bundle").at("entries") == entries_of_small);
    CHECK(report->json().at("bundle").at("stored") == true);
  }
  // Each bundle is complete: it serves a new machine alone.
  for (const auto* plan : {"small.toml", "other.toml"}) {
    const auto other = compile(plan, plan, tunings_alone);
    check_only_winners_are_compiled(first.json(), other);
  }
}

TEST_CASE_FIXTURE(workplace, "a plan that gains a configuration compiles that alone") {
  compile("a", "small.toml");
  edit("small.toml", "configs = [{ UNROLL = 1 }, { UNROLL = 8 }]",
       "configs = [{ UNROLL = 1 }, { UNROLL = 8 }, { UNROLL = 4 }]");
  const auto more = compile("a", "small.toml");
  CHECK(more.at("compiler_runs") == 2); // of `scale`, one for each guard
  CHECK(more.at("trials") >= 6);
  edit("small.toml", "{ UNROLL = 8 }, { UNROLL = 4 }]", "{ UNROLL = 8 }]");
  const auto back = compile("a", "small.toml");
  CHECK(back.at("compiler_runs") == 0);
  CHECK(back.at("hits") == back.at("requests"));
  edit("small.toml", "configs = [{ UNROLL = 1 }, { UNROLL = 8 }]", "configs = [{ UNROLL = 8 }]");
  const auto fewer = compile("a", "small.toml");
  CHECK(fewer.at("compiler_runs") == 0);
  CHECK(fewer.at("trials") == 0);
}

TEST_CASE_FIXTURE(workplace, "the option --tune says what is measured") {
  const auto off = compile("a", "small.toml", {"--tune", "off"});
  CHECK(off.at("compiler_runs") == entries_of_small);
  CHECK(off.at("trials") == entries_of_small); // checks only that the candidate is right
  for (const auto& kernel : off.at("kernels"))
    CHECK(kernel.at("config").at("UNROLL") == 1);
  CHECK(list("a").empty());
  CHECK(compile("a", "small.toml", {"--tune", "off"}).at("compiler_runs") == 0);
  const auto cached = compile("a", "small.toml", {"--tune", "cached-only"});
  CHECK(cached.at("compiler_runs") == 0);
  CHECK(cached.at("trials") == 0);
  const auto full = compile("a", "small.toml", {"--tune", "full"});
  CHECK(full.at("compiler_runs") == entries_of_small); // compiles the other candidate of each
  CHECK(configs(compile("a", "small.toml", {"--tune", "off"})) == configs(full));
  const auto wrong = run_hearth(arguments("a", "small.toml", {"--tune", "much"}), directory.path());
  CHECK(wrong.status == 2);
  CHECK(lines_of(wrong.err).size() == 1);
  CHECK(wrong.err.find("much") != std::string::npos);
}

TEST_CASE_FIXTURE(workplace,
                  "descent is named in its tuning records, and another tag sees none of them") {
  const local_redis redis;
  const auto with_tunings = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--remote", redis.url(), "--remote-caches", "autotune"});
    return more;
  };
  compile("a", "small.toml", with_tunings({"--tune", "descent"}));
  const auto known = list("a");
  REQUIRE(known.size() == entries_of_small);
  for (const auto& one : known)
    CHECK(one.at("found_by_coordesc") == true);
  // The fleet's tunings serve another machine, but not under another tag: the machine gets the
  // bundle, whose key has no tag, and uses none of its tunings.
  CHECK(compile("c", "small.toml", with_tunings({"--tune", "descent"})).at("trials") == 0);
  CHECK(compile("d", "small.toml", with_tunings({"--tuning-tag", "mine"})).at("trials") >= 8);
  compile("b", "small.toml", {"--tuning-tag", "mine"});
  std::set<std::string> names;
  for (const auto& one : list("a"))
    names.insert(one.at("name"));
  const auto of_another_tag = list("b");
  CHECK(of_another_tag.size() == entries_of_small);
  for (const auto& one : of_another_tag)
    CHECK_FALSE(names.contains(one.at("name")));
}

TEST_CASE_FIXTURE(workplace, "tunings are listed and shown") {
  CHECK(list("none").empty());
  compile("a", "small.toml");
  const auto known = list("a");
  REQUIRE(known.size() == entries_of_small);
  std::set<std::string> kernels;
  for (const auto& one : known) {
    kernels.insert(one.at("label"));
    CHECK(one.at("name").get<std::string>().ends_with(".best_config"));
    CHECK(one.at("config").contains("UNROLL"));
    CHECK(one.at("configs_hash").get<std::string>().size() == 64);
    CHECK(one.at("time_taken_ms") == one.at("time_taken_ns").get<std::int64_t>() / 1'000'000);
    CHECK(one.at("kernel_time_ns") > 0);
    CHECK(one.at("triton_cache_hash").is_null());
  }
  CHECK(kernels ==
        std::set<std::string>{"add[guard 0]", "add[guard 1]", "scale[guard 0]", "scale[guard 1]"});
  const auto table = autotune("a", {"list"});
  CHECK(lines_of(table.out).size() == 1 + entries_of_small);
  CHECK(table.out.find("UNROLL=") != std::string::npos);
  const auto shown = autotune("a", {"show", "add[guard 0]"});
  REQUIRE(shown.status == 0);
  CHECK(shown.json().contains("UNROLL"));
  CHECK(shown.json().contains("configs_hash"));
  const auto name = known[0].at("name").get<std::string>();
  CHECK(autotune("a", {"show", name.substr(0, 10), "--json"}).json() == known[0]);
  const auto none = autotune("a", {"show", "nothing"});
  CHECK(none.status == 1);
  CHECK(none.out.empty());
  CHECK(lines_of(none.err).size() == 1);
  CHECK(autotune("a", {"show", ""}).status == 2); // the empty name matches all of them
}

TEST_CASE_FIXTURE(workplace, "exported tunings serve another machine") {
  const auto cold = compile("a", "small.toml");
  const auto folder = (directory / "tunings").string();
  const auto exported = autotune("a", {"export", folder, "--json"});
  REQUIRE_MESSAGE(exported.status == 0, exported.err);
  CHECK(exported.json().at("exported") == entries_of_small);
  const auto imported = autotune("b", {"import", folder, "--json"});
  REQUIRE_MESSAGE(imported.status == 0, imported.err);
  CHECK(imported.json() == json{{"added", entries_of_small}, {"replaced", 0}, {"same", 0}});
  CHECK(autotune("b", {"import", folder, "--json"}).json().at("same") == entries_of_small);
  const auto other = compile("b", "small.toml");
  CHECK(other.at("compiler_runs") == entries_of_small);
  CHECK(other.at("trials") == 0);
  CHECK(configs(other) == configs(cold));
  const auto one = (directory / "one").string();
  CHECK(autotune("a", {"export", one, "add[guard 0]"}).status == 0);
  CHECK(std::distance(fs::directory_iterator(one), fs::directory_iterator()) == 1);
  CHECK(autotune("a", {"export", one, "nothing"}).status == 1);
}

TEST_CASE_FIXTURE(workplace, "files of Inductor keep every field through a store") {
  const json original{{"XBLOCK", 64},
                      {"num_warps", 4},
                      {"num_stages", 2},
                      {"configs_hash", "0f1e2d"},
                      {"time_taken_ms", 117},
                      {"found_by_coordesc", false},
                      {"triton_cache_hash", "ABC"},
                      {"num_consumer_groups", 0},
                      {"num_buffers_warp_spec", 0},
                      {"from_a_later_version", {1, "x", nullptr}}};
  const auto file = directory / "f8d61a11.best_config";
  write_text(file, original.dump());
  REQUIRE(autotune("a", {"import", file.string()}).status == 0);
  REQUIRE(autotune("a", {"export", (directory / "out").string()}).status == 0);
  CHECK(json::parse(file_text(directory / "out/f8d61a11.best_config")) == original);
  write_text(file, "{\"XBLOCK\": 128, \"configs_hash\": \"h\"}");
  CHECK(autotune("a", {"import", file.string(), "--json"}).json().at("replaced") == 1);
}

TEST_CASE_FIXTURE(workplace, "a damaged file is named and nothing is taken in") {
  const auto folder = directory / "tunings";
  fs::create_directory(folder);
  write_text(folder / "a.best_config", R"({"configs_hash": "h"})");
  write_text(folder / "b.best_config", R"({"configs_hash": )");
  const auto damaged = autotune("a", {"import", folder.string()});
  CHECK(damaged.status == 2);
  CHECK(damaged.out.empty());
  CHECK(lines_of(damaged.err).size() == 1);
  CHECK_MESSAGE(damaged.err.find("b.best_config") != std::string::npos, damaged.err);
  CHECK(list("a").empty());
  const auto missing = autotune("a", {"import", (folder / "c.best_config").string()});
  CHECK(missing.status == 2);
  CHECK(missing.err.find("c.best_config") != std::string::npos);
  write_text(directory / "other.json", R"({"configs_hash": "h"})");
  CHECK(autotune("a", {"import", (directory / "other.json").string()}).status == 2);
}

TEST_CASE_FIXTURE(workplace, "a cache that cannot be one is bad input") {
  const auto wrong =
      run_hearth(arguments("a", "small.toml", {"--remote-caches", "a/b"}), directory.path());
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("--remote-caches") != std::string::npos);
}

} // namespace autotune_test
