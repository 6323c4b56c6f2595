#include "tests/support/temporary_directory.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace hearth::test {
namespace {

std::mutex guard;
std::vector<std::filesystem::path> made; // created since the test case began

// Removes the directories when a test case ends and its result is known.
struct cleaner : doctest::IReporter {
  explicit cleaner(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    const std::lock_guard lock(guard);
    for (const auto& path : made) {
      std::error_code ignored;
      if (stats.testCaseSuccess)
        std::filesystem::remove_all(path, ignored);
      else
        std::cerr << "kept for a look: " << path.string() << '\n';
    }
    made.clear();
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("temporary-directories", 1, cleaner);

} // namespace

temporary_directory::temporary_directory() {
  auto pattern = (std::filesystem::temp_directory_path() / "hearth-test-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("cannot make " + pattern);
  path_ = pattern;
  const std::lock_guard lock(guard);
  made.push_back(path_);
}

temporary_directory::~temporary_directory() = default;

} // namespace hearth::test
