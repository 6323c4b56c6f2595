// Maintenance of a store from the command line, also of a damaged one and while others write to it.
#include "messages/hash.hpp"
#include "messages/key.hpp"
#include "storage/disk/store.hpp"
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/disk_blocks.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/lacks_root.hpp"
#include "tests/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <map>
#include <pty.h>
#include <unistd.h>

namespace upkeep_test {

using namespace hearth::test;
namespace fs = std::filesystem;
namespace storage = hearth::storage;

namespace {

struct kept_store {
  program_result hearth(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--store", store.string()});
    return run_hearth(std::move(arguments), directory.path());
  }
  storage::store_options options() const {
    auto made = small_store(store);
    made.segment_bytes = 256u << 10;
    return made;
  }
  void fill(int entries, std::size_t bytes = 4000) const {
    auto opened = open_store(options());
    for (int i = 0; i < entries; ++i)
      REQUIRE(insert(*opened, hearth::key("k" + std::to_string(i)).encoded(),
                     noise(bytes, static_cast<std::uint64_t>(i))) ==
              storage::write_status::inserted);
  }
  fs::path segment() const { return store / "v1/shards/00/000001.seg"; }

  temporary_directory directory;
  fs::path store = directory / "store";
};

void flip(const fs::path& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(byte);
}

} // namespace

TEST_CASE_FIXTURE(kept_store,
                  "commands that only look create no store and report that there is none") {
  for (const bool is_empty : {false, true}) {
    if (is_empty) fs::create_directory(store);
    for (const std::string command : {"list", "stats", "verify", "clear"})
      check_error(hearth({command}), 3, "no store");
    check_error(hearth({"verify", "--repair"}), 3, "no store");
    check_error(hearth({"evict", "--to", "0"}), 3, "no store");
    check_error(hearth({"get", "k"}), 1, "no entry");
    CHECK(hearth({"erase", "k"}).out == "absent\n");
    CHECK(fs::exists(store) == is_empty);
    CHECK((!is_empty || fs::is_empty(store)));
  }
}

TEST_CASE_FIXTURE(kept_store, "verify finds nothing wrong with an intact store") {
  fill(100);
  const auto said = hearth({"verify"});
  CHECK(said.status == 0);
  CHECK(said.err.empty());
  CHECK(said.out.starts_with("intact: "));
  const auto report = hearth({"verify", "--json"}).json();
  CHECK(report.at("intact") == true);
  CHECK(report.at("records") >= 100);
  CHECK(report.at("findings").empty());
  const auto repaired = hearth({"verify", "--repair", "--json"});
  CHECK(repaired.status == 0);
  CHECK(repaired.json().at("repaired") == 0);
}

TEST_CASE_FIXTURE(kept_store, "verify names the damage and repair leaves an intact store") {
  fill(100);
  flip(segment(), 20'000);
  const auto found = hearth({"verify"});
  CHECK(found.status == 1);
  REQUIRE(lines_of(found.out).size() >= 2);
  CHECK(lines_of(found.out).front().find("000001.seg at ") != std::string::npos);
  CHECK(lines_of(found.out).back().starts_with("not intact: "));
  CHECK(hearth({"verify"}).status == 1); // verify alone repaired nothing
  const auto report = hearth({"verify", "--json"});
  CHECK(report.status == 1);
  CHECK(report.json().at("intact") == false);
  CHECK(report.json().at("damaged") == 1);
  const auto repaired = hearth({"verify", "--repair", "--json"});
  CHECK(repaired.status == 0);
  CHECK(repaired.json().at("intact") == true);
  CHECK(repaired.json().at("repaired") >= 1);
  CHECK(repaired.json().at("findings").size() >= 1);
  CHECK(hearth({"verify"}).status == 0);
  CHECK(hearth({"list", "--json"}).json().size() == 99);
}

TEST_CASE_FIXTURE(kept_store, "a store whose head is gone is not intact until it is repaired") {
  fill(100);
  fs::resize_file(store / "v1/shards/00/head", 10);
  CHECK(hearth({"verify"}).status == 1);
  const auto repaired = hearth({"verify", "--repair", "--json"});
  CHECK(repaired.status == 0);
  CHECK(repaired.json().at("rebuilt_shards") == 1);
  CHECK(hearth({"verify"}).status == 0);
  CHECK(hearth({"list", "--json"}).json().size() == 100);
}

// The index is rebuilt from the records, as after a power loss; no entry is lost.
TEST_CASE_FIXTURE(kept_store, "a store whose index is cut is intact and its index is rebuilt") {
  fill(100);
  const auto whole = hearth({"verify", "--json"}).json();
  CHECK(whole.at("rebuilt_shards") == 0);
  fs::resize_file(store / "v1/shards/00/index.1", 1000);
  for (const auto& arguments : {std::vector<std::string>{"verify", "--json"},
                                std::vector<std::string>{"verify", "--repair", "--json"}}) {
    const auto found = hearth(arguments);
    CHECK(found.status == 0);
    CHECK(found.json().at("intact") == true);
    CHECK(found.json().at("records") == whole.at("records"));
    CHECK(found.json().at("rebuilt_shards") == 1);
  }
  CHECK(hearth({"verify", "--json"}).json().at("rebuilt_shards") == 0);
  CHECK(hearth({"list", "--json"}).json().size() == 100);
}

TEST_CASE_FIXTURE(kept_store, "a head that is cut short is a finding of verify") {
  fill(10);
  fs::resize_file(store / "v1/shards/00/head", 10);
  const auto found = hearth({"verify", "--json"});
  CHECK(found.status == 1);
  CHECK(found.json().at("intact") == false);
  CHECK(found.json().at("findings").size() == 1);
}

TEST_CASE_FIXTURE(kept_store, "evict understands sizes and keeps to them") {
  fill(1000, 6000);
  CHECK(blocks_under(store) > 6'000'000);
  const auto half = hearth({"evict", "--to", "2.5M", "--json"});
  CHECK(half.status == 0);
  CHECK(half.json().at("status") == "evicted");
  CHECK(half.json().at("freed_bytes") > 3'000'000);
  CHECK(half.json().at("disk_bytes") <= 5u << 19);
  CHECK(blocks_under(store) <= (5u << 19) + (16u << 10)); // allows for the store's small files
  CHECK(hearth({"verify"}).status == 0);
  CHECK(hearth({"list", "--json"}).json().size() > 300);
  const auto nothing = hearth({"evict", "--to", "1TiB"});
  CHECK(nothing.status == 0);
  CHECK(nothing.out.starts_with("evicted: 0 B freed"));
  CHECK(hearth({"evict", "--to", "1000000"}).status == 0);
  CHECK(blocks_under(store) <= 1'000'000 + (16u << 10));
  CHECK(hearth({"evict", "--to", "0"}).status == 0);
  CHECK(hearth({"list", "--json"}).json().empty());
  CHECK(blocks_under(store) < 100'000);
}

TEST_CASE_FIXTURE(kept_store, "a bad size is one line and status 2") {
  fill(1);
  for (const std::string size : {"", "much", "-5", "5X", "1.5", ".5G", "1.G", "1..5G", "1e9",
                                 "10 0", "99999999999999999999", "20000000TiB"})
    check_error(hearth({"evict", "--to", size}), 2, size == "-5" ? "" : "--to");
  check_error(hearth({"evict"}), 2, "--to");
  CHECK(hearth({"list", "--json"}).json().size() == 1);
}

TEST_CASE_FIXTURE(kept_store, "evict keeps entries that were hit") {
  fill(1000, 6000);
  for (int round = 0; round < 2; ++round)
    for (const std::string key : {"k3", "k7"})
      CHECK(hearth({"get", key, "--cache", "graphs", "-o", "/dev/null"}).status == 0);
  CHECK(hearth({"evict", "--to", "2M"}).status == 0);
  CHECK(hearth({"get", "k3", "--cache", "graphs"}).status == 0);
  CHECK(hearth({"get", "k4", "--cache", "graphs"}).status == 1);
}

TEST_CASE_FIXTURE(kept_store, "clear drops every entry and frees the disk space") {
  fill(3000, 1000);
  const auto said = hearth({"clear", "--json"});
  CHECK(said.status == 0);
  CHECK(said.json().at("status") == "cleared");
  CHECK(said.json().at("freed_bytes") > 3'000'000);
  CHECK(hearth({"list", "--json"}).json().empty());
  CHECK(hearth({"stats", "--json"}).json().at("entries") == 0);
  CHECK(blocks_under(store) < 100'000);
  CHECK(hearth({"clear"}).out.starts_with("cleared: "));
  CHECK(hearth({"verify"}).status == 0);
  fill(10);
  CHECK(hearth({"list", "--json"}).json().size() == 10);
}

TEST_CASE_FIXTURE(kept_store, "commands work while others write") {
  fill(100);
  int stop[2];
  int started[2];
  REQUIRE(::pipe2(stop, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(started, O_CLOEXEC) == 0);
  std::vector<std::unique_ptr<child_process>> writers;
  for (int writer = 0; writer < 2; ++writer)
    writers.push_back(std::make_unique<child_process>([&, writer] {
      ::close(stop[1]);
      ::fcntl(stop[0], F_SETFL, O_NONBLOCK);
      auto opened = open_store(options());
      char byte = 0;
      for (std::uint64_t i = 0; ::read(stop[0], &byte, 1) < 0; ++i) { // until the pipe is closed
        const auto key = hearth::key("w" + std::to_string(writer) + "." + std::to_string(i % 500));
        const auto text = noise(i % 50 == 0 ? 200'000 : 3000, i);
        if (put(*opened, key.encoded(), text) != storage::write_status::stored) return 1;
        if (i % 7 == 0 && erase(*opened, key.encoded()) == storage::write_status::failed) return 2;
        const auto back = text_of(*opened, key.encoded());
        if (back != text && back != "<miss>") return 3;
        if (i == 0 && ::write(started[1], "s", 1) != 1) return 4;
      }
      return 0;
    }));
  ::close(stop[0]);
  ::close(started[1]);
  for (std::size_t writer = 0; writer < writers.size(); ++writer) {
    char byte = 0;
    REQUIRE(::read(started[0], &byte, 1) == 1);
  }
  ::close(started[0]);
  for (int round = 0; round < (is_sanitized ? 2 : 3); ++round) {
    for (const std::string command : {"list", "stats", "verify"}) {
      const auto said = hearth({command, "--json"});
      CHECK_MESSAGE(said.status == 0, command, ": ", said.out, said.err);
      CHECK(said.err.empty());
      said.json();
    }
    CHECK(hearth({"evict", "--to", "3M"}).status == 0);
    CHECK(hearth({"verify", "--repair", "--json"}).json().at("intact") == true);
    if (round == 1) CHECK(hearth({"clear"}).status == 0);
  }
  ::close(stop[1]);
  for (auto& writer : writers)
    CHECK(writer->wait() == 0);
  const auto report = hearth({"verify", "--json"});
  CHECK_MESSAGE(report.status == 0, report.out);
}

TEST_CASE_FIXTURE(kept_store, "a user with read access only looks and changes nothing" *
                                  doctest::skip(lacks_root())) {
  fill(20);
  constexpr uid_t nobody = 65534;
  fs::permissions(directory.path(), fs::perms(0711));
  for (const auto& one : fs::recursive_directory_iterator(store)) {
    REQUIRE(::chown(one.path().c_str(), nobody, nobody) == 0);
    fs::permissions(one.path(), one.is_directory() ? fs::perms(0500) : fs::perms(0400));
  }
  REQUIRE(::chown(store.c_str(), nobody, nobody) == 0);
  fs::permissions(store, fs::perms(0500));
  const int program = ::open(HEARTH_RUNTIME, O_RDONLY);
  REQUIRE(program >= 0);
  const auto as_nobody = [&](std::vector<std::string> arguments) {
    const auto out = directory / "nobody.out";
    const auto err = directory / "nobody.err";
    arguments.insert(arguments.begin(), "hearth");
    arguments.insert(arguments.end(), {"--store", store.string()});
    child_process child([&]() -> int {
      std::vector<char*> argv;
      for (auto& one : arguments)
        argv.push_back(one.data());
      argv.push_back(nullptr);
      ::dup2(::open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), 1);
      ::dup2(::open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), 2);
      if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) return 99;
      ::fexecve(program, argv.data(), environ);
      return 98;
    });
    const int status = child.wait();
    return program_result{status, file_text(out), file_text(err)};
  };
  CHECK(as_nobody({"list", "--json"}).json().size() == 20);
  CHECK(as_nobody({"stats", "--json"}).json().at("entries") == 20);
  CHECK(as_nobody({"verify", "--json"}).json().at("intact") == true);
  for (const auto& change : std::vector<std::vector<std::string>>{
           {"verify", "--repair"}, {"evict", "--to", "0"}, {"clear"}})
    check_error(as_nobody(change), 3, "ermission");
  ::close(program);
  fs::permissions(store, fs::perms(0700)); // so that the test can remove it
  REQUIRE(::chown(store.c_str(), 0, 0) == 0);
  check_error(hearth({"list"}), 3, "another user"); // a store of another user is refused
}

TEST_CASE_FIXTURE(kept_store, "verify shows its progress on a terminal and removes it") {
  fill(100);
  int master = -1;
  int slave = -1;
  REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
  const auto out = directory / "out";
  child_process child([&]() -> int {
    ::dup2(::open(out.c_str(), O_CREAT | O_WRONLY, 0600), 1);
    ::dup2(slave, 2);
    ::execl(HEARTH_PROGRAM, "hearth", "verify", "--store", store.c_str(), nullptr);
    return 98;
  });
  ::close(slave);
  std::string shown;
  char text[4096];
  for (ssize_t got = 0; (got = ::read(master, text, sizeof text)) > 0;)
    shown.append(text, static_cast<std::size_t>(got));
  CHECK(child.wait() == 0);
  ::close(master);
  CHECK(shown.find("checking [") != std::string::npos);
  CHECK(shown.ends_with("\r\033[K"));
  CHECK(file_text(out).starts_with("intact: "));
}

TEST_CASE_FIXTURE(kept_store, "list shows one cache alone and refuses an invalid name") {
  fill(3);
  const auto one = directory / "one";
  write_text(one, "1");
  CHECK(hearth({"insert", "other", one.string(), "--cache", "second"}).status == 0);
  CHECK(hearth({"list", "--json", "--cache", "graphs"}).json().size() == 3);
  CHECK(hearth({"list", "--json", "--cache", "second"}).json().size() == 1);
  CHECK(hearth({"list", "--json", "--cache", "third"}).json().empty());
  check_error(hearth({"list", "--cache", "../x"}), 2, "../x");
}

TEST_CASE_FIXTURE(kept_store, "no command touches a store of another format, and each says so") {
  fill(3);
  const auto value = (directory / "value").string();
  write_text(value, "bytes");
  const auto bundle = (directory / "some.bundle").string();
  REQUIRE(hearth({"bundle", "export", bundle}).status == 0);
  const auto files = [&] {
    std::map<std::string, std::string> all;
    for (const auto& one : fs::recursive_directory_iterator(store))
      all[one.path().string()] = one.is_regular_file() ? file_text(one.path()) : "folder";
    return all;
  };
  const auto description = file_text(store / "v1/store");
  for (const std::uint32_t format : {0u, 2u, 77u}) {
    CAPTURE(format);
    auto other = description;
    std::memcpy(other.data() + 8, &format, sizeof format);
    const auto sum = hearth::fast_hash(std::string_view(other).substr(0, 56));
    std::memcpy(other.data() + 56, &sum, sizeof sum);
    for (std::size_t copy = 1024; copy < other.size(); copy += 1024)
      other.replace(copy, 64, other, 0, 64);
    write_text(store / "v1/store", other);
    const auto before = files();
    const std::vector<std::vector<std::string>> commands{{"get", "k0"},
                                                         {"insert", "new", value},
                                                         {"put", "k0", value},
                                                         {"erase", "k0"},
                                                         {"list"},
                                                         {"stats"},
                                                         {"verify"},
                                                         {"verify", "--repair"},
                                                         {"evict", "--to", "1MiB"},
                                                         {"clear"},
                                                         {"bundle", "import", bundle},
                                                         {"bundle", "export", value}};
    for (const auto& command : commands) {
      CAPTURE(command.front());
      check_error(hearth(command), 3, "is of format " + std::to_string(format) + ",");
      CHECK(files() == before);
    }
  }
  // The store itself is as it was.
  write_text(store / "v1/store", description);
  CHECK(hearth({"verify"}).status == 0);
  CHECK(hearth({"list", "--json"}).json().size() == 3);
}

} // namespace upkeep_test
