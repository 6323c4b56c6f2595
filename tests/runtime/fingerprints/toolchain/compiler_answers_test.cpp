#include "runtime/fingerprints/toolchain/compiler_answers.hpp"

#include <doctest/doctest.h>

namespace compiler_answers_test {

using namespace hearth;
using namespace hearth::fingerprints;

using names = std::vector<std::string>;

TEST_CASE("the names of a make rule are read unchanged") {
  CHECK(read_own_rule("hearth: a.cpp /usr/include/b.h \\\n  c.h\n") ==
        names{"a.cpp", "/usr/include/b.h", "c.h"});
  CHECK(read_own_rule("hearth: m\\ $$ain.cpp d\\ ir/h\\ \"q$$x\\#y:z.hpp \\\n b\\s.hpp "
                      "b\\\\\\ s.hpp b\\\\#s.hpp tab\\\tx.hpp\n") ==
        names{"m $ain.cpp", "d ir/h \"q$x#y:z.hpp", "b\\s.hpp", "b\\ s.hpp", "b\\#s.hpp",
              "tab\tx.hpp"});
  CHECK(read_own_rule("hearth: a\\\\ b\n") == names{"a\\", "b"});
  CHECK(read_own_rule("hearth: a.h b.h a.h\n") == names{"a.h", "b.h"});
  CHECK(read_own_rule("hearth: $x\n") == names{"$x"});
}

TEST_CASE("text that is no rule has no names") {
  for (const auto* text : {"", "hearth:", "hearth: \n", "other: a.cpp\n", "hearth", "\\\n"})
    CHECK(read_own_rule(text).empty());
}

TEST_CASE("the answers of GCC are read") {
  const auto answers = read_answers("Using built-in specs.\n"
                                    "Reading specs from /opt/my.specs\n"
                                    "COLLECT_GCC=/usr/bin/g++\n"
                                    "Target: x86_64-linux-gnu\n"
                                    " /usr/lib/gcc/12/cc1plus -E -quiet /dev/null\n"
                                    "ignoring nonexistent directory \"no pe\"\n"
                                    "ignoring duplicate directory \"/twin\"\n"
                                    "  as it is a non-system directory\n"
                                    "#include \"...\" search starts here:\n"
                                    " quote dir\n"
                                    "#include <...> search starts here:\n"
                                    " /usr/include/c++/12\n"
                                    "End of search list.\n"
                                    "COMPILER_PATH=/p/:/q/\n"
                                    "LIBRARY_PATH=/l/\n",
                                    "install: /i/\nprograms: =/q/:/r/\nlibraries: =/l/:/m/\n");
  CHECK(answers.driver == "/usr/bin/g++");
  CHECK(answers.target == "x86_64-linux-gnu");
  CHECK(answers.front_end == "/usr/lib/gcc/12/cc1plus");
  CHECK(answers.configuration == names{"/opt/my.specs"});
  CHECK(answers.include_directories == names{"no pe", "/twin", "quote dir", "/usr/include/c++/12"});
  CHECK(answers.program_directories == names{"/p/", "/q/", "/r/"});
  CHECK(answers.library_directories == names{"/l/", "/m/"});
}

TEST_CASE("the answers of Clang are read") {
  const auto answers =
      read_answers("clang version 14\nTarget: x86_64-pc-linux-gnu\n"
                   "Configuration file: /etc/clang.cfg\n"
                   "Selected GCC installation: /usr/bin/../lib/gcc/x86_64-linux-gnu/12\n"
                   " \"/usr/lib/llvm 14/bin/clang\" -cc1 -E\n",
                   "programs: =/usr/bin\n");
  CHECK(answers.front_end == "/usr/lib/llvm 14/bin/clang");
  CHECK(answers.gcc_installation == "/usr/bin/../lib/gcc/x86_64-linux-gnu/12");
  CHECK(answers.configuration == names{"/etc/clang.cfg"});
  CHECK(answers.driver.empty());
  CHECK(answers.include_directories.empty());
}

TEST_CASE("the resource folder of Clang is read, with and without quotes") {
  const auto folder = [](const std::string& written) {
    return read_answers(" \"/b/clang\" -cc1 -E -resource-dir " + written + " -x c++ /dev/null\n",
                        "")
        .resource_folder;
  };
  CHECK(folder("/usr/lib/clang/14.0.6") == "/usr/lib/clang/14.0.6");
  CHECK(folder(R"("/my llvm/14")") == "/my llvm/14");
  CHECK(folder(R"("/a\"b\\c\$d")") == R"(/a"b\c$d)");
  CHECK(read_answers(" \"/b/clang\" -cc1 -E\n", "").resource_folder.empty());
  CHECK(read_answers("note: -resource-dir /x y\n", "").resource_folder.empty());
}

TEST_CASE("answers of another program are empty") {
  const auto answers = read_answers("usage: tool [options]\n \n \"\n", "what?");
  CHECK(answers.front_end.empty());
  CHECK(answers.include_directories.empty());
  CHECK(answers.program_directories.empty());
}

TEST_CASE("the loader's list of libraries is read") {
  CHECK(read_loaded("\tlinux-vdso.so.1 (0x00007ffe)\n"
                    "\tlibLLVM-14.so.1 => /lib/x y/libLLVM-14.so.1 (0x00007f)\n"
                    "\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n"
                    "\tlibgone.so => not found\n"
                    "\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\nversion 1 => /x\n") ==
        names{"/lib/x y/libLLVM-14.so.1"});
}

} // namespace compiler_answers_test
