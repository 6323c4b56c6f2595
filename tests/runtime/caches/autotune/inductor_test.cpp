// Tunings that PyTorch's Inductor and Hearth share over one server, in Inductor's names and JSON.
// The records are Inductor's own: tests/data/inductor/make_records says how they were made.
#include "messages/autotune/names.hpp"
#include "runtime/caches/autotune/best_config.hpp"
#include "runtime/caches/autotune/tuning_caches.hpp"
#include "runtime/caches/autotune/tunings.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "runtime/os/files/descriptor.hpp"
#include "tests/support/files.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace inductor_test {

using namespace hearth;
using namespace hearth::test;
using nlohmann::json;

namespace {

const std::string signing_keys = "one 00112233445566778899aabbccddeeff\n";

// Another program's connection to the server.
class other_program {
public:
  explicit other_program(const local_redis& redis)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = redis.socket().string();
    REQUIRE(path.size() < sizeof address.sun_path);
    std::copy(path.begin(), path.end(), address.sun_path);
    REQUIRE(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
  }
  void set(const std::string& name, const std::string& value) const {
    CHECK(ask({"SET", name, value}) == "+OK");
  }
  /// Empty when there is no value.
  std::string get(const std::string& name) const {
    const auto head = ask({"GET", name});
    REQUIRE(head.front() == '$');
    const auto size = std::stol(head.substr(1));
    if (size < 0) return {};
    auto text = read(static_cast<std::size_t>(size) + 2);
    return text.substr(0, text.size() - 2);
  }

private:
  std::string ask(const std::vector<std::string>& words) const {
    auto text = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto& word : words)
      text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    REQUIRE(::send(socket_.get(), text.data(), text.size(), 0) ==
            static_cast<ssize_t>(text.size()));
    std::string line;
    while (!line.ends_with("\r\n"))
      line += read(1);
    return line.substr(0, line.size() - 2);
  }
  std::string read(std::size_t bytes) const {
    std::string text(bytes, '\0');
    REQUIRE(::recv(socket_.get(), text.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes));
    return text;
  }

  os::descriptor socket_;
};

// What Inductor has stored.
struct fixture {
  json all = json::parse(
      file_text(std::filesystem::path(HEARTH_SOURCE_DIR) / "tests/data/inductor/records.json"));
  local_redis redis;
  temporary_directory directory;

  digest toolchain() const {
    const auto known = sha256("torch");
    REQUIRE(known.hex() == all["toolchain"]);
    return known;
  }
  tuning_settings settings(const json& one) const {
    tuning_settings made;
    made.remote_form = tuning_form::inductor;
    made.scope.toolchain = toolchain();
    made.scope.backend_hash = all["backend_hash"];
    made.scope.tag = one["tag"];
    made.coordinate_descent = true;
    return made;
  }
  config host(const std::string& name) const { return of_host(directory / name, redis.url()); }
  autotune_record record_of(const json& one) const {
    auto record = parse_best_config(one["content"].get<std::string>());
    REQUIRE_MESSAGE(record, record.error().text());
    record->time_taken_ns = all["time_taken_ns"];
    return *record;
  }
};

// The best of this one candidate.
std::optional<chosen_config> best_of(const tunings& known, const json& one,
                                     const autotune_record& wanted) {
  auto best =
      known.best(one["filename"].get<std::string>(), {{wanted.config}, wanted.configs_hash, false});
  REQUIRE_MESSAGE(best, best.error().text());
  return *best;
}

} // namespace

TEST_CASE_FIXTURE(fixture, "what Inductor has stored is found under its keys") {
  const other_program inductor(redis);
  for (const auto& one : all["records"])
    inductor.set(one["remote_name"], one["content"]);
  runtime rt(host("here"));
  for (const auto& one : all["records"]) {
    CAPTURE(one["filename"].get<std::string>());
    const auto known = tunings::open(rt, settings(one)).value();
    const auto wanted = record_of(one);
    const auto best = best_of(known, one, wanted);
    REQUIRE(best);
    CHECK(best->config.arguments == wanted.config.arguments);
    CHECK(best->config.num_warps == wanted.config.num_warps);
    CHECK(best->config.num_stages == wanted.config.num_stages);
    CHECK(best->config.found_by_coordesc == wanted.config.found_by_coordesc);
    CHECK(best->config.num_consumer_groups.value_or(0) ==
          wanted.config.num_consumer_groups.value_or(0));
    CHECK(best->config.num_buffers_warp_spec.value_or(0) ==
          wanted.config.num_buffers_warp_spec.value_or(0));
  }
}

TEST_CASE_FIXTURE(fixture, "what Hearth stores is what Inductor would have stored") {
  {
    runtime rt(host("here"));
    for (const auto& one : all["records"])
      REQUIRE(tunings::open(rt, settings(one))
                  ->save(one["filename"].get<std::string>(), record_of(one)));
  }
  const other_program inductor(redis);
  for (const auto& one : all["records"]) {
    CAPTURE(one["filename"].get<std::string>());
    const auto stored = inductor.get(one["remote_name"]);
    REQUIRE(stored != "");
    CHECK(json::parse(stored) == json::parse(one["content"].get<std::string>()));
    // Inductor decodes ASCII.
    CHECK(std::all_of(stored.begin(), stored.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  }
}

TEST_CASE_FIXTURE(fixture, "Inductor's names of files on disk are Hearth's names of tunings") {
  for (const auto& one : all["records"])
    CHECK(
        local_name(prepared_key(one["filename"].get<std::string>(), one["tag"].get<std::string>()),
                   toolchain()) == one["local_name"]);
}

TEST_CASE_FIXTURE(fixture,
                  "a tuning that Inductor has is found by the next host without a server") {
  const auto& one = all["records"][0];
  const auto wanted = record_of(one);
  other_program(redis).set(one["remote_name"], one["content"]);
  {
    runtime rt(host("here"));
    CHECK(best_of(*tunings::open(rt, settings(one)), one, wanted));
  }
  redis.kill();
  runtime rt(host("here"));
  CHECK(best_of(*tunings::open(rt, settings(one)), one, wanted));
}

TEST_CASE_FIXTURE(fixture, "a value that is no record of Inductor's is a miss and is replaced") {
  const auto& one = all["records"][0];
  const auto wanted = record_of(one);
  const other_program inductor(redis);
  for (const std::string bytes : {"", "{", "null", "[]", "{\"XBLOCK\": 128}", "\xff\xfe", "17"}) {
    CAPTURE(bytes);
    inductor.set(one["remote_name"], bytes);
    auto only_remote = settings(one);
    only_remote.local = false;
    {
      runtime rt(host("here"));
      const auto known = tunings::open(rt, only_remote).value();
      CHECK_FALSE(best_of(known, one, wanted));
      REQUIRE(known.save(one["filename"].get<std::string>(), wanted));
      CHECK(best_of(known, one, wanted));
    }
    CHECK(json::parse(inductor.get(one["remote_name"])) ==
          json::parse(one["content"].get<std::string>()));
  }
}

TEST_CASE_FIXTURE(fixture, "an argument that Inductor could not read is refused and kept here") {
  const auto& one = all["records"][0];
  runtime rt(host("here"));
  const auto known = tunings::open(rt, settings(one)).value();
  auto odd = record_of(one);
  odd.config.arguments["num_warps"] = 8; // the name of another field
  CHECK(known.save("odd.py", odd).error().code() == errc::invalid_argument);
  odd.config.arguments = {{"RAW", binary{"\x01"}}};
  CHECK(known.save("raw.py", odd).error().code() == errc::unsupported);
  CHECK(best_of(known, {{"filename", "raw.py"}}, odd));
}

TEST_CASE_FIXTURE(fixture, "a removed tuning leaves nothing that Inductor would read") {
  const auto& one = all["records"][0];
  const other_program inductor(redis);
  inductor.set(one["remote_name"], one["content"]);
  {
    runtime rt(host("here"));
    REQUIRE(tunings::open(rt, settings(one)));
    auto& core = internals::core(rt);
    const cache_key at(open_inductor_tunings(core),
                       key(one["remote_name"].get<std::string>()).encoded());
    REQUIRE(engine::ask_actor<bool>(core, core.shards().owner_of(at), verb::erase_v, at));
  }
  CHECK(inductor.get(one["remote_name"]) == "");
}

TEST_CASE_FIXTURE(fixture, "Inductor's form is refused where entries have to be signed") {
  write_text(directory / "keys", signing_keys);
  std::filesystem::permissions(directory / "keys", std::filesystem::perms::owner_read);
  auto signing = host("here");
  signing.remote.signing_key_file = directory / "keys";
  runtime rt(signing);
  REQUIRE(rt.has_remote());
  CHECK(tunings::open(rt, settings(all["records"][0])).error().code() == errc::unsupported);
}

} // namespace inductor_test
