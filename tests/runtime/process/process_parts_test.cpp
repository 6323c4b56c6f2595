#include "runtime/os/environment.hpp"
#include "runtime/os/signal_name.hpp"
#include "runtime/process/bounded_output.hpp"
#include "runtime/process/last_line.hpp"
#include "runtime/process/worker_path.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>

namespace process_parts_test {

using namespace hearth;
using namespace hearth::os;
using namespace hearth::process;

namespace {

// The text that is kept when `whole` comes in pieces of that size.
std::string kept(const std::string& whole, std::size_t limit, std::size_t piece) {
  bounded_output output(limit);
  for (std::size_t at = 0; at < whole.size(); at += piece)
    output.append(std::string_view(whole).substr(at, piece));
  return output.text();
}

// Changes HEARTH_WORKER and restores it at the end of the scope.
class worker_variable {
public:
  explicit worker_variable(const std::string& to) {
    if (const char* now = std::getenv("HEARTH_WORKER")) before_ = now;
    ::setenv("HEARTH_WORKER", to.c_str(), 1);
  }
  ~worker_variable() {
    before_.empty() ? ::unsetenv("HEARTH_WORKER") : ::setenv("HEARTH_WORKER", before_.c_str(), 1);
  }

private:
  std::string before_;
};

} // namespace

TEST_CASE("output within its limit is kept whole") {
  const std::string whole = "a line\nanother line\n";
  for (std::size_t piece = 1; piece <= whole.size(); ++piece) {
    CHECK(kept(whole, whole.size(), piece) == whole);
    CHECK(kept(whole, 1000, piece) == whole);
  }
  CHECK(kept("", 0, 1) == "");
}

TEST_CASE("output over its limit keeps both ends for pieces of any size") {
  std::string whole;
  for (int i = 0; i < 500; ++i)
    whole += std::to_string(i) + "\n";
  for (const std::size_t limit : {200, 201, 777, 1000, 1500}) {
    const auto text = kept(whole, limit, whole.size());
    CHECK(text.size() <= limit);
    CHECK(text.starts_with(whole.substr(0, limit / 2)));
    const auto note_end = text.find("left out ...]\n") + 14;
    REQUIRE(note_end < text.size());
    CHECK(whole.ends_with(text.substr(note_end)));
    CHECK(text.size() - note_end > limit / 2 - 70);
    for (const std::size_t piece : {1, 7, 100, 999})
      CHECK(kept(whole, limit, piece) == text);
  }
}

TEST_CASE("the note contains the number of bytes left out") {
  const auto text = kept(std::string(1000, 'a') + std::string(1000, 'b'), 400, 33);
  const auto left = std::ranges::count(text, 'b') - std::ranges::count(std::string("bytes"), 'b');
  const auto right = std::ranges::count(text, 'a');
  CHECK(text.find("[... " + std::to_string(2000 - left - right) + " bytes left out ...]") !=
        text.npos);
}

TEST_CASE("limits too small for a note keep the beginning") {
  std::string whole;
  for (int i = 0; i < 500; ++i)
    whole += static_cast<char>('!' + i % 90);
  for (std::size_t limit = 0; limit < 129; ++limit) {
    const auto text = kept(whole, limit, 9);
    CHECK(text.size() <= limit);
    CHECK(text.size() >= limit / 2);
    CHECK(whole.starts_with(text));
  }
  const auto with_note = kept(whole, 129, 9); // the smallest limit with a note
  CHECK(with_note.size() <= 129);
  CHECK(with_note.find(" bytes left out ...]") != std::string::npos);
}

TEST_CASE("the last line is one line without characters that a terminal would act on") {
  CHECK(last_line("") == "");
  CHECK(last_line("\n \n\t") == "");
  CHECK(last_line("only") == "only");
  CHECK(last_line("first\nlast\n\n") == "last");
  CHECK(last_line("first\rlast\r\n") == "last");
  CHECK(last_line("red \x1b[31m text") == "red  [31m text");
  CHECK(last_line(std::string(1000, 'x')).size() == 200);
}

TEST_CASE("signals have their names") {
  CHECK(signal_name(SIGSEGV) == "SIGSEGV");
  CHECK(signal_name(SIGABRT) == "SIGABRT");
  CHECK(signal_name(1000) == "signal 1000");
}

TEST_CASE("a variable is found by its whole name") {
  const std::vector<std::string> environment{"PATHS=wrong", "PATH=right", "EMPTY=", "PATH=late"};
  CHECK(find_variable(environment, "PATH") == std::string("right"));
  CHECK(find_variable(environment, "EMPTY") == std::string(""));
  CHECK(find_variable(environment, "PAT") == nullptr);
}

TEST_CASE("the worker is found and a wrong path to it is an error") {
  CHECK(std::filesystem::exists(find_worker().value()));
  CHECK(find_worker("/bin/sh").value() == "/bin/sh");
  const auto wrong = find_worker("/nowhere/worker");
  CHECK(wrong.error().code() == errc::not_found);
  CHECK(wrong.error().text().find("/nowhere/worker") != std::string::npos);
  {
    const worker_variable variable("/bin/sh");
    CHECK(find_worker().value() == "/bin/sh");
    CHECK(find_worker("/bin/true").value() == "/bin/true");
  }
  {
    const worker_variable variable("/nowhere/worker");
    CHECK(find_worker().error().text().find("HEARTH_WORKER") != std::string::npos);
  }
}

} // namespace process_parts_test
