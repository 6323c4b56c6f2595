// What `hearth stats` says of the compiles of `hearth cc`.
#include "tests/support/action_bench.hpp"

#include <cstdlib>
#include <sys/wait.h>

namespace cc_counts_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct counted_compiles : action_bench {
  counted_compiles() {
    ::setenv("HEARTH_STORE", store.c_str(), 1);
    write("a.c", "int f(void) { return 1; }\n");
  }
  ~counted_compiles() { ::unsetenv("HEARTH_STORE"); }

  int cc(const std::string& line) const {
    const auto all =
        "cd '" + folder.string() + "' && " HEARTH_FRONT " cc " + line + " > /dev/null 2>&1";
    return WEXITSTATUS(std::system(all.c_str()));
  }
  program_result stats(const words& options) const {
    words all{"stats", "--store", store};
    all.insert(all.end(), options.begin(), options.end());
    return run_hearth(all, logs);
  }
  auto counts() const { return stats({"--json"}).json().at("compiles"); }
};

} // namespace

TEST_CASE_FIXTURE(counted_compiles, "cc: compiles are counted by how they ended, and by reason") {
  CHECK(cc("gcc -c a.c -o a.o") == 0);
  CHECK(counts().at("misses") == 1);
  for (int i = 0; i < 3; ++i)
    CHECK(cc("gcc -c a.c -o a.o") == 0);
  CHECK(cc("gcc a.o -shared -o a.so") == 0);
  CHECK(cc("gcc -E a.c") == 0);
  CHECK(cc("gcc -E a.c") == 0);
  write("bad.c", "int f(void) { return }\n");
  CHECK(cc("gcc -c bad.c") == 1);
  write("dated.c", "const char* f(void) { return __DATE__; }\n");
  CHECK(cc("gcc -c dated.c") == 0);
  const auto all = counts();
  CHECK(all.at("hits") == 3);
  CHECK(all.at("hits_elsewhere") == 0);
  CHECK(all.at("misses") == 2);
  CHECK(all.at("saved_ms") > 0);
  CHECK(all.at("not_kept") == 1);
  CHECK(all.at("failed") == 1);
  CHECK(all.at("trouble") == 0);
  CHECK(all.at("uncached").size() == 2);
  CHECK(all.at("uncached").at("links") == 1);
  CHECK(all.at("uncached").at("preprocesses only") == 2);
  const auto table = stats({}).out;
  CHECK(table.find("3 of 5 (60.0%), 0 of them elsewhere") != std::string::npos);
  CHECK(table.find("not cached: preprocesses only  2\n") != std::string::npos);
  CHECK(stats({"--zero"}).status == 0);
  CHECK(counts().at("misses") == 0);
  CHECK(counts().at("uncached").empty());
}

TEST_CASE_FIXTURE(counted_compiles, "cc: it says why a compile would be found or not") {
  write("a.c", "#include \"x.h\"\nint f(void) { return X; }\n");
  write("x.h", "#define X 1\n");
  const auto explain = [&](const std::string& line) {
    const auto out = logs / "explain.out";
    const auto all = "cd '" + folder.string() + "' && " HEARTH_FRONT " cc --explain " + line +
                     " > '" + out.string() + "'";
    const int ended = std::system(all.c_str());
    return std::to_string(WEXITSTATUS(ended)) + " " + file_text(out);
  };
  const std::string compile = "gcc -c a.c -o a.o";
  CHECK(explain(compile).starts_with("1 miss: no result of this command"));
  CHECK_FALSE(fs::exists(folder / "a.o"));
  CHECK(cc(compile) == 0);
  CHECK(explain(compile).starts_with("0 hit: "));
  write("x.h", "#define X 22\n");
  CHECK(explain(compile).find("\n  x.h changed\n") != std::string::npos);
  CHECK(explain("gcc a.c -o a") == "1 not cached: links\n");
  CHECK(explain("gcc -c a.c -save-temps") == "1 not cached: saves temporary files (-save-temps)\n");
  CHECK(explain("").starts_with("2 "));
}

TEST_CASE_FIXTURE(counted_compiles, "cc: options of Hearth stand before the compiler") {
  const auto other = (folder / "other store").string();
  const auto run = [&](const std::string& line) {
    return cc(line.starts_with("gcc") ? line : "--store '" + other + "' " + line);
  };
  CHECK(run("gcc -c a.c -o a.o") == 0);
  CHECK_FALSE(fs::exists(other));
  CHECK(run("--verbose gcc -c a.c -o b.o") == 0);
  CHECK(fs::exists(folder / "b.o"));
  CHECK(fs::exists(other));
  CHECK(run("--explain gcc -c a.c -o b.o") == 0);
  CHECK(run("--explain gcc -c a.c -DX -o b.o") == 1);
  CHECK(run("") == 2);
}

TEST_CASE_FIXTURE(counted_compiles, "cc: a file in the place of the counts changes no compile") {
  CHECK(cc("gcc -c a.c -o a.o") == 0);
  const auto place = fs::path(store) / "compiles.count";
  for (const auto* other : {"", "text", "a text that is as long as a file of counts could be"}) {
    CAPTURE(std::string(other));
    write_text(place, std::string(other).append(2000, 'x').substr(0, *other ? 2000 : 0));
    CHECK(cc("gcc -c a.c -o a.o") == 0);
    CHECK(stats({"--json"}).status == 0);
  }
  fs::remove(place);
  fs::create_symlink("/dev/full", place);
  CHECK(cc("gcc -c a.c -o a.o") == 0);
  CHECK(counts().at("hits") == 0);
  CHECK(stats({"--zero"}).status == 3);
  fs::remove(place);
  fs::create_directory(place);
  CHECK(cc("gcc -c a.c -o a.o") == 0);
  CHECK(counts().at("hits") == 0);
}

TEST_CASE_FIXTURE(counted_compiles, "cc: explain --last tells why the last compile was not found") {
  const auto last = [&] { return run_hearth({"explain", "--last", "--store", store}, logs); };
  CHECK(last().status == 1);
  write("a.h", "#define ONE 1\n");
  write("a.c", "#include \"a.h\"\nint f(void) { return ONE; }\n");
  CHECK(cc("gcc -c a.c -o a.o") == 0);
  write("a.h", "#define ONE 2\n");
  CHECK(cc("gcc -c a.c -o a.o") == 0);
  const auto changed = last();
  CHECK(changed.status == 0);
  CHECK(changed.out.find("gcc a.o") != std::string::npos);
  CHECK(changed.out.find("a.h changed") != std::string::npos);
  CHECK(cc("gcc -c a.c -o a.o") == 0); // found: it has nothing to say
  CHECK(last().out == changed.out);
  CHECK(cc("gcc -O1 -c a.c -o a.o") == 0);
  CHECK(last().out.find("-O1") != std::string::npos);
}

} // namespace cc_counts_test
