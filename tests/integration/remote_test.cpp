// `hearth compile` on several hosts, each with its own store, over one real server.
#include "tests/support/certificates.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace remote_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// A plan whose compiler logs each start and whose artifacts are stored by name.
struct fleet {
  fleet()
      : plans(directory / "plans") {
    fs::copy(fs::path(HEARTH_SOURCE_DIR) / "tests/integration/plans", plans);
    wrap_compiler(":");
  }
  // The compiler runs `before` each time it makes an output. That may look at files that change
  // meanwhile: then its compiles are not watched, or nothing would be kept.
  void wrap_compiler(const std::string& before) {
    watches = before == ":";
    write_text(plans / "cc", "#!/bin/sh\ncase \" $* \" in *\" -o \"*)\necho run >> '" +
                                 (directory / "runs").string() + "'\n" + before +
                                 "\n;; esac\nexec g++ \"$@\"\n");
    fs::permissions(plans / "cc", fs::perms::owner_all);
    auto text = file_text(plans / "tiny.toml");
    if (const auto at = text.find("\"g++\""); at != std::string::npos)
      write_text(plans / "tiny.toml", text.replace(at, 5, "\"./cc\""));
  }
  std::vector<std::string> arguments(const std::string& store,
                                     const std::vector<std::string>& more) const {
    std::vector<std::string> all{"compile",
                                 (plans / "tiny.toml").string(),
                                 "--store",
                                 (directory / store).string(),
                                 "--jobs",
                                 "1",
                                 "--json",
                                 "--watch",
                                 watches ? "yes" : "no"};
    all.insert(all.end(), more.begin(), more.end());
    if (std::find(more.begin(), more.end(), "--remote-deadline") == more.end())
      all.insert(all.end(), {"--remote-deadline", "10s"}); // a busy machine is not a failing server
    return all;
  }
  program_result compile(const std::string& store, const std::vector<std::string>& more) const {
    return run_hearth(arguments(store, more), directory.path());
  }
  std::size_t runs() const { return lines_of(file_text(directory / "runs")).size(); }

  temporary_directory directory;
  fs::path plans;
  bool watches = true;
};

void check_compiled(const program_result& result) {
  REQUIRE_MESSAGE(result.status == 0, result.err);
  CHECK(result.json().at("compiler_runs") == 1);
  CHECK(result.json().at("failures") == 0);
}

void check_all_remote(const program_result& result) {
  REQUIRE_MESSAGE(result.status == 0, result.err);
  const auto report = result.json();
  CHECK(report.at("compiler_runs") == 0);
  CHECK(report.at("hits") == report.at("requests"));
  for (const auto& kernel : report.at("kernels"))
    CHECK_MESSAGE(kernel.at("status") == "remote", report.dump(2));
}

} // namespace

TEST_CASE_FIXTURE(fleet,
                  "entries that one host compiled reach an empty host over tcp, tls and a socket") {
  certificate_authority authority(directory.path(), "ca");
  const auto files = authority.issue("server", "DNS:localhost,IP:127.0.0.1");
  const local_redis redis({.tcp = true,
                           .tls = true,
                           .certificate = files.certificate,
                           .key = files.key,
                           .ca = authority.file()});
  const auto tcp = "redis://127.0.0.1:" + std::to_string(redis.port());
  check_compiled(compile("a", {"--remote", tcp}));
  check_all_remote(compile("b", {"--remote", tcp + "/0"}));
  check_all_remote(compile("c", {"--remote", redis.url()}));
  check_all_remote(
      compile("d", {"--remote", "rediss://localhost:" + std::to_string(redis.tls_port()),
                    "--remote-ca-file", authority.file().string()}));
  CHECK(runs() == 1);
  // The second host now has the entries on its own disk.
  const auto again = compile("b", {"--remote", tcp}).json();
  CHECK(again.at("hits") == again.at("requests"));
  CHECK(again.at("kernels")[0].at("status") == "disk");
}

TEST_CASE_FIXTURE(fleet, "a password opens the remote tier, from the url or a file") {
  const local_redis redis({.tcp = true, .password = "sesame"});
  const auto port = std::to_string(redis.port());
  check_compiled(compile("a", {"--remote", "redis://:sesame@127.0.0.1:" + port}));
  write_text(directory / "password", "sesame\n");
  check_all_remote(compile("b", {"--remote", "redis://127.0.0.1:" + port, "--remote-password-file",
                                 (directory / "password").string()}));
  const auto refused =
      compile("c", {"--remote", "redis://:open%20up@127.0.0.1:" + port, "--verbose"});
  check_compiled(refused);
  CHECK(refused.json().at("remote").at("openings") >= 1);
  CHECK(refused.err.find("open up") == std::string::npos);
  CHECK(refused.err.find("open%20up") == std::string::npos);
}

TEST_CASE_FIXTURE(fleet, "entries have to be signed when signing is on") {
  const local_redis redis;
  write_text(directory / "old", "old " + std::string(64, 'a') + "\n");
  write_text(directory / "both",
             "new " + std::string(64, 'b') + "\n" + file_text(directory / "old"));
  const auto with = [&](const std::string& keys) {
    return std::vector<std::string>{"--remote", redis.url(), "--remote-signing-keys",
                                    (directory / keys).string()};
  };
  check_compiled(compile("open", {"--remote", redis.url()}));
  const auto first = compile("a", with("old")); // the stored entry is unsigned
  check_compiled(first);
  CHECK(first.json().at("remote").dump().find("unsigned") != std::string::npos);
  check_all_remote(compile("b", with("both")));
  check_all_remote(compile("c", with("old")));
  write_text(directory / "stranger", "old " + std::string(64, 'c') + "\n");
  const auto forged = compile("d", with("stranger"));
  check_compiled(forged);
  CHECK(forged.json().at("remote").dump().find("forged") != std::string::npos);
}

TEST_CASE_FIXTURE(
    fleet, "a plan ends well with every fault of the remote tier, and so does the next one") {
  struct fault {
    const char* name;
    std::string counted; // the name of its counter
    std::function<void(fault_proxy&)> begin;
  };
  const std::vector<fault> faults{
      {"refused", "unreachable", [](fault_proxy& p) { p.set(proxy_fault::refuse); }},
      {"black hole", "timeout", [](fault_proxy& p) { p.set(proxy_fault::black_hole); }},
      {"a byte a second", "timeout", [](fault_proxy& p) { p.set(proxy_fault::drip); }},
      {"cut", "cut", [](fault_proxy& p) { p.set(proxy_fault::cut); }},
      {"garbage", "garbage", [](fault_proxy& p) { p.garbage(); }},
      {"wrong type", "garbage", [](fault_proxy& p) { p.wrong_type(); }},
      {"giant length", "garbage", [](fault_proxy& p) { p.giant_length(); }},
      {"AUTH refused", "denied",
       [](fault_proxy& p) { p.error("WRONGPASS invalid password", {"*"}); }},
      {"OOM", "refused", [](fault_proxy& p) { p.error("OOM command not allowed", {"SET"}); }},
      // Also to the greeting: as a server whose connections end.
      {"LOADING", "cut", [](fault_proxy& p) { p.error("LOADING Redis is loading", {"*"}); }},
      {"READONLY", "refused",
       [](fault_proxy& p) {
         p.error("READONLY You can't write", {"SET", "DEL"});
       }},
  };
  const auto counts = [](const nlohmann::json& remote, const std::string& failure) {
    const auto& caches = remote.at("caches");
    return remote.at("problem").get<std::string>().starts_with(failure + ": ") ||
           std::any_of(caches.begin(), caches.end(),
                       [&](const auto& one) { return one.at("failures").contains(failure); });
  };
  const local_redis redis;
  fault_proxy proxy(redis.socket());
  for (const auto& one : faults) {
    CAPTURE(one.name);
    one.begin(proxy);
    const auto result = compile(one.name, {"--remote", proxy.url(), "--remote-deadline", "200ms"});
    REQUIRE_MESSAGE(result.status == 0, result.err);
    const auto report = result.json();
    CHECK(report.at("failures") == 0);
    CHECK(report.at("remote").at("openings") <= 3);
    CHECK_MESSAGE(counts(report.at("remote"), one.counted), report.at("remote").dump(2));
    CHECK(report.at("compiler_runs") == 1);
    proxy.heal();
    redis.eval("redis.call('flushall') return 0");
    const auto next = compile(one.name + std::string(", healed"), {"--remote", proxy.url()});
    check_compiled(next);
    CHECK(next.json().at("remote").at("openings") == 0);
    CHECK(next.json().at("remote").at("problem") == "");
    CHECK(redis.eval("local kept = redis.call('dbsize') redis.call('flushall') return kept") > 0);
  }
}

TEST_CASE_FIXTURE(fleet, "a certificate that is wrong in any way disables the remote tier") {
  certificate_authority authority(directory.path(), "ca"), stranger(directory.path(), "stranger");
  struct trial {
    const char* name;
    certificate_files files;
  };
  const std::vector<trial> trials{
      {"of another authority", stranger.issue("forged", "DNS:localhost,IP:127.0.0.1")},
      {"expired", authority.issue("expired", "DNS:localhost", -7200, -3600)},
      {"of another host", authority.issue("other", "DNS:elsewhere.example")}};
  for (const auto& one : trials) {
    CAPTURE(one.name);
    const local_redis redis({.tls = true,
                             .certificate = one.files.certificate,
                             .key = one.files.key,
                             .ca = authority.file()});
    const auto result =
        compile(one.name, {"--remote", "rediss://localhost:" + std::to_string(redis.tls_port()),
                           "--remote-ca-file", authority.file().string()});
    check_compiled(result);
    const auto remote = result.json().at("remote");
    CHECK(remote.at("openings") >= 1);
    CHECK(remote.at("problem").get<std::string>().find("untrusted") == 0);
  }
}

TEST_CASE_FIXTURE(fleet, "sixteen processes on two hosts compile one action once") {
  const local_redis redis;
  std::vector<program_run> processes;
  for (int i = 0; i < 16; ++i)
    processes.emplace_back(arguments(i % 2 == 0 ? "a" : "b", {"--remote", redis.url()}),
                           directory.path());
  std::size_t compiler_runs = 0;
  for (auto& process : processes) {
    const auto result = process.wait();
    REQUIRE_MESSAGE(result.status == 0, result.err);
    compiler_runs += result.json().at("compiler_runs").get<std::size_t>();
  }
  CHECK(compiler_runs == 1);
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(fleet,
                  "when the host that compiles is killed another takes over within a lease") {
  const local_redis redis;
  const auto hold = directory / "hold";
  const auto hangs = (directory / "hangs").string();
  REQUIRE(mkfifo(hangs.c_str(), 0600) == 0);
  write_text(hold, "");
  wrap_compiler("if [ -e '" + hold.string() + "' ]; then echo > '" + hangs + "'; sleep 1000; fi");
  const int end = open(hangs.c_str(), O_RDWR | O_CLOEXEC);
  const std::vector<std::string> remote{"--remote", redis.url(), "--remote-lease", "3s"};
  program_run first(arguments("a", remote), directory.path());
  char mark = 0;
  REQUIRE(read(end, &mark, 1) == 1); // the compile has begun
  close(end);
  fs::remove(hold);
  // The first process is killed after the second has asked for the lease, too: SET takes leases.
  const auto sets = [&] {
    return redis.eval("return tonumber(string.match(redis.call('info', 'commandstats'), "
                      "'cmdstat_set:calls=(%d+)') or 0)");
  };
  const auto before = sets();
  CHECK(before >= 1);
  program_run second(arguments("b", remote), directory.path());
  while (sets() == before)
    std::this_thread::yield();
  first.kill();
  const auto killed = std::chrono::steady_clock::now();
  const auto result = second.wait();
  const auto took = std::chrono::steady_clock::now() - killed;
  check_compiled(result);
  CHECK(result.json().at("remote").at("leases").at("elsewhere") >= 1);
  CHECK(runs() == 2);
  // The limit: the lease's time and the time of one compile on this machine now, doubled.
  const auto begun = std::chrono::steady_clock::now();
  check_compiled(compile("c", {}));
  const auto alone = std::chrono::steady_clock::now() - begun;
  CHECK(took < 2 * (std::chrono::seconds(3) + alone));
}

TEST_CASE_FIXTURE(fleet, "a server that never answers costs a plan no more than its deadlines") {
  const local_redis redis;
  fault_proxy proxy(redis.socket());
  constexpr auto deadline = std::chrono::milliseconds(1500);
  const auto time_of = [&](const std::string& store, const std::vector<std::string>& more,
                           program_result& result) {
    const auto begun = std::chrono::steady_clock::now();
    result = compile(store, more);
    return std::chrono::steady_clock::now() - begun;
  };
  program_result alone, ill;
  const auto without = time_of("alone", {}, alone);
  check_compiled(alone);
  proxy.set(proxy_fault::black_hole);
  const auto with = time_of(
      "ill", {"--remote", proxy.url(), "--remote-deadline", "1500ms", "--remote-drain", "1500ms"},
      ill);
  check_compiled(ill);
  const auto openings = ill.json().at("remote").at("openings").get<int>();
  CHECK(openings >= 1);
  CHECK(ill.json().at("remote").at("problem").get<std::string>().starts_with("timeout"));
  // One deadline for each opening; another one for what else the machine does.
  CHECK(with - without < (openings + 1) * deadline);
}

TEST_CASE_FIXTURE(fleet, "a plan gives the fleet its entries when the server answers again") {
  const local_redis redis;
  fault_proxy proxy(redis.socket());
  proxy.set(proxy_fault::black_hole);
  const auto begun = (directory / "begun").string(), go_on = (directory / "go_on").string();
  REQUIRE(mkfifo(begun.c_str(), 0600) == 0);
  REQUIRE(mkfifo(go_on.c_str(), 0600) == 0);
  wrap_compiler("if [ -p '" + begun + "' ]; then echo > '" + begun + "'; read line < '" + go_on +
                "'; fi");
  program_run process(arguments("a", {"--remote", proxy.url(), "--remote-deadline", "300ms"}),
                      directory.path());
  CHECK(file_text(begun) == "\n"); // the compiler runs: the look-ups have ended without the server
  const auto before = proxy.commands();
  proxy.heal();
  // The probe, and what comes after its answer: the breaker is closed.
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (proxy.commands() < before + 2 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  REQUIRE(proxy.commands() >= before + 2);
  write_text(go_on, "\n");
  const auto result = process.wait();
  check_compiled(result);
  CHECK(result.json().at("remote").at("openings") >= 1);
  CHECK(result.json().at("remote").at("state") == "closed");
  fs::remove(begun);
  check_all_remote(compile("b", {"--remote", redis.url()}));
}

} // namespace remote_test
