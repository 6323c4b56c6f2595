// `hearth run` without a declared input: what a command read is what its result depends on. Each
// case runs a command, finds its result, changes something that a list of flags would miss, and
// compares with what the command makes without Hearth. Also where programs are not watched: then
// the command runs each time.
#include "tests/support/action_bench.hpp"
#include "tests/support/sanitized.hpp"

#include <cstdlib>

namespace watched_run_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct change_case {
  std::string name;
  std::string set_up;  ///< a shell script in the folder
  std::string command; ///< run by `sh -c`, unless it has no spaces in its words
  const char* output;
  std::string change; ///< a shell script that makes the output another one
};

const std::string two_objects =
    "echo 'int v(){return 1;}' > v.c; gcc -c v.c; mkdir l; ar rcsD l/libv.a v.o; "
    "echo 'int v();int main(){return v();}' > m.c; gcc -c m.c";
const std::string other_library =
    "echo 'int v(){return 22;}' > v.c; gcc -c v.c; rm l/libv.a; ar rcsD l/libv.a v.o";

words split(const std::string& command) {
  words all;
  std::string word;
  bool is_quoted = false;
  for (const char c : command) {
    if (c == '\'')
      is_quoted = !is_quoted;
    else if (c == ' ' && !is_quoted)
      all.push_back(std::exchange(word, {}));
    else
      word += c;
  }
  all.push_back(word);
  return all;
}

struct watched_bench : action_bench {
  void script(const std::string& text) const {
    const auto command = "cd '" + folder.string() + "' && { " + text + "; }";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  // Whether the command ran; its result was found otherwise.
  bool runs_now(const change_case& one, const std::string& watch) const {
    const auto trace = logs / "trace";
    fs::remove(trace);
    const auto result =
        run({"--watch", watch, "--trace", trace.string(), "--out", one.output}, split(one.command));
    CHECK_MESSAGE(result.status == 0, result.err);
    return file_text(trace).find("\"ph\"") != std::string::npos;
  }
  // What the command makes without Hearth.
  std::string truth(const change_case& one) const {
    fs::remove(folder / one.output);
    script(one.command);
    auto made = text(one.output);
    fs::remove(folder / one.output);
    return made;
  }
  void check(const change_case& one, const std::string& watch) {
    CAPTURE(one.name);
    CAPTURE(watch);
    fs::remove_all(folder);
    fs::create_directory(folder);
    fs::remove_all(store);
    script(one.set_up);
    CHECK(runs_now(one, watch));
    const auto before = text(one.output);
    CHECK(runs_now(one, watch) == (watch == "no"));
    CHECK(text(one.output) == before);
    script(one.change);
    CHECK(runs_now(one, watch));
    const auto after = text(one.output);
    CHECK(after != before);
    CHECK(runs_now(one, watch) == (watch == "no"));
    CHECK(text(one.output) == after);
    CHECK(after == truth(one));
  }
  // Whether this system lets us make an overlay; where it does not, commands run in a view of
  // links.
  bool has_overlay() const {
    const auto place = (directory / "probe").string();
    const auto mount = "sh -c 'cd " + place +
                       " && mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w l' 2> /dev/null";
    for (const auto* name : {"l", "u", "w"})
      fs::create_directories(directory / "probe" / name);
    if (std::system(("unshare -m " + mount + " || unshare -Urm " + mount).c_str()) == 0)
      return true;
    MESSAGE("not tried: this system lets us make no overlay");
    return false;
  }
  void check_all(const std::vector<change_case>& cases) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      check(cases[i], "yes");
      if (!is_sanitized || i == 0) check(cases[i], "no"); // then it runs each time
    }
  }
};

} // namespace

TEST_CASE_FIXTURE(watched_bench,
                  "watched: what a compiler reads without being told on its command line") {
  check_all({
      {"__has_include",
       "printf '#if __has_include(\"x.h\")\\n#include \"x.h\"\\n#endif\\nint f();\\n' > a.c",
       "gcc -c a.c -o a.o", "a.o", "echo 'int x;' > x.h"},
      {"a folder earlier in the search path",
       "mkdir i1 i2; echo 'int a=1;' > i2/x.h; echo '#include \"x.h\"' > a.c",
       "gcc -Ii1 -Ii2 -c a.c -o a.o", "a.o", "echo 'int b=2;' > i1/x.h"},
      {"a folder of the search path that appears",
       "mkdir i2; echo 'int a=1;' > i2/x.h; echo '#include \"x.h\"' > a.c",
       "gcc -Ii1 -Ii2 -c a.c -o a.o", "a.o", "mkdir i1; echo 'int b=2;' > i1/x.h"},
      {".include of the assembler",
       "printf 'asm(\".include \\\\\"x.s\\\\\"\");\\n' > a.c; echo '.long 1' > x.s",
       "gcc -c a.c -o a.o", "a.o", "echo '.long 7' > x.s"},
      {".incbin", "printf 'asm(\".incbin \\\\\"x\\\\\"\");\\n' > a.c; echo 1 > x",
       "gcc -c a.c -o a.o", "a.o", "echo 2 > x"},
      {"-Wa,@file", "echo 'int f();' > a.c; echo '--defsym Q=1' > r", "gcc -c a.c -Wa,@r -o a.o",
       "a.o", "echo '--defsym Q=4' > r"},
      {"-specs", "echo 'int f(){return Q;}' > a.c; printf '*cpp:\\n+ -DQ=1\\n\\n' > s",
       "gcc -specs=s -c a.c -o a.o", "a.o", "printf '*cpp:\\n+ -DQ=5\\n\\n' > s"},
      {"-B", "echo 'int f();' > a.c; mkdir b", "gcc -Bb/ -c a.c -o a.o", "a.o",
       "printf '#!/bin/sh\\nexec /usr/bin/as --defsym N=1 \"$@\"\\n' > b/as; chmod +x b/as"},
      {"a link that is turned",
       "mkdir d1 d2; echo 'int a;' > d1/x.h; echo 'int b;' > d2/x.h; ln -s d1 d; "
       "echo '#include \"d/x.h\"' > a.c",
       "gcc -c a.c -o a.o", "a.o", "ln -sfn d2 d"},
      {"a linked file is replaced by a file",
       "echo 'int a;' > y.h; ln -s y.h x.h; echo '#include \"x.h\"' > a.c", "gcc -c a.c -o a.o",
       "a.o", "rm x.h; echo 'int b;' > x.h"},
      {"a header in the folder above", "echo 'int a;' > ../up.h; echo '#include \"../up.h\"' > a.c",
       "gcc -c a.c -o a.o", "a.o", "echo 'int b;' > ../up.h"},
  });
}

TEST_CASE_FIXTURE(watched_bench, "watched: what a linker reads without being told by name") {
  check_all({
      {"-l", two_objects, "gcc m.o -Ll -lv -o m", "m", other_library},
      {"-Wl,-Bstatic,-l", two_objects, "gcc m.o -Ll -Wl,-Bstatic,-lv,-Bdynamic -o m", "m",
       other_library},
      {"-Wl,-L", two_objects, "gcc m.o -Wl,-Ll -lv -o m", "m", other_library},
      {"a response file", two_objects + "; echo '-Ll -lv' > r", "gcc m.o @r -o m", "m",
       other_library},
      {"-Wl,@file", two_objects + "; echo '-Ll -lv' > r", "gcc m.o -Wl,@r -o m", "m",
       other_library},
      {"a linker script named like a library",
       two_objects + "; mv l/libv.a l/real.a; echo 'INPUT(l/real.a)' > l/libw.a",
       "gcc m.o -Ll -lw -o m", "m",
       "echo 'int v(){return 22;}' > v.c; gcc -c v.c; rm l/real.a; ar rcsD l/real.a v.o"},
      {"a library earlier in the search path", two_objects + "; mkdir k",
       "gcc m.o -Lk -Ll -lv -o m", "m",
       "echo 'int v(){return 22;}' > v.c; gcc -c v.c; ar rcsD k/libv.a v.o"},
      {"ld itself", two_objects, "ld -r m.o l/libv.a -o r.o", "r.o",
       "echo 'int v();int main(){return v()+1;}' > m.c; gcc -c m.c"},
  });
}

TEST_CASE_FIXTURE(watched_bench, "watched: commands of other kinds") {
  check_all({
      {"a pipe", "echo hello > in", "sh -c 'cat in | tr a-z A-Z > out'", "out", "echo bye > in"},
      {"a pattern", "mkdir d; echo 1 > d/a", "sh -c 'cat d/* > o'", "o", "echo 2 > d/b"},
      {"an empty folder", "mkdir d", "sh -c 'ls d > o'", "o", "mkdir d/e"},
      {"an execute bit", "echo > t", "sh -c 'if [ -x t ]; then echo y; else echo n; fi > o'", "o",
       "chmod +x t"},
      {"cp -r", "mkdir d; echo 1 > d/a", "sh -c 'cp -r d e; cat e/a > o; ls e >> o'", "o",
       "echo 2 > d/a; touch d/b"},
      {"cp -r of a file that changes", "mkdir d; echo 1 > d/a", "sh -c 'cp -r d e; cat e/a > o'",
       "o", "echo 2 > d/a"},
      {"an interpreter",
       "printf '#!%s/i\\nx' \"$PWD\" > s; printf '#!/bin/sh\\necho one' > i; "
       "chmod +x s i",
       "sh -c './s > o'", "o", "printf '#!/bin/sh\\necho two' > i"},
      {"an interpreter that is a binary",
       "cp $(command -v cat) i; printf '#!%s/i\nx\n' \"$PWD\" > s; chmod +x s", "sh -c './s > o'",
       "o", "cp $(command -v tac) i"},
      {"bison", "printf '%%token A\\n%%%%\\ns: A;\\n' > g.y", "bison g.y -o g.c", "g.c",
       "printf '%%token B\\n%%%%\\ns: B;\\n' > g.y"},
      {"protoc",
       "printf 'syntax=\"proto3\";import \"b.proto\";message A{B b=1;}' > a.proto; "
       "printf 'syntax=\"proto3\";message B{int32 x=1;}' > b.proto",
       "protoc --descriptor_set_out=o --include_imports a.proto", "o",
       "printf 'syntax=\"proto3\";message B{int64 x=1;}' > b.proto"},
      {"python",
       "echo 'import helper; "
       "open(\"o\", \"w\").write(helper.x)' > g.py; echo 'x = \"1\"' > helper.py",
       "python3 g.py", "o", "echo 'x = \"2\"' > helper.py"},
      {"a data file that a script lists",
       "mkdir d; touch d/a; echo 'import os; open(\"o\", \"w\").write(str(sorted(os.listdir("
       "\"d\"))))' > g.py",
       "python3 g.py", "o", "touch d/b"},
  });
}

TEST_CASE_FIXTURE(watched_bench, "watched: commands see files, and not links to them") {
  if (!has_overlay()) return;
  check_all({
      {"tar", "mkdir -p d/e; echo 1 > d/a; ln -s a d/l; touch -d @0 d/a d/e d; touch -hd @0 d/l",
       "tar cf o d", "o", "echo 2 > d/a; touch -d @0 d/a"},
      {"grep -r", "mkdir d; echo x1 > d/a", "sh -c 'grep -r x d > o'", "o", "echo x2 > d/b"},
      {"find -type f", "mkdir d; echo > d/a; ln -s a d/l", "sh -c 'find d -type f > o'", "o",
       "echo > d/b"},
      {"cp -a", "mkdir d; echo 1 > d/a", "sh -c 'cp -a d e; rm d/a; cat e/a > o'", "o",
       "echo 2 > d/a"},
      {"out of a subfolder", "mkdir d; echo 1 > d/a", "sh -c 'cd d; cat a > ../o'", "o",
       "echo 2 > d/a"},
      {"a file that is moved", "echo 1 > a", "sh -c 'mv a o'", "o", "echo 2 > a"},
      {"a file that gets a second name", "echo 1 > a", "sh -c 'ln a o'", "o", "echo 2 > a"},
      {"a file that is changed in place", "echo 1 > a", "sh -c 'echo x >> a; cat a > o'", "o",
       "echo 2 > a"},
      {"a folder that is made", "echo 1 > a", "sh -c 'mkdir -p b/c; cd b/c; cat ../../a > ../../o'",
       "o", "echo 2 > a"},
      {"a folder that is made, and a missing file", "echo 1 > a",
       "sh -c 'mkdir -p b; cd b; cat ../a ../c > ../o 2>/dev/null; true'", "o", "echo 2 > c"},
      {"links that are made", "mkdir d e; echo 1 > d/a; echo 2 > e/a; ln -s d t",
       "sh -c 'ln -s ../t/a m; mkdir n; mv m n; ln -s \"$PWD/n\" k; cat k/m > o'", "o",
       "ln -sfn e t"},
      {"a link by way of a temporary folder", "mkdir -p ../src; echo 1 > ../src/a",
       "sh -c 't=$(mktemp -d); ln -s \"$PWD/../src\" $t/s; ln -s $t/s h; cat h/a > o'", "o",
       "echo 2 > ../src/a"},
      {"a link by way of a link in a temporary folder", "echo 1 > a",
       "sh -c 't=$(mktemp -d); ln -s \"$PWD/a\" $t/s; ln -s $t/s h; cat h > o'", "o", "echo 2 > a"},
      {"a link of the host to the links of /proc", "echo 1 > a; ln -s /proc/self/cwd c",
       "sh -c 'cat c/a > o'", "o", "echo 2 > a"},
      {"a program that it makes, and that tells times", "echo 1 > a; touch -d @1 a",
       "sh -c 'cat /usr/bin/stat > stat; chmod +x stat; ./stat -c %Y a > o'", "o", "touch -d @2 a"},
      {"a folder that cannot be removed", "mkdir d",
       "sh -c 'if rmdir d 2> /dev/null; then echo y; else echo n; fi > o'", "o", "touch d/x"},
      {"a link that is not made", "true",
       "sh -c 'if ln -s q l 2> /dev/null; then echo y; else echo n; fi > o'", "o", "touch l"},
      {"a file that is not replaced", "true",
       "sh -c 'echo > t; mv -n t u; if [ -e t ]; then echo y; else echo n; fi > o'", "o",
       "touch u"},
      {"a file that cannot be removed", "true",
       "python3 -c 'import os\ntry: os.unlink(\"x\"); r = 1\nexcept OSError: r = 2\n"
       "open(\"o\", \"w\").write(str(r))'",
       "o", "touch x"},
      {"a socket's name that is taken", "true",
       "python3 -c 'import os, socket\ns = socket.socket(socket.AF_UNIX)\n"
       "try: s.bind(\"x\"); r = 1; os.unlink(\"x\")\nexcept OSError: r = 2\n"
       "open(\"o\", \"w\").write(str(r))'",
       "o", "touch x"},
      {"how many names a file has", "echo 1 > a", "sh -c 'ls -l a | cut -c1-15 > o'", "o",
       "ln a b"},
      {"its own folder", "echo 1 > a", "sh -c 'pwd > o; cat a >> o'", "o", "echo 2 > a"},
      {"a folder of the output that is missing", "echo 1 > a", "sh -c 'cat a > p/q/o; ls -A p'",
       "p/q/o", "echo 2 > a"},
  });
}

TEST_CASE_FIXTURE(watched_bench, "watched: what a command changes besides its outputs is dropped") {
  if (!has_overlay()) return;
  script("mkdir d; echo 1 > a; echo 1 > d/b; echo old > o; chmod 751 d");
  const auto ran = run({"--out", "o"}, {"sh", "-c",
                                        "cat o 2>/dev/null; echo x >> a; rm d/b; echo > d/new; "
                                        "chmod 700 d; mkdir e; cat a > o"});
  CHECK(ran.status == 0);
  CHECK(ran.out == ""); // an output of before is not there
  CHECK(text("o") == "1\nx\n");
  CHECK(text("a") == "1\n");
  CHECK(text("d/b") == "1\n");
  CHECK_FALSE(fs::exists(folder / "d/new"));
  CHECK_FALSE(fs::exists(folder / "e"));
  CHECK((fs::status(folder / "d").permissions() & fs::perms::mask) == fs::perms{0751});
}

TEST_CASE_FIXTURE(watched_bench, "watched: an output is never read by way of a link") {
  if (!has_overlay()) return;
  script("mkdir d e; echo old > e/o; echo 1 > a");
  const auto ran = run({"--out", "d/o"}, {"sh", "-c", "rmdir d; ln -s \"$PWD/e\" d; cat a > d/o"});
  CHECK(ran.status == 125);
  CHECK(ran.err.find("behind a symbolic link") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "d/o"));
  CHECK(text("e/o") == "old\n");
}

TEST_CASE_FIXTURE(watched_bench, "watched: folders that nobody may change are removed") {
  if (!has_overlay()) return;
  fs::create_directory(directory / "tmp");
  REQUIRE(::setenv("TMPDIR", (directory / "tmp").c_str(), 1) == 0);
  const auto ran = run({"--out", "o"}, {"sh", "-c",
                                        "mkdir -p d/e; touch d/e/x; chmod 0 d/e; chmod 500 d; "
                                        "echo > o; rm -rf \"$TMPDIR\"/*; ls \"$TMPDIR\""});
  CHECK(ran.status == 0);
  CHECK(ran.out == "");
  CHECK(fs::is_empty(directory / "tmp"));
  REQUIRE(::unsetenv("TMPDIR") == 0);
}

TEST_CASE_FIXTURE(watched_bench,
                  "watched: without an overlay, a result of links to files is not kept") {
  // No overlay can have its changes within the folder.
  fs::create_directory(folder / "tmp");
  REQUIRE(::setenv("TMPDIR", (folder / "tmp").c_str(), 1) == 0);
  script("mkdir d; echo 1 > d/a");
  const change_case lists{"", "", "sh -c 'find d -type f > o'", "o", ""};
  CHECK(runs_now(lists, "yes"));
  CHECK(runs_now(lists, "yes"));
  const change_case reads{"", "", "sh -c 'cat d/a > p'", "p", ""};
  CHECK(runs_now(reads, "yes"));
  CHECK_FALSE(runs_now(reads, "yes"));
  REQUIRE(::unsetenv("TMPDIR") == 0);
}

TEST_CASE_FIXTURE(watched_bench, "watched: two checkouts share what does not ask for the folder") {
  const auto first = folder, other = folder.parent_path() / "other";
  script("echo 1 > a");
  fs::copy(folder, other);
  const change_case plain{"", "", "sort a -o o", "o", ""};
  CHECK(runs_now(plain, "yes"));
  folder = other;
  CHECK_FALSE(runs_now(plain, "yes"));
  if (!has_overlay()) return;
  // A shell asks, and tells others.
  for (const std::string shows :
       {"basename $PWD", "case $PWD in */other) echo y;; *) echo n;; esac",
        "python3 -c 'import os; print(len(os.environ[\"PWD\"]))'"}) {
    CAPTURE(shows);
    words outputs;
    for (const auto& place : {first, other, first}) {
      folder = place;
      const auto ran = run({"--out", "p"}, {"sh", "-c", "{ " + shows + "; } > p"});
      CHECK(ran.status == 0);
      outputs.push_back(text("p"));
      fs::remove(folder / "p");
      script("{ " + shows + "; } > q");
      CHECK(text("q") == outputs.back());
    }
    CHECK(outputs[0] != outputs[1]);
    CHECK(outputs[0] == outputs[2]);
  }
}

TEST_CASE_FIXTURE(watched_bench, "watched: what surrounds a command") {
  const std::string writes_number =
      "printf '#include <stdio.h>\nint v(void){return N;}\n__attribute__((constructor)) "
      "static void w(void){if(P)puts(P);}\n' > v.c; ";
  const auto library = [](const std::string& where, int number, const std::string& prints) {
    return "gcc -shared -fPIC -DN=" + std::to_string(number) + " '-DP=" + prints + "' v.c -o " +
           where;
  };
  const std::string plugin =
      "printf 'int plugin_is_GPL_compatible; struct _IO_FILE; extern struct _IO_FILE* "
      "asm_out_file; int fprintf(struct _IO_FILE*, const char*, ...);\n"
      "void register_callback(const char*, int, void (*)(void*, void*), void*);\n"
      "static void at_end(void* a, void* b) { fprintf(asm_out_file, \".equ X,%%d\\\\n\", N); }\n"
      "int plugin_init(void* a, void* b) { register_callback(\"p\", 5, at_end, 0); return 0; }"
      "\n' > p.c; echo 'int f;' > a.c; ";
  const std::string cached_value = "printf '#ifndef Q\n#define Q 1\n#endif\nint f = Q;' > a.c; ";
  check_all({
      {"LD_PRELOAD", writes_number + library("p.so", 1, "\"one\""),
       "sh -c 'LD_PRELOAD=./p.so /bin/true > o'", "o", library("p.so", 1, "\"two\"")},
      {"LD_LIBRARY_PATH",
       writes_number + "mkdir a b; " + library("b/libv.so", 1, "0") +
           "; printf '#include <stdio.h>\nint v(void);int main(void){printf(\"%%d\", v());}' > "
           "m.c; gcc m.c -Lb -lv -o m",
       "sh -c 'LD_LIBRARY_PATH=a:b ./m > o'", "o", library("a/libv.so", 2, "0")},
      {"-fplugin", plugin + "gcc -shared -fPIC -DN=1 p.c -o p.so",
       "gcc -fplugin=./p.so -c a.c -o a.o", "a.o", "gcc -shared -fPIC -DN=2 p.c -o p.so"},
      {"GCC_EXEC_PREFIX",
       cached_value + "d=p/$(gcc -dumpmachine)/$(gcc -dumpversion); mkdir -p $d; "
                      "ln -s $(gcc -print-prog-name=cc1) $d/cc1",
       "sh -c 'GCC_EXEC_PREFIX=p/ gcc -c a.c -o a.o'", "a.o",
       "printf '*cpp:\n+ -DQ=5\n\n' > p/$(gcc -dumpmachine)/$(gcc -dumpversion)/specs"},
      {"a program earlier in PATH", cached_value + "mkdir p",
       "sh -c 'PATH=p:$PATH; gcc -c a.c -o a.o'", "a.o",
       "printf '#!/bin/sh\nexec /usr/bin/gcc -DQ=7 \"$@\"\n' > p/gcc; chmod +x p/gcc"},
      {"a compiler that is updated in place with the time that it had",
       cached_value + "printf '#!/bin/sh\nexec gcc -DQ=1 \"$@\"\n' > cc; chmod +x cc",
       "./cc -c a.c -o a.o", "a.o",
       "touch -r cc t; printf '#!/bin/sh\nexec gcc -DQ=2 \"$@\"\n' > cc; touch -r t cc"},
      {"a wrapper of a compiler that gets the time back that it had",
       cached_value + "printf '#!/bin/sh\nexec gcc -DQ=1 \"$@\"\n' > cc; chmod +x cc; "
                      "touch -d 2001-01-01 cc",
       "sh -c './cc -c a.c -o a.o'", "a.o",
       "printf '#!/bin/sh\nexec gcc -DQ=2 \"$@\"\n' > cc; touch -d 2001-01-01 cc"},
      {"a description of a terminal", "printf 'x,\n\tbold=1,\n' > t; tic -o d t",
       "sh -c 'TERMINFO=d TERM=x tput bold > o'", "o", "printf 'x,\n\tbold=2,\n' > t; tic -o d t"},
      {"a file of commands for a tool",
       "echo 'int f = Q;' > a.c; echo '[{\"flags\": \"-DQ=1\"}]' > commands.json; "
       "printf 'import json, os\nf = json.load(open(\"commands.json\"))[0][\"flags\"]\n"
       "os.execvp(\"gcc\", [\"gcc\", f, \"-c\", \"a.c\", \"-o\", \"a.o\"])\n' > g.py",
       "python3 g.py", "a.o", "echo '[{\"flags\": \"-DQ=3\"}]' > commands.json"},
  });
}

TEST_CASE_FIXTURE(watched_bench, "watched: what is read through links that the command makes") {
  check_all({
      {"in a folder of its own", "echo 1 > x", "sh -c 'mkdir d; ln -s ../x d/l; cat d/l > o'", "o",
       "echo 2 > x"},
      {"in its folder for temporary files", "echo 1 > x",
       "sh -c 'cd ${TMPDIR-.}; ln -s \"$OLDPWD/x\" l; cat l > \"$OLDPWD/o\"; rm l'", "o",
       "echo 2 > x"},
      {"gone at the end", "echo 1 > x", "sh -c 'ln -s x l; cat l > o; rm l'", "o", "echo 2 > x"},
      {"to a file that is not there", "true",
       "sh -c 'ln -s x l; if [ -e l ]; then echo y; else echo n; fi > o; rm l'", "o", "touch x"},
      {"to a folder of links", "mkdir d; echo 1 > a; echo 2 > b; ln -s ../a d/x",
       "sh -c 'ln -s d l; cat l/x > o; rm l'", "o", "ln -sfn ../b d/x"},
      {"turned by the command", "echo 1 > a; echo 1 > b",
       "sh -c 'ln -s a l; cat l > o; rm l; ln -s b l; cat l >> o; rm l'", "o", "echo 2 > b"},
      {"renamed by the command", "echo 1 > x", "sh -c 'ln -s x k; mv k l; cat l > o; rm l'", "o",
       "echo 2 > x"},
  });
}

TEST_CASE_FIXTURE(watched_bench, "watched: ways to a file through the folders of the run") {
  check_all({
      {"up to the root",
       "mkdir s; echo 1 > s/x; echo 'import os; d = os.path.relpath("
       "os.path.realpath(\"s\")); open(\"o\", \"w\").write(open(d + \"/x\").read())' > g.py",
       "python3 g.py", "o", "echo 2 > s/x"},
      {"a link to the links of /proc", "echo 1 > x",
       "sh -c 'ln -s /proc/self/cwd me; cat me/x > o; rm me'", "o", "echo 2 > x"},
      {"an interpreter of a program that it makes", "cp $(command -v cat) i",
       "sh -c 'printf \"#!$PWD/i\\nx\\n\" > t; chmod +x t; ./t > o; rm t'", "o",
       "cp $(command -v tac) i"},
      {"a folder that cannot be made", "true",
       "sh -c 'if mkdir d 2> /dev/null; then echo made; else echo there; fi > o'", "o", "mkdir d"},
      {"a file that is not overwritten", "true",
       "sh -c 'set -C; if (echo 1 > f) 2> /dev/null; then echo made; else echo there; fi > o'", "o",
       "echo > f"},
      {"the time of a link", "mkdir s; ln -s x s/l; touch -h -d 2001-01-01 s/l",
       "sh -c 'stat -c %Y s/l > o'", "o", "touch -h -d 2002-01-01 s/l"},
  });
}

TEST_CASE_FIXTURE(watched_bench, "watched: what appears while the command runs is no input") {
  const words command{"sh", "-c",
                      "test -d ../logs/inc; mkdir ../logs/inc; ls -d ../logs/i* > o; true"};
  const words options{"--verbose", "--out", "o"};
  CHECK(run(options, command).err.find("changed while the command ran") != std::string::npos);
  CHECK(run(options, command).err.find("changed while the command ran") == std::string::npos);
  CHECK(text("o") == "../logs/inc\n");
}

TEST_CASE_FIXTURE(watched_bench, "watched: a compile that is understood runs in its own folder") {
  write("a.c", "int f(void) { return 1; }\n");
  const words compile{"gcc", "-g", "-c", "a.c", "-MD", "-MF", "a.d", "-o", "a.o"};
  const words options{"--out", "a.o", "--out", "a.d"};
  script("gcc -g -c a.c -MD -MF a.d -o a.o");
  const auto object = text("a.o");
  const auto dependencies = text("a.d");
  const auto names = files();
  check_quiet(run(options, compile));
  CHECK(text("a.o") == object);
  CHECK(text("a.d") == dependencies);
  CHECK(files() == names);
  // The folder's name is in the object, so another checkout has another one.
  fs::rename(folder, directory / "moved");
  folder = directory / "moved";
  script("gcc -g -c a.c -MD -MF a.d -o a.o");
  const auto moved = text("a.o");
  check_quiet(run(options, compile));
  CHECK(text("a.o") == moved);
  CHECK(moved != object);
}

// Options that tell the folder's name by other words than -g, or real paths in dependency files.
TEST_CASE_FIXTURE(watched_bench,
                  "watched: each checkout has its own name in what a compile tells") {
  const auto deep = "one/two/three/four/five/six";
  const auto up = std::string("../../../../../..");
  for (const std::string command : {"gcc --debug -c a.c -o a.o", "gcc -Wa,-g -c s.s -o a.o",
                                    "gcc --for-assembler=-g -c s.s -o a.o",
                                    "gcc -Xassembler -g -c s.s -o a.o", "gcc -g3 -c a.c -o a.o"}) {
    CAPTURE(command);
    const auto first = folder;
    for (const auto* name : {"checkout1", "checkout2"}) {
      folder = directory / name;
      fs::create_directories(folder);
      write("a.c", "int f(void) { return 1; }\n");
      write("s.s", ".text\n.globl g\ng: ret\n");
      script(command);
      const auto right = text("a.o");
      fs::remove(folder / "a.o");
      check_quiet(run({"--out", "a.o"}, split(command)));
      CHECK(text("a.o") == right);
    }
    folder = first;
  }
  for (const auto& option : {" -idirafter " + up + "/i", " --sysroot=" + up + "/s"}) {
    CAPTURE(option);
    const auto command = "gcc -MD" + option + " -c a.c -o a.o";
    const auto first = folder;
    for (const auto* name : {"deep1", "deep2"}) {
      const auto top = directory / name;
      folder = top / deep;
      fs::create_directories(folder);
      fs::create_directories(top / "i");
      fs::create_directories(top / "s/usr/include");
      write_text(top / "i/x.h", "\n");
      write_text(top / "s/usr/include/x.h", "\n");
      write("a.c", "#include <x.h>\n");
      script(command);
      const auto right = text("a.d");
      fs::remove(folder / "a.d");
      check_quiet(run({"--out", "a.o", "--out", "a.d"}, split(command)));
      CHECK(text("a.d") == right);
    }
    folder = first;
  }
}

TEST_CASE_FIXTURE(watched_bench, "watched: what tells a folder's name is of that folder alone") {
  write("a.c", "int f(void) { return 1; }\n");
  const words compile{"gcc", "-g", "-MD", "-c", "a.c", "-o", "a.o"};
  script("gcc -g -MD -c a.c -o a.o");
  const auto right = text("a.o");
  check_quiet(run({"--watch", "no", "--out", "a.o", "--out", "a.d"}, compile));
  CHECK(text("a.o") != right); // that of a temporary folder
  check_quiet(run({"--out", "a.o", "--out", "a.d"}, compile));
  CHECK(text("a.o") == right);
  // A watched command cannot watch others: what these make is never that of another folder.
  const std::string inner = HEARTH_PROGRAM " run --store '" + store +
                            "' --out a.o --out a.d -- gcc -g -MD -c a.c -o a.o; true";
  (void)run({"--out", "none"}, {"sh", "-c", inner});
  fs::rename(folder, directory / "moved");
  folder = directory / "moved";
  script("gcc -g -MD -c a.c -o a.o");
  const auto moved = text("a.o");
  check_quiet(run({"--out", "a.o", "--out", "a.d"}, compile));
  CHECK(text("a.o") == moved);
}

TEST_CASE_FIXTURE(watched_bench, "watched: explain says what was read and what changed") {
  write("a.c", "#if __has_include(\"x.h\")\n#include \"x.h\"\n#endif\nint f();\n");
  const words compile{"gcc", "-c", "a.c", "-o", "a.o"};
  const auto explain = [&](const words& options) {
    words all{"explain", "--store", store, "--out", "a.o"};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), compile.begin(), compile.end());
    return program_run(all, logs, folder).wait();
  };
  CHECK(explain({}).status == 1);
  CHECK(explain({}).out ==
        "miss: no result of this command with these declared inputs is stored\n");
  REQUIRE(run({"--out", "a.o"}, compile).status == 0);
  const auto found = explain({});
  CHECK(found.status == 0);
  CHECK(found.out.find("\n  a.c\n") != std::string::npos);
  CHECK(found.out.find("\n  x.h (not there)\n") != std::string::npos);
  write("x.h", "int x;\n");
  const auto missed = explain({});
  CHECK(missed.status == 1);
  CHECK(missed.out.find("\n  x.h appeared\n") != std::string::npos);
  REQUIRE(run({"--out", "a.o"}, compile).status == 0);
  write("x.h", "int y;\n");
  const auto both = explain({"--json"}).json();
  CHECK(both.at("found") == false);
  CHECK(both.at("stored").at(0).at("change") == "x.h changed");
  CHECK(both.at("stored").at(1).at("change") == "x.h appeared");
  CHECK_FALSE(both.at("stored").at(0).at("read").empty());
}

TEST_CASE_FIXTURE(watched_bench, "watched: strict tells what was looked for and is not declared") {
  write("a.c", "#include \"x.h\"\nint f();\n");
  write("x.h", "int x;\n");
  const words compile{"gcc", "-c", "a.c", "-o", "a.o"};
  const auto failed = run({"--strict", "--in", "a.c", "--out", "a.o"}, compile);
  CHECK(failed.status == 1);
  CHECK(failed.err.find("not declared: x.h;") != std::string::npos);
  check_quiet(run({"--strict", "--in", "a.c", "--in", "x.h", "--out", "a.o"}, compile));
  const words by_absolute_path{"sh", "-c", "cat '" + (folder / "x.h").string() + "' > o"};
  const auto read = run({"--strict", "--out", "o"}, by_absolute_path);
  CHECK(read.status == 0);
  CHECK(read.err.find("not declared: x.h;") != std::string::npos);
}

TEST_CASE_FIXTURE(watched_bench, "watched: python imports from a folder that has no bytecode yet") {
  write("g.py", "import helper\nopen('o', 'w').write(helper.x)\n");
  write("helper.py", "x = '1'\n");
  const change_case made{"", "", "sh -c 'python3 g.py; cp o o2'", "o", ""};
  CHECK(runs_now(made, "yes"));
  CHECK_FALSE(runs_now(made, "yes"));
  CHECK_FALSE(fs::exists(folder / "__pycache__"));
}

TEST_CASE_FIXTURE(watched_bench,
                  "watched: caches of the programs step aside, unless the caller says") {
  const words shows{"sh", "-c", "echo $CCACHE_DISABLE $PYTHONDONTWRITEBYTECODE"};
  CHECK(run({}, shows).out == "1 1\n");
  REQUIRE(::setenv("CCACHE_DISABLE", "0", 1) == 0);
  CHECK(run({"--env", "CCACHE_DISABLE"}, shows).out == "0 1\n");
  REQUIRE(::unsetenv("CCACHE_DISABLE") == 0);
}

TEST_CASE_FIXTURE(watched_bench, "watched: outputs that the host has from before") {
  const auto host = (folder / "o").string();
  check_all({
      {"its folder is made for it", "echo 1 > x", "sh -c 'ls -d s* > s/o; cat x >> s/o'", "s/o",
       "echo 2 > x"},
      {"its folder is listed", "mkdir s; echo 1 > s/x", "sh -c 'ls s > s/o; cat s/x >> s/o'", "s/o",
       "echo 2 > s/x; touch s/y"},
  });
  if (!has_overlay()) return;
  // Nor is it there by its path on the host.
  script("echo 1 > o");
  check_quiet(run({"--out", "o"},
                  {"sh", "-c", "if test -e '" + host + "'; then echo y > o; else echo n > o; fi"}));
  CHECK(text("o") == "n\n");
}

TEST_CASE_FIXTURE(watched_bench,
                  "watched: times of files are no input, except of programs that tell them") {
  script("echo 1 > a; touch -d 2001-01-01 a");
  const change_case reads{"cat", "", "sh -c 'cat a > o'", "o", ""};
  CHECK(runs_now(reads, "yes"));
  script("touch -d 2002-01-01 a");
  CHECK_FALSE(runs_now(reads, "yes"));
  script("printf '#!/usr/bin/make -f\\no: a\\n\\techo newer > o\\n' > m; chmod +x m; "
         "touch -d 2001-06-01 o2");
  for (const auto* command : {"sh -c 'gzip < a > z; gzip -c a > o'", "./m"}) {
    CAPTURE(std::string(command));
    const change_case made{"", "", command, "o", ""};
    script("touch -d 2001-01-01 a");
    CHECK(runs_now(made, "yes"));
    CHECK_FALSE(runs_now(made, "yes"));
    script("touch -d 2004-01-01 a");
    CHECK(runs_now(made, "yes"));
  }
  const change_case tells{"stat", "", "sh -c 'stat -L -c %Y a > o'", "o", ""};
  CHECK(runs_now(tells, "yes"));
  script("touch -d 2003-01-01 a");
  CHECK(runs_now(tells, "yes"));
  const auto told = text("o");
  CHECK(told == truth(tells));
}

TEST_CASE_FIXTURE(watched_bench,
                  "watched: another checkout finds a result, and not one of other files") {
  script("mkdir -p one/src two/src one/b two/b; for i in one two; do echo 'int a;' > $i/src/x.h; "
         "echo '#include \"x.h\"' > $i/src/a.c; done");
  const auto runs_in = [&](const std::string& place) {
    const auto trace = logs / "trace";
    fs::remove(trace);
    const words all{"run", "--store", store, "--trace",    trace.string(), "--out", "a.o",
                    "--",  "gcc",     "-c",  "../src/a.c", "-o",           "a.o"};
    const auto result = program_run(all, logs, folder / place / "b").wait();
    CHECK_MESSAGE(result.status == 0, result.err);
    return file_text(trace).find("\"ph\"") != std::string::npos;
  };
  CHECK(runs_in("one"));
  CHECK_FALSE(runs_in("two"));
  script("echo 'int b;' > two/src/x.h");
  CHECK(runs_in("two"));
  CHECK(text("one/b/a.o") != text("two/b/a.o"));
  CHECK_FALSE(runs_in("one"));
}

TEST_CASE_FIXTURE(watched_bench,
                  "watched: a relative path that leaves the folder is one of each checkout") {
  script("for i in one two; do mkdir -p $i/p/sub $i/shared; echo $i > $i/shared/x; "
         "ln -s ../shared $i/p/link; done; mkdir real; mv two real; ln -s real/two two");
  const auto output_in = [&](const std::string& place, const std::string& command) {
    const words all{"run", "--store", store, "--", "sh", "-c", command};
    const auto result = program_run(all, logs, folder / place / "p").wait();
    CHECK_MESSAGE(result.status == 0, result.err);
    return result.out;
  };
  for (const auto* command :
       {"cat ../shared/x", "cd sub; cat ../../shared/x", "cat link/x", "cd link; cat x",
        "cd sub; cd ../../shared; cat x", "cd link; cat ../shared/x", "cat sub/../../shared/x"}) {
    CAPTURE(std::string(command));
    for (const auto* place : {"one", "two", "one"})
      CHECK(output_in(place, command) == std::string(place) + "\n");
  }
  for (const auto* command : {"readlink -f sub", "realpath ../shared", "cd sub; pwd -P"}) {
    CAPTURE(std::string(command));
    for (const auto& place : {folder / "one", folder / "real" / "two"})
      CHECK(output_in(place.lexically_relative(folder), command)
                .starts_with(fs::canonical(place).string()));
  }
}

TEST_CASE_FIXTURE(watched_bench,
                  "watched: a file that changes while the command runs keeps nothing") {
  const auto outside = (logs / "a").string();
  write_text(outside, "1");
  const words command{"sh", "-c", "cat '" + outside + "' > o; echo 2 > '" + outside + "'"};
  const auto first = run({"--verbose", "--out", "o"}, command);
  CHECK(first.err.find("changed while the command ran") != std::string::npos);
  CHECK(text("o") == "1");
  (void)run({"--out", "o"}, command);
  CHECK(text("o") == "2\n");
}

TEST_CASE_FIXTURE(watched_bench,
                  "watched: a failure is kept with what it read, if that is asked for") {
  const auto command = counted("cat a");
  const words options{"--keep-failures"};
  CHECK(run(options, command).status == 1);
  CHECK(run(options, command).status == 1);
  CHECK(runs() == 1);
  write("a", "there");
  const auto result = run(options, command);
  CHECK(result.status == 0);
  CHECK(result.out == "there");
}

TEST_CASE_FIXTURE(watched_bench,
                  "watched: a failure that was not watched is not kept by a dependency file") {
  const auto command = counted("cat a && echo 'o: a' > d");
  const words options{"--keep-failures", "--watch", "no", "--depfile", "d"};
  CHECK(run(options, command).status == 1);
  write("a", "there");
  CHECK(run(options, command).status == 0);
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(watched_bench, "watched: where nothing tells what was read, this is said once") {
  const auto command = counted("cat a");
  write("a", "1");
  const words unwatched{"--watch", "no"};
  const auto first = run(unwatched, command);
  CHECK(lines_of(first.err).size() == 1);
  CHECK(first.err.find("results are not kept") != std::string::npos);
  const auto second = run(unwatched, command);
  CHECK(second.err == "");
  CHECK(runs() == 2);
  const words strict{"--watch", "no", "--strict", "--in", "a"};
  check_quiet(run(strict, counted("true")));
  check_quiet(run(strict, counted("true")));
  CHECK(runs() == 3);
  const auto stats = run_hearth({"--store", store, "stats"}, logs);
  CHECK(stats.out.find("watching") != std::string::npos);
}

} // namespace watched_run_test
