// FIFOs, sockets and devices where files belong: each command refuses them at once, by what they
// are.
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace special_files_test {

using namespace hearth::test;
namespace fs = std::filesystem;
using words = std::vector<std::string>;

namespace {

constexpr std::chrono::seconds hang{60};

// A folder with a FIFO, a socket, a file and a store that has the key `k`.
struct special_folder {
  special_folder() {
    fs::create_directory(folder);
    write_text(folder / "file", "one value");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    make_socket((folder / "socket").string());
    REQUIRE(hearth({"put", "k", "file"}).status == 0);
  }

  static void make_socket(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::close(made);
  }
  program_result hearth(words arguments) const {
    arguments.insert(arguments.begin(), {"--store", (directory / "store").string()});
    return program_run(std::move(arguments), directory.path(), folder).wait_at_most(hang);
  }
  // As a shell runs it; HEARTH is the program with its store.
  std::string shell(const std::string& line) const {
    const auto out = (directory / "shell.out").string();
    const auto all = "HEARTH='" HEARTH_PROGRAM " --store " + (directory / "store").string() +
                     "'; cd '" + folder.string() + "'; exec >'" + out + "' 2>&1; " + line;
    CHECK(std::system(all.c_str()) == 0);
    return file_text(out);
  }

  temporary_directory directory;
  fs::path folder = directory / "work";
};

// The files of a store that its commands open first.
constexpr auto files_of_a_store = {"v1/store", "v1/shards/00/head"};

} // namespace

TEST_CASE_FIXTURE(special_folder, "a FIFO or a socket in the place of a file of the store") {
  const auto store = directory / "store";
  for (const std::string one : files_of_a_store) {
    for (const std::string kind : {"fifo", "socket"}) {
      CAPTURE(one);
      CAPTURE(kind);
      fs::rename(store / one, directory / "aside");
      fs::rename(folder / kind, store / one);
      for (const auto& arguments :
           std::vector<words>{{"get", "k"}, {"put", "k", "file"}, {"list"}, {"verify"}})
        check_error(hearth(arguments), 3, kind == "fifo" ? "is a FIFO" : "is a socket");
      CHECK(hearth({"run", "--", "echo", "passed"}).out == "passed\n");
      fs::rename(store / one, folder / kind);
      fs::rename(directory / "aside", store / one);
    }
  }
  CHECK(hearth({"verify"}).status == 0);
}

TEST_CASE_FIXTURE(special_folder, "a FIFO in the place of a segment is a miss and is found") {
  const auto store = directory / "store";
  for (const std::string shard : {"00", "01", "02", "03"}) {
    const auto segment = store / "v1/shards" / shard / "000001.seg";
    if (!fs::remove(segment)) continue;
    REQUIRE(::mkfifo(segment.c_str(), 0600) == 0);
  }
  check_error(hearth({"get", "k"}), 1, "no entry");
  CHECK(hearth({"verify"}).status == 1);
}

TEST_CASE_FIXTURE(special_folder, "a FIFO or a socket where a command reads or writes a file") {
  for (const std::string one : {"fifo", "socket"}) {
    const auto what = one == "fifo" ? "is a FIFO" : "is a socket";
    for (const auto& arguments : std::vector<words>{
             {"put", "k2", one},
             {"insert", "k2", one},
             {"put", "k2", "file", "--details", one},
             {"get", "k", "-o", one},
             {"key", one},
             {"explain", one, "file"},
             {"graph", one},
             {"compile", one},
             {"bundle", "export", one},
             {"bundle", "import", one},
             {"bundle", "list", one},
             {"bundle", "export", "out", "--signing-keys", one},
             {"--config", one, "list"},
         }) {
      CAPTURE(arguments);
      check_error(hearth(arguments), 2, what);
    }
    for (const auto& options :
         std::vector<words>{{"--in", one}, {"--out", one}, {"--trace", one}, {"--metrics", one}}) {
      words arguments{"run"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      arguments.insert(arguments.end(), {"--", "true"});
      CAPTURE(arguments);
      check_error(hearth(arguments), 125, what);
    }
  }
}

TEST_CASE_FIXTURE(special_folder, "a command that makes a FIFO as its output fails and ends") {
  check_error(hearth({"run", "--out", "made", "--", "mkfifo", "made"}), 125, "is a FIFO");
  CHECK_FALSE(fs::exists(folder / "made"));
  // A FIFO as the dependency file: the result is passed on, and not kept.
  CHECK(hearth({"run", "--depfile", "made.d", "--", "mkfifo", "made.d"}).status == 0);
}

TEST_CASE_FIXTURE(special_folder, "a FIFO within an input folder is no part of the key") {
  fs::create_directory(folder / "inputs");
  REQUIRE(::mkfifo((folder / "inputs/fifo").c_str(), 0600) == 0);
  write_text(folder / "inputs/file", "one value");
  const auto first = hearth({"run", "--in", "inputs", "--", "date", "+%N"});
  CHECK(first.status == 0);
  fs::remove(folder / "inputs/fifo");
  CHECK(hearth({"run", "--in", "inputs", "--", "date", "+%N"}).out == first.out); // a hit
}

TEST_CASE_FIXTURE(special_folder, "devices that would never end are refused, /dev/null is empty") {
  check_error(hearth({"put", "k", "/dev/zero"}), 2, "is a character device");
  check_error(hearth({"bundle", "import", "/dev/zero"}), 2, "is a character device");
  check_error(hearth({"run", "--in", "/dev/zero", "--", "true"}), 125, "is a character device");
  check_error(hearth({"run", "--out", "/dev/null", "--", "true"}), 125, "is a character device");
  CHECK(hearth({"put", "empty", "/dev/null"}).status == 0);
  CHECK(hearth({"get", "k", "-o", "/dev/null"}).status == 0);
}

TEST_CASE_FIXTURE(special_folder, "pipes that a shell opens are read and written") {
  CHECK(shell("echo piped | $HEARTH put p - && $HEARTH get p") == "stored\npiped\n");
  CHECK(shell("echo again | $HEARTH put p /dev/stdin && $HEARTH get p") == "stored\nagain\n");
  CHECK(shell("$HEARTH get k -o /dev/stdout | cat") == "one value");
  CHECK(shell("$HEARTH get k -o /dev/fd/3 3>copy; cat copy") == "one value");
  CHECK(fs::is_symlink("/dev/stdout"));
}

} // namespace special_files_test
