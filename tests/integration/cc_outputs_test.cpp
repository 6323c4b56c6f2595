// `hearth cc`: compiles that write more than an object, or whose outputs' names are in their bytes.
#include "tests/support/launcher_bench.hpp"

#include <map>

namespace cc_outputs_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct outputs_bench : launcher_bench {
  outputs_bench() {
    write("a.c", "#include <stdio.h>\nint f(int x) { if (x > 3) puts(\"a\"); return x * 2; }\n");
    fs::create_directory(folder / "obj");
  }

  // The files below obj, each with its bytes.
  std::map<std::string, std::string> made() const {
    std::map<std::string, std::string> all;
    for (const auto& one : fs::directory_iterator(folder / "obj"))
      all.emplace(one.path().filename().string(), file_text(one.path()));
    return all;
  }
  void clear() const {
    fs::remove_all(folder / "obj");
    fs::create_directory(folder / "obj");
  }
  // Compiles once through Hearth and returns what was made, which is named as the compiler names
  // it.
  std::map<std::string, std::string> make(const std::string& line, bool is_found) const {
    CAPTURE(line);
    const auto before = entries();
    clear();
    const auto given = cc(line);
    CHECK_MESSAGE(given.status == 0, given.err);
    CHECK((entries() == before) == is_found);
    return made();
  }
};

words names_of(const std::map<std::string, std::string>& files) {
  words all;
  for (const auto& [name, bytes] : files)
    all.push_back(name);
  return all;
}

} // namespace

TEST_CASE_FIXTURE(outputs_bench, "cc: all that a compiler writes is found") {
  struct row {
    const char* options;
    bool is_repeatable; // the compiler writes the same bytes each time
  };
  for (const auto* compiler : {"gcc", "clang"})
    for (const auto& row :
         {row{"-g -gsplit-dwarf", true}, row{"-fstack-usage", true}, row{"--coverage", false},
          row{"-fprofile-generate", false}, row{"-g -gsplit-dwarf -fstack-usage -MD", true},
          row{"-ftest-coverage -fprofile-arcs -O1", false}, row{"-g0 -gsplit-dwarf", true},
          row{"-fverbose-asm -S", true}}) {
      const auto line = std::string(compiler) + " " + row.options + " -c a.c -o obj/a.o";
      CAPTURE(line);
      clear();
      REQUIRE(shell(line).status == 0);
      const auto plain = made();
      const auto first = make(line, false);
      CHECK(names_of(first) == names_of(plain));
      if (row.is_repeatable) CHECK(first == plain);
      CHECK(make(line, true) == first);
      CHECK(files() == words{"a.c", "obj", "x.h"});
    }
}

TEST_CASE_FIXTURE(outputs_bench, "cc: an output that a compile leaves out stays as it was") {
  const std::string line = "clang -gsplit-dwarf -c a.c -o obj/a.o"; // without -g
  for (int i = 0; i < 2; ++i) {
    clear();
    write("obj/a.dwo", "older");
    CHECK(cc(line).status == 0);
    CHECK(text("obj/a.dwo") == "older");
    CHECK(fs::exists(folder / "obj/a.o"));
  }
}

TEST_CASE_FIXTURE(outputs_bench, "cc: a profile decides") {
  const std::string line = "gcc -O2 -fprofile-use -Wno-missing-profile -c a.c -o obj/a.o";
  REQUIRE(shell("gcc -O2 -fprofile-generate -c a.c -o obj/a.o && "
                "echo 'int f(int); int main(void) { return f(1) != 2; }' > main.c && "
                "gcc -fprofile-generate main.c obj/a.o -o main && ./main && cp obj/a.gcda kept")
              .status == 0);
  const auto without = make(line, false);
  CHECK(make(line, true) == without);
  clear();
  REQUIRE(shell("cp kept obj/a.gcda && " + line).status == 0);
  const auto plain = text("obj/a.o");
  CHECK(plain != without.at("a.o"));
  for (int i = 0; i < 2; ++i) {
    fs::remove(folder / "obj/a.o");
    const auto before = entries();
    CHECK(cc(line).status == 0);
    CHECK(text("obj/a.o") == plain);
    CHECK((entries() == before) == (i == 1));
  }
}

TEST_CASE_FIXTURE(outputs_bench, "cc: objects with their outputs' names belong to those names") {
  const std::string options = "gcc -g -gsplit-dwarf -c a.c -o obj/";
  const auto one = make(options + "one.o", false);
  const auto two = make(options + "two.o", false);
  CHECK(one.at("one.o").find("one.dwo") != std::string::npos);
  CHECK(two.at("two.o").find("two.dwo") != std::string::npos);
  CHECK(make(options + "one.o", true) == one);
}

TEST_CASE_FIXTURE(outputs_bench, "cc: one result for all names of an object") {
  const auto first = make("gcc -g -c a.c -o obj/one.o", false).at("one.o");
  CHECK(make("gcc -g -c a.c -o obj/two.o", true).at("two.o") == first);
  CHECK(make("gcc -g -c a.c", true).empty());
  CHECK(text("a.o") == first);
  // The target of a dependency file is the object's name.
  make("gcc -MD -c a.c -o obj/one.o", false);
  const auto other = make("gcc -MD -c a.c -o obj/two.o", false);
  CHECK(other.at("two.d").starts_with("obj/two.o:"));
  make("gcc -MD -MT t -c a.c -o obj/one.o", false);
  CHECK(make("gcc -MD -MT t -c a.c -o obj/two.o", true).at("two.d").starts_with("t:"));
}

TEST_CASE_FIXTURE(outputs_bench, "cc: precompiled headers of gcc") {
  write("all.hpp", "#include <vector>\n#include \"x.h\"\ninline int g() { return X; }\n");
  write("u.cpp", "#include \"all.hpp\"\nint f() { return g(); }\n");
  const auto precompile = [&](bool is_found) {
    const auto before = entries();
    CHECK(cc("g++ -O1 -x c++-header all.hpp -o obj/all.hpp.gch -MD -MF obj/d -MT t").status == 0);
    CHECK((entries() == before) == is_found);
    CHECK(text("obj/d").find("x.h") != std::string::npos);
    return text("obj/all.hpp.gch");
  };
  // -H marks a precompiled header that is used with '!'.
  const auto use = [&](bool is_found, const std::string& more = "") {
    const auto before = entries();
    const auto given = cc("g++ -O1 -H -Iobj -include all.hpp" + more + " -c u.cpp -o obj/u.o");
    CHECK(given.status == 0);
    CHECK(given.err.starts_with("! obj/all.hpp.gch"));
    CHECK((entries() == before) == is_found);
    return text("obj/u.o");
  };
  const auto header = precompile(false);
  CHECK(header.starts_with("gpch"));
  CHECK(precompile(true) == header);
  fs::rename(folder / "all.hpp",
             folder / "obj/all.hpp"); // it is looked for beside the source first
  write("u.cpp", "int f() { return g(); }\n");
  const auto object = use(false);
  CHECK(use(true) == object);
  CHECK(use(false, " -fpch-preprocess") == object);
  CHECK(use(true, " -fpch-preprocess") == object);
  // The name by the compiler, and the times that clang writes into its own.
  CHECK(cc("gcc x.h").status == 0);
  CHECK(text("x.h.gch").starts_with("gpch"));
  const auto before = entries();
  CHECK(cc("clang -x c-header x.h -o x.pch").status == 0);
  CHECK(text("x.pch").starts_with("CPCH"));
  CHECK(cc("clang -include-pch x.pch -c a.c -o obj/a.o").status == 0);
  CHECK(entries() == before);
  // What the header is made of decides over it, and it over the object.
  fs::remove(folder / "x.h.gch");
  write("x.h", "#define X 12345\n");
  CHECK(use(true) == object); // as without us
  fs::rename(folder / "obj/all.hpp", folder / "all.hpp");
  CHECK(precompile(false) != header);
  fs::rename(folder / "all.hpp", folder / "obj/all.hpp");
  CHECK(use(false) != object);
  CHECK(use(false, " -fpch-preprocess") != object);
  fs::rename(folder / "obj/all.hpp", folder / "all.hpp");
  write("x.h", "#define X 1\n");
  CHECK(precompile(true) == header);
  fs::rename(folder / "all.hpp", folder / "obj/all.hpp");
  CHECK(use(true) == object);
}

TEST_CASE_FIXTURE(outputs_bench,
                  "cc: a compile that writes a file that nobody knows runs as it is") {
  // A wrapper is asked as a compiler is, but writes one file more.
  fs::create_directory(directory / "bin");
  const auto spelled = (directory / "bin").string();
  write("w.c",
        "#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n"
        "int main(int n, char** all) {\n"
        "  for (int i = 1; i < n; ++i)\n"
        "    if (strcmp(all[i], \"--coverage\") == 0) {\n"
        "      FILE* f = fopen(\"more\", \"w\");\n      fputs(\"more\", f);\n      fclose(f);\n"
        "    }\n"
        "  all[0] = \"gcc\";\n  return execvp(\"/usr/bin/gcc\", all);\n}\n");
  REQUIRE(shell("gcc w.c -o '" + spelled + "/gcc'").status == 0);
  for (int i = 0; i < 2; ++i) {
    fs::remove(folder / "more");
    clear();
    CHECK(cc("'" + spelled + "/gcc' --coverage -c a.c -o obj/a.o").status == 0);
    CHECK(text("more") == "more");
    CHECK(names_of(made()) == words{"a.gcno", "a.o"});
  }
  CHECK(entries() == 0);
  // It is that file alone that keeps a compile by the wrapper from being kept.
  CHECK(cc("'" + spelled + "/gcc' -g -gsplit-dwarf -c a.c -o obj/a.o").status == 0);
  CHECK(entries() == 2);
}

} // namespace cc_outputs_test
