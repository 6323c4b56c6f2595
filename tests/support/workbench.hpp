// A folder with sources, real compilers and a memo in a map, shared by the tests of toolchains and
// includes.
#pragma once

#include "runtime/fingerprints/files/file_stamp.hpp"
#include "runtime/fingerprints/includes/includes.hpp"
#include "runtime/fingerprints/toolchain/toolchain.hpp"
#include "tests/support/files.hpp"
#include "tests/support/simple_runner.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hearth::test {

class map_memo : public fingerprints::fact_memo {
public:
  std::optional<std::string> load(std::string_view key) override {
    const std::lock_guard lock(guard_);
    const auto at = entries.find(std::string(key));
    return at == entries.end() ? std::nullopt : std::optional(at->second);
  }
  void save(std::string_view key, std::string_view bytes) override {
    const std::lock_guard lock(guard_);
    entries.insert_or_assign(std::string(key), std::string(bytes));
  }

  std::map<std::string, std::string> entries;

private:
  std::mutex guard_;
};

/// A plan's folder. Each `identify` and `scan` is a separate run: it reads the files again and
/// keeps only the memo.
class workbench {
public:
  void write(const std::filesystem::path& name, const std::string& text) const {
    write_text(folder / name, text);
  }
  void write_program(const std::filesystem::path& name, const std::string& text) const {
    write(name, text);
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  }

  // What was written in the same tick of the files' clock may have changed meanwhile, and is not
  // remembered.
  static void let_files_age() {
    const auto now = fingerprints::file_clock_ns();
    while (fingerprints::file_clock_ns() == now)
      std::this_thread::yield();
  }

  expected<fingerprints::toolchain> identify() {
    let_files_age();
    fingerprints::file_view files;
    return fingerprints::identify({compiler, folder.string(), flags, variables}, files, runner,
                                  memo, {});
  }
  expected<fingerprints::source_closure> scan(const std::string& source,
                                              const std::vector<fingerprints::macro>& macros = {}) {
    let_files_age();
    fingerprints::file_view files;
    const auto toolchain = fingerprints::identify({compiler, folder.string(), flags, variables},
                                                  files, runner, memo, {});
    REQUIRE(toolchain);
    fingerprints::include_scanner scanner(*toolchain, files, runner, memo,
                                          std::chrono::seconds(60));
    const auto closure = scanner.closure_of(source, macros);
    if (!closure) return fail(closure.error());
    return **closure;
  }

  temporary_directory directory;
  std::filesystem::path folder = directory.path();
  std::string compiler = "g++";
  std::vector<std::string> flags = {"-O1", "-std=c++20"};
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin"};
  simple_runner runner;
  map_memo memo;
};

inline bool has_clang() { return std::filesystem::exists("/usr/bin/clang++"); }

inline bool names(const fingerprints::source_closure& closure, const std::string& name) {
  return std::any_of(closure.files.begin(), closure.files.end(),
                     [&](const auto& file) { return file.name == name; });
}

} // namespace hearth::test
