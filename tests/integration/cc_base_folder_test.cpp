// `hearth cc` with a base folder: checkouts in other places share what does not name them.
#include "tests/support/launcher_bench.hpp"

namespace cc_base_folder_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct two_checkouts : launcher_bench {
  two_checkouts() {
    for (const auto* name : {"one", "another/below"}) {
      const auto made = directory / name;
      for (const auto* part : {"src", "inc", "build"})
        fs::create_directories(made / part);
      write_text(made / "src/a.c", "#include <x.h>\n#include <assert.h>\n"
                                   "int f(int x) { assert(x); return X; }\n");
      write_text(made / "inc/x.h", "#define X 1\n");
    }
  }
  ~two_checkouts() { ::unsetenv("HEARTH_BASEDIR"); }

  void enter(const std::string& name) {
    root = directory / name;
    folder = root / "build";
    REQUIRE(::setenv("HEARTH_BASEDIR", root.c_str(), 1) == 0);
  }
  // The line with absolute names, as build systems write it; "ROOT" stands for the checkout.
  std::string line_of(std::string options) const {
    options = "gcc -IROOT/inc " + options + " -c ROOT/src/a.c -o ROOT/build/a.o";
    for (auto at = options.find("ROOT"); at != options.npos; at = options.find("ROOT"))
      options.replace(at, 4, root.string());
    return options;
  }
  std::string compile(const std::string& options, bool is_found) const {
    const auto line = line_of(options);
    CAPTURE(line);
    const auto before = entries();
    const auto given = cc(line);
    CHECK_MESSAGE(given.status == 0, given.err);
    CHECK((entries() == before) == is_found);
    return text("a.o");
  }

  fs::path root;
};

} // namespace

TEST_CASE_FIXTURE(two_checkouts, "cc: a base folder lets checkouts share what does not name them") {
  struct row {
    const char* options;
    bool is_shared;
  };
  for (const auto& row :
       {row{"", true}, row{"-O2 -MD -MT a.o -MF a.d", true}, row{"-g", false},
        row{"-g -fdebug-prefix-map=ROOT=.", true}, row{"-g -ffile-prefix-map=ROOT=/src", true},
        row{"-g -gsplit-dwarf -ffile-prefix-map=ROOT=.", true},
        row{"-g -fdebug-prefix-map=/nowhere=.", false}, row{"--coverage", false},
        row{"--coverage -ffile-prefix-map=ROOT=.", false}, row{"-DNAME='\"ROOT\"'", false},
        row{"-isystem ROOT/inc", true}, row{"-iquoteROOT/inc -include ROOT/inc/x.h", true}}) {
    enter("one");
    const auto first = compile(row.options, false);
    enter("another/below");
    CAPTURE(std::string(row.options));
    const auto second = compile(row.options, row.is_shared);
    if (row.is_shared) {
      CHECK(second == first);
      CHECK(second.find(directory.path().string()) == std::string::npos);
    }
  }
  // What each checkout has decides, and not what the other one has.
  write_text(root / "inc/x.h", "#define X 2\n");
  const auto changed = compile("", false);
  enter("one");
  CHECK(compile("", true) != changed);
  fs::remove_all(directory / "another");
  CHECK(compile("-g -ffile-prefix-map=ROOT=/src", true) != changed);
}

TEST_CASE_FIXTURE(two_checkouts, "cc: a source that names its checkout is not shared") {
  for (const auto* name : {"one", "another/below"})
    write_text(directory / name / "src/a.c",
               "#include \"" + (directory / "one/inc/x.h").string() + "\"\nint x = X;\n");
  enter("one");
  const auto first = compile("-g -ffile-prefix-map=ROOT=.", false);
  enter("another/below");
  compile("-g -ffile-prefix-map=ROOT=.", false);
  write_text(directory / "one/inc/x.h", "#define X 7\n");
  CHECK(compile("-g -ffile-prefix-map=ROOT=.", false) != first);
}

TEST_CASE_FIXTURE(two_checkouts, "cc: names below a base folder lead where they led") {
  enter("one");
  fs::create_directory_symlink(directory / "one/src", directory / "one/build/link");
  fs::create_directory_symlink(directory / "one", directory / "spelled");
  const auto right = compile("", false);
  // The base is named by a link.
  REQUIRE(::setenv("HEARTH_BASEDIR", (directory / "spelled").c_str(), 1) == 0);
  root = directory / "spelled";
  CHECK(compile("", true) == right);
  // "link/.." is not the folder of the link.
  const auto header = (directory / "one/build/link/../inc").string();
  CHECK(cc("gcc -I" + header + " -c ../src/a.c -o a.o").status == 0);
  CHECK(text("a.o") == right);
  // A base folder elsewhere, or a wrong one, changes nothing.
  for (const auto* base : {"/nonexistent", "relative", "/", ""}) {
    REQUIRE(::setenv("HEARTH_BASEDIR", base, 1) == 0);
    root = directory / "one";
    CHECK(cc(line_of("")).status == 0);
    CHECK(shell("mv a.o given && " + line_of("") + " && cmp a.o given").status == 0);
  }
}

TEST_CASE_FIXTURE(launcher_bench, "cc: clang's objects are shared where nothing tells the folder") {
  check("clang -c a.c", {"a.o"});
  check("clang -g -c a.c", {"a.o"});
  const auto before = entries();
  fs::rename(folder, directory / "moved");
  folder = directory / "moved";
  check("clang -c a.c", {"a.o"});
  CHECK(entries() == before);
  check("clang -g -c a.c", {"a.o"});
  CHECK(entries() > before);
  write("b.c", "const char* where = \"" + folder.string() + "\";\n");
  check("clang -c b.c", {"b.o"});
}

TEST_CASE_FIXTURE(launcher_bench, "cc: inline assembly may tell the folder") {
  write("a.c", "__asm__(\".file 1 \\\"f.c\\\"\\n.loc 1 1\\nnop\\n\");\nint x;\n");
  check("gcc -c a.c", {"a.o"});
  fs::rename(folder, directory / "moved");
  folder = directory / "moved";
  check("gcc -c a.c", {"a.o"});
}

} // namespace cc_base_folder_test
