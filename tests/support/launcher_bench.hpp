// `hearth cc` in a folder of its own, with its own store: what it makes is compared with what the
// compiler makes alone.
#pragma once

#include "tests/support/action_bench.hpp"

#include <cstdlib>
#include <sys/wait.h>

namespace hearth::test {

struct launcher_bench : action_bench {
  launcher_bench() {
    std::filesystem::copy_file(HEARTH_FRONT, alone);
    std::filesystem::create_symlink(HEARTH_FRONT, directory / "hearth-cc");
    ::setenv("HEARTH_STORE", store.c_str(), 1);
    write("a.c", "#include \"x.h\"\nint f(void) { return X; }\n");
    write("x.h", "#define X 1\n");
  }
  ~launcher_bench() { ::unsetenv("HEARTH_STORE"); }

  program_result shell(const std::string& line) const {
    const auto out = logs / "cc.out";
    const auto err = logs / "cc.err";
    const auto all = "cd '" + folder.string() + "' && { " + line + "; } > '" + out.string() +
                     "' 2> '" + err.string() + "' < /dev/null";
    const int ended = std::system(all.c_str());
    return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended), file_text(out),
            file_text(err)};
  }
  program_result cc(const std::string& line) const { return shell(HEARTH_FRONT " cc " + line); }
  // Compiles plainly and through Hearth, twice: all the same, and found the second time.
  void check(const std::string& line, const words& outputs) {
    CAPTURE(line);
    const auto right = shell(line);
    words bytes;
    for (const auto& name : outputs) {
      bytes.push_back(text(name));
      std::filesystem::remove(folder / name);
    }
    const auto names = files();
    for (int i = 0; i < 2; ++i) {
      const auto before = entries();
      const auto given = cc(line);
      CHECK(given.status == right.status);
      CHECK(given.out == right.out);
      CHECK(given.err == right.err);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        CHECK(text(outputs[k]) == bytes[k]);
        std::filesystem::remove(folder / outputs[k]);
      }
      CHECK(files() == names);
      if (i == 1) CHECK(entries() == before);
    }
  }
  // The number of entries that are stored: for each command a set of observations, and its results.
  std::size_t entries() const {
    if (!std::filesystem::exists(store)) return 0;
    return run_hearth({"list", "--store", store, "--cache", "results", "--json"}, logs)
        .json()
        .size();
  }

  std::filesystem::path alone = directory / "hearth";
};

} // namespace hearth::test
