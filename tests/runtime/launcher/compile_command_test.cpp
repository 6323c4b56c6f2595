#include "tests/runtime/launcher/command_text.hpp"

#include "runtime/launcher/option_table.hpp"

namespace compile_command_test {

using namespace hearth::launcher;
using namespace hearth::test;

namespace {

std::string name_of(output::kind what) {
  switch (what) {
  case output::kind::object: return "object";
  case output::kind::assembly: return "assembly";
  case output::kind::dependencies: return "dependencies";
  case output::kind::split_debug: return "split_debug";
  case output::kind::coverage_notes: return "notes";
  case output::kind::stack_usage: return "stack";
  case output::kind::diagnostics: return "diagnostics";
  case output::kind::precompiled: return "precompiled";
  }
  return "?";
}

// "object a.o, stack a.su?": a question mark marks what is not required.
std::string outputs_of(std::string_view line) {
  std::string text;
  for (const auto& one : command_of(line).outputs)
    text += (text.empty() ? "" : ", ") + name_of(one.what) + " " + one.path +
            (one.is_required ? "" : "?");
  return text;
}

std::string redirected_text(std::string_view line) {
  return text_of(redirected(command_of(line), "/new").arguments);
}

std::string key_of(std::string_view line) { return text_of(key_arguments(command_of(line))); }

struct row {
  std::string_view line;
  std::string_view expected;
};

} // namespace

TEST_CASE("the outputs that a command line names or implies") {
  constexpr row rows[] = {
      {"gcc -c a.c", "object a.o"},
      {"gcc a.c -c", "object a.o"},
      {"gcc --compile src/a.b.c", "object a.b.o"},
      {"gcc -c src/a.c -o out/x", "object out/x"},
      {"gcc -c a.c -oout/x.o", "object out/x.o"},
      {"gcc -c a.c -o=x.o", "object =x.o"},
      {"gcc -c a.c --output=x.o", "object x.o"},
      {"gcc -c a.c --output x.o", "object x.o"},
      {"gcc -S a.c", "assembly a.s"},
      {"gcc -c -S a.c -o b.s", "assembly b.s"},
      {"gcc --assemble a.c", "assembly a.s"},
      {"gcc inc/a.h", "precompiled inc/a.h.gch"},
      {"gcc -c inc/a.h", "precompiled inc/a.h.gch"},
      {"g++ -x c++-header a.cxx -o b.gch -MD -MF d -MT b.gch", "precompiled b.gch, dependencies d"},
      {"gcc -fsyntax-only a.c", ""},
      {"gcc -fsyntax-only -c a.c -o a.o", ""},
      {"gcc -fsyntax-only -c -MD a.c", "dependencies a.d"},
      {"gcc -fsyntax-only -c -MD a.c -o sub/x.o", "dependencies sub/x.d"},
      {"gcc -c a.c -MD", "object a.o, dependencies a.d"},
      {"gcc -c a.c -MMD -o b/x.y.o", "object b/x.y.o, dependencies b/x.y.d"},
      {"gcc -c a.c -MMD -o b.c/x", "object b.c/x, dependencies b.c/x.d"},
      {"gcc -c a.c -MMD -o .x", "object .x, dependencies .d"},
      {"gcc -c a.c -MMD -o x.", "object x., dependencies x.d"},
      {"gcc -c a.c --write-dependencies", "object a.o, dependencies a.d"},
      {"gcc -c a.c --write-user-dependencies", "object a.o, dependencies a.d"},
      {"gcc -c a.c -MD -MF b.d", "object a.o, dependencies b.d"},
      {"gcc -c a.c -MFb.d -MP -MD", "object a.o, dependencies b.d"},
      {"gcc -c a.c -MF b.d", "object a.o"},
      {"gcc -c a.c -Wp,-MD,b.d", "object a.o, dependencies b.d"},
      {"gcc -c a.c -Wp,-MMD,b.d -o x.o", "object x.o, dependencies b.d"},
      {"gcc -c a.s -MD", "object a.o"},
      {"gcc -c a.S -MD", "object a.o, dependencies a.d"},
      {"gcc -c a.i -MD -MF b.d", "object a.o"},
      {"gcc -c -x cpp-output a.c -MD", "object a.o"},
      {"gcc -c a.c -g -gsplit-dwarf -o x/a", "object x/a, split_debug x/a.dwo?"},
      {"gcc -c a.c -gsplit-dwarf=split", "object a.o, split_debug a.dwo?"},
      {"gcc -c a.c -gsplit-dwarf -gno-split-dwarf", "object a.o"},
      {"clang -c a.c -gsplit-dwarf=single", "object a.o"},
      {"gcc -c a.s -gsplit-dwarf", "object a.o, split_debug a.dwo?"},
      {"gcc -c a.c --coverage -o x/b.o", "object x/b.o, notes x/b.gcno?"},
      {"gcc -c a.c -coverage", "object a.o, notes a.gcno?"},
      {"gcc -c a.c -ftest-coverage", "object a.o, notes a.gcno?"},
      {"gcc -c a.c -ftest-coverage -fno-test-coverage", "object a.o"},
      {"gcc -c a.c --coverage -fno-test-coverage", "object a.o, notes a.gcno?"},
      {"gcc -c a.c --coverage -fprofile-note=n", "object a.o, notes n?"},
      {"gcc -c a.c -fprofile-arcs", "object a.o"},
      {"gcc -c a.S --coverage", "object a.o"},
      {"gcc -S a.c --coverage -o x.s", "assembly x.s, notes x.gcno?"},
      {"gcc -c a.c -fstack-usage", "object a.o, stack a.su?"},
      {"gcc -c a.s -fstack-usage --coverage", "object a.o"},
      {"clang -c a.c --serialize-diagnostics a.dia", "object a.o, diagnostics a.dia"},
      {"clang -fsyntax-only a.c -serialize-diagnostics a.dia", "diagnostics a.dia"},
      {"clang -c -emit-llvm a.c", "object a.bc"},
      {"clang -S -emit-llvm a.c", "assembly a.ll"},
      {"clang -c -emit-llvm a.c -o x.o", "object x.o"},
      {"gcc -c -emit-llvm a.c -o x.o", "object x.o"},
      {"gcc -c -Wp,-D_FORTIFY_SOURCE=2,-I,x a.c", "object a.o"},
      {"gcc -x c -S ./.c -o a.s", "assembly a.s"},
      {"clang -c -- -a.c", "object -a.o"},
      {"gcc -c -flto a.c", "object a.o"},
  };
  for (const auto& one : rows) {
    CAPTURE(one.line);
    CHECK(outputs_of(one.line) == one.expected);
  }
}

TEST_CASE("the reasons for which a command line is not cached") {
  constexpr row rows[] = {
      {"gcc a.c", "links"},
      {"gcc a.o -o a", "links"},
      {"gcc a.c b.c -o a", "links"},
      {"gcc -v a.o", "links"},
      {"gcc -save-temps a.c", "links"},
      {"gcc -E a.c", "preprocesses only"},
      {"gcc -c -E a.c", "preprocesses only"},
      {"gcc -M a.c", "preprocesses only"},
      {"gcc -MM -MD -c a.c", "preprocesses only"},
      {"gcc --preprocess a.c", "preprocesses only"},
      {"gcc -E -", "preprocesses only"},
      {"gcc -S a.S", "preprocesses only"},
      {"gcc -S a.s", "preprocesses only"},
      {"gcc -fsyntax-only -MD a.S", "preprocesses only"},
      {"gcc -c -emit-llvm a.c", "unclear output names"},
      {"clang -c -emit-llvm a.S", "unclear output names"},
      {"gcc -x c -S ./.c", "unclear output names"},
      {"clang++-14 -x c++-header a.hpp -o a.pch", "precompiled header"},
      {"gcc -Wp,@file -c a.c", "unsupported option"},
      {"clang -Wp,-stats-file=a.json -c a.c", "unsupported option"},
      {"clang -g -Wp,-split-dwarf-output,a.dwo -c a.c", "unsupported option"},
      {"g++ -fvtable-verify=std -fvtv-counts -c a.cc", "further output files"},
      {"clang -mllvm -print-changed=dot-cfg -c a.c", "further output files"},
      {"gcc", "no source file"},
      {"gcc -c", "no source file"},
      {"gcc -c -D a.c", "no source file"},
      {"gcc -c a.c b.c", "several source files"},
      {"gcc -c -", "source on standard input"},
      {"gcc -c -x c -", "source on standard input"},
      {"gcc -c a.c b.o", "an input that is not a source file"},
      {"gcc -c a.c lib.a", "an input that is not a source file"},
      {"gcc -c a", "an input that is not a source file"},
      {"gcc -c a.inl", "an input that is not a source file"},
      {"gcc -c a.f90", "another language"},
      {"gcc -c a.adb", "another language"},
      {"clang -c a.cu", "another language"},
      {"clang -c a.ll", "another language"},
      {"gcc -c -x f95 a.c", "another language"},
      {"clang -c -x cuda a.c", "another language"},
      {"clang -c -arch arm64 -arch x86_64 a.c", "several architectures"},
      {"clang -c -Xarch_x86_64 -O2 a.c", "several architectures"},
      {"gcc -c -foffload=nvptx-none a.c", "code for an accelerator"},
      {"clang -c -fopenmp-targets=x a.c", "code for an accelerator"},
      {"clang -c --offload-arch=sm_70 a.c", "code for an accelerator"},
      {"gcc -c -save-temps a.c", "saves temporary files"},
      {"gcc -c -save-temps=obj a.c", "saves temporary files"},
      {"gcc -c --save-temps a.c", "saves temporary files"},
      {"clang -c -ftime-trace a.c", "traces the compiler's time"},
      {"clang -c -ftime-trace-granularity=1 a.c", "traces the compiler's time"},
      {"clang -c -ftime-trace=x a.c", "traces the compiler's time"},
      {"gcc -c -time=x a.c", "traces the compiler's time"},
      {"gcc -c -Q a.c", "traces the compiler's time"},
      {"gcc -c -fmodules-ts a.cc", "modules"},
      {"clang -c -fmodules a.c", "modules"},
      {"clang -c -fmodule-file=x a.cc", "modules"},
      {"clang -c -fmodule-output a.cc", "modules"},
      {"clang -c --precompile a.cppm", "modules"},
      {"clang -c a.cppm", "modules"},
      {"clang -c a.ixx", "modules"},
      {"clang -c -x c++-module a.cc", "modules"},
      {"gcc -c -x c++-system-header vector", "modules"},
      {"gcc -c -fdeps-format=p1689r5 a.cc", "modules"},
      {"gcc -c a.h -S", "precompiled header"},
      {"gcc -c a.h -MD", "precompiled header"},
      {"gcc -c a.h -g -gsplit-dwarf", "precompiled header"},
      {"gcc -fsyntax-only a.hpp", "precompiled header"},
      {"clang -c -include-pch a.pch a.c", "precompiled header"},
      {"clang -c -Xclang -include-pch -Xclang a.pch a.c", "precompiled header"},
      {"clang -c -Xclang -emit-pch a.c", "precompiled header"},
      {"clang -c -fpch-codegen a.c", "precompiled header"},
      {"gcc -S a.c -o -", "output on standard output"},
      {"gcc -c a.c -MD -MF -", "output on standard output"},
      {"gcc -c a.c -o /dev/null", "output to a device"},
      {"gcc -c a.c -o /dev/shm/a.o", "cached"},
      {"gcc -c a.c -MD -MF /dev/null", "output to a device"},
      {"gcc -c a.c -Wp,-MD,/dev/null", "output to a device"},
      {"gcc -c -fdump-tree-all a.c", "further output files"},
      {"gcc -c -dA a.c", "further output files"},
      {"gcc -c -dumpbase x a.c", "further output files"},
      {"gcc -c --dumpdir x a.c", "further output files"},
      {"gcc -c -fopt-info-all=x a.c", "further output files"},
      {"gcc -c -fopt-info-vec a.c", "cached"},
      {"gcc -c -fsave-optimization-record a.c", "further output files"},
      {"clang -c -foptimization-record-file=x a.c", "further output files"},
      {"gcc -c -fcallgraph-info=su a.c", "further output files"},
      {"gcc -c -aux-info x a.c", "further output files"},
      {"gcc -c -aux-info=x a.c", "further output files"},
      {"gcc -c -fcompare-debug a.c", "further output files"},
      {"gcc -c -fdiagnostics-format=sarif-file a.c", "further output files"},
      {"gcc -c -fdiagnostics-format=json-file a.c", "further output files"},
      {"gcc -c -fdiagnostics-format=json a.c", "cached"},
      {"gcc -c -fdiagnostics-add-output=sarif a.c", "further output files"},
      {"clang -c -MJ x a.c", "further output files"},
      {"clang -c -MJx a.c", "further output files"},
      {"clang -c -gen-cdb-fragment-path x a.c", "further output files"},
      {"clang -c -index-store-path x a.c", "further output files"},
      {"clang -c -save-stats a.c", "further output files"},
      {"clang -c -fproc-stat-report=x a.c", "further output files"},
      {"clang --analyze -c a.c", "further output files"},
      {"gcc -c -Wa,-a=x a.c", "further output files"},
      {"gcc -c -Wa,--noexecstack,-ahl a.c", "further output files"},
      {"gcc -c -Wa,--MD,x a.c", "further output files"},
      {"gcc -c -Wa,--M=x a.c", "further output files"},
      {"gcc -c -Wa,-MD,x a.c", "further output files"},
      {"gcc -c -Wa,--stat a.c", "further output files"},
      {"gcc -c -Xassembler -dump a.c", "further output files"},
      {"gcc -c -Wa,-M,-s a.c", "cached"},
      {"gcc -c -Xassembler -al a.c", "further output files"},
      {"gcc -c -Wa,--noexecstack a.c", "cached"},
      {"gcc -c -Wa,-mbig-obj -Xassembler --fatal-warnings a.c", "cached"},
      {"gcc -c -Wp,-MD a.c", "further output files"},
      {"gcc -c -Wp,-MD, a.c", "further output files"},
      {"gcc -c -Wp,-MD,x,-MT,y a.c", "further output files"},
      {"gcc -c -MD -Wp,-MD,x a.c", "further output files"},
      {"gcc -c -MD -Wp,-MF,x a.c", "further output files"},
      {"gcc -c -Wp,-dM a.c", "further output files"},
      {"gcc -c -Wp,-o,x a.c", "further output files"},
      {"gcc -c -Wp,-DX,-UY a.c", "cached"},
      {"gcc -c -Xpreprocessor -MT a.c", "further output files"},
      {"gcc -c -Xpreprocessor -MF -Xpreprocessor x a.c", "further output files"},
      {"gcc -c -Xpreprocessor -fopenmp a.c", "cached"},
      {"gcc -S -gsplit-dwarf -g a.c", "further output files"},
      {"gcc -fsyntax-only -fstack-usage a.c", "further output files"},
      {"gcc -fsyntax-only --coverage a.c", "further output files"},
      {"gcc -fsyntax-only -MD a.c", "further output files"},
      {"gcc -fsyntax-only -MD -MF x a.c", "cached"},
      {"clang -c -Xclang -o -Xclang x a.c", "further output files"},
      {"clang -c -Xclang -ast-dump a.c", "unsupported option"},
      {"clang -c -Xclang -fixit a.c", "further output files"},
      {"clang -c -Xclang -main-file-name -Xclang x a.c", "unsupported option"},
      {"clang -c -Xclang x a.c", "unsupported option"},
      {"clang -c -Xclang=-ast-dump a.c", "unsupported option"},
      {"clang -c -emit-ast a.c", "further output files"},
      {"clang -c -Xclang -fno-pch-timestamp a.c", "cached"},
      {"gcc -c -fpch-preprocess a.c", "cached"},
      {"clang -c -Xclang -load -Xclang x.so a.c", "cached"},
      {"clang -c -Xclang -mllvm -Xclang -stats a.c", "cached"},
      {"clang -c -Xclang -mllvm -Xclang -info-output-file=x a.c", "further output files"},
      {"clang -c -mllvm -info-output-file=x a.c", "further output files"},
      {"clang -c -mllvm -time-passes a.c", "traces the compiler's time"},
      {"clang -c -mllvm -inline-threshold=3 a.c", "cached"},
      {"gcc -c a.c -o a.c", "unclear output names"},
      {"gcc -c ./x/a.c -o x//a.c", "unclear output names"},
      {"gcc -c a.c -MD -MF a.o", "unclear output names"},
      {"gcc -c a.c -MD -o x.d", "unclear output names"},
      {"gcc -c a.c -MD -MF ./a.c", "unclear output names"},
      {"gcc -c a.c -fstack-usage -o .x", "unclear output names"},
      {"gcc --version", "asks about the compiler"},
      {"gcc -v", "asks about the compiler"},
      {"gcc -c -v a.c", "asks about the compiler"},
      {"gcc -### -c a.c", "asks about the compiler"},
      {"gcc -print-prog-name=ld", "asks about the compiler"},
      {"gcc -dumpversion", "asks about the compiler"},
      {"gcc -dumpmachine", "asks about the compiler"},
      {"gcc --help=common", "asks about the compiler"},
      {"clang -cc1", "asks about the compiler"},
      {"clang -c -working-directory x a.c", "unsupported option"},
      {"clang -c --config=x a.c", "unsupported option"},
      {"clang -c --driver-mode=cl a.c", "unsupported option"},
      {"gcc -c -wrapper x a.c", "unsupported option"},
      {"gcc -c -fpreprocessed a.c", "unsupported option"},
      {"gcc -c a.c -o", "incomplete command line"},
      {"gcc -c a.c -MT", "incomplete command line"},
      {"gcc -c a.c -o a.o -o b.o", "incomplete command line"},
      {"gcc -c a.c -o x/", "incomplete command line"},
      {"gcc -c a.c -MD -MF x -MF y", "incomplete command line"},
      {"gcc -c @missing", "unusable response file"},
  };
  for (const auto& one : rows) {
    CAPTURE(one.line);
    CHECK(reason_of(one.line) == one.expected);
  }
}

TEST_CASE("the argument that is the reason is named") {
  const auto refused = [](std::string_view line) {
    const auto command = read_compile_command(words_of(line), no_file);
    REQUIRE(!command);
    return command.error().argument;
  };
  CHECK(refused("gcc -c -save-temps=obj a.c -time") == "-save-temps=obj");
  CHECK(refused("clang -c -Xclang -ast-dump a.c") == "-Xclang -ast-dump");
  CHECK(refused("gcc -c @missing") == "@missing");
  CHECK(refused("gcc a.o").empty());
}

TEST_CASE("a word after an option that takes it is no source") {
  for (const auto* option : {"-I",
                             "-isystem",
                             "-iquote",
                             "-idirafter",
                             "-include",
                             "-imacros",
                             "-iprefix",
                             "-iwithprefix",
                             "-iwithprefixbefore",
                             "-isysroot",
                             "-imultilib",
                             "-D",
                             "-U",
                             "-A",
                             "-L",
                             "-l",
                             "-T",
                             "-u",
                             "-z",
                             "-e",
                             "-B",
                             "-G",
                             "-F",
                             "-Xlinker",
                             "-Xassembler",
                             "-Xpreprocessor",
                             "-arch",
                             "-target",
                             "-mllvm",
                             "-MT",
                             "-MQ",
                             "-MF",
                             "--param",
                             "--sysroot",
                             "--include",
                             "--include-directory",
                             "--imacros",
                             "--define-macro",
                             "--undefine-macro",
                             "--assert",
                             "--prefix",
                             "-gcc-toolchain",
                             "-resource-dir",
                             "-ivfsoverlay",
                             "-iframework",
                             "-cxx-isystem",
                             "-fdebug-compilation-dir",
                             "--for-linker"}) {
    const auto line = std::string("gcc -c ") + option + " b.c a.c";
    CAPTURE(line);
    CHECK(command_of(line).source == "a.c");
    CHECK(reason_of(std::string("gcc -c a.c ") + option) == "incomplete command line");
  }
  CHECK(command_of("gcc -c -Ib.c -include-dir.c -DX=b.c -Wl,b.c -lb.c a.c").source == "a.c");
  CHECK(command_of("gcc -c -std=c11 -O2 -Wall -unknown a.c").source == "a.c");
}

TEST_CASE("the language is that of -x or of the suffix, and of the driver") {
  constexpr row rows[] = {
      {"gcc -c a.c", "c"},
      {"g++ -c a.c", "c++"},
      {"/usr/bin/x86_64-linux-gnu-g++-12 -c a.c", "c++"},
      {"clang++-14 -c a.i", "c++-cpp-output"},
      {"clang --driver-mode=g++ -c a.c", "c++"},
      {"gcc-12 -c a.C", "c++"},
      {"gcc -c a.cp", "c++"},
      {"gcc -c a.c++", "c++"},
      {"gcc -c a.CPP", "c++"},
      {"gcc -c a.cc", "c++"},
      {"gcc -c a.cxx", "c++"},
      {"gcc -c a.i", "cpp-output"},
      {"gcc -c a.ii", "c++-cpp-output"},
      {"gcc -c a.m", "objective-c"},
      {"gcc -c a.mi", "objective-c-cpp-output"},
      {"gcc -c a.mm", "objective-c++"},
      {"gcc -c a.M", "objective-c++"},
      {"gcc -c a.mii", "objective-c++-cpp-output"},
      {"g++ -c a.s", "assembler"},
      {"gcc -c a.S", "assembler-with-cpp"},
      {"gcc -c a.sx", "assembler-with-cpp"},
      {"g++ -c -x c a.cc", "c"},
      {"gcc -c -xc++ a", "c++"},
      {"gcc -c --language=c++ a", "c++"},
      {"gcc -c --language c++ a", "c++"},
      {"gcc -c -x c++ -x none a.c", "c"},
      {"gcc -c a.c -x c++", "c"},
      {"gcc -c -x assembler-with-cpp a.c", "assembler-with-cpp"},
  };
  for (const auto& one : rows) {
    CAPTURE(one.line);
    CHECK(command_of(one.line).language == one.expected);
  }
}

TEST_CASE("the last option about colour counts") {
  const auto colour = [](std::string_view options) {
    return command_of("gcc -c a.c " + std::string(options)).colour;
  };
  CHECK(colour("") == std::nullopt);
  CHECK(colour("-fdiagnostics-color") == true);
  CHECK(colour("-fdiagnostics-color=always") == true);
  CHECK(colour("-fcolor-diagnostics") == true);
  CHECK(colour("-fdiagnostics-color=never") == false);
  CHECK(colour("-fno-diagnostics-color") == false);
  CHECK(colour("-fno-color-diagnostics") == false);
  CHECK(colour("-fdiagnostics-plain-output") == false);
  CHECK(colour("-fdiagnostics-color=always -fdiagnostics-color=auto") == std::nullopt);
  CHECK(colour("-fno-diagnostics-color -fdiagnostics-color") == true);
}

TEST_CASE("redirection replaces the names of outputs and keeps the target of the rules") {
  constexpr row rows[] = {
      {"gcc -c a.c", "-o /new/output.o -c a.c"},
      {"gcc -c a.c -o b.o -O2", "-c a.c -o /new/output.o -O2"},
      {"gcc -ob.o -c a.c", "-o /new/output.o -c a.c"},
      {"gcc --output=b.o -c a.c", "-o /new/output.o -c a.c"},
      {"gcc --output b.o -c a.c", "-o /new/output.o -c a.c"},
      {"gcc -S a.c -o b.s", "-S a.c -o /new/output.s"},
      {"gcc -S a.c", "-o /new/output.s -S a.c"},
      {"gcc -c a.c -MD", "-o /new/output.o -MF /new/output.d -MQ a.o -c a.c -MD"},
      {"gcc -c a.c -MD -o x/b", "-MF /new/output.d -MQ x/b -c a.c -MD -o /new/output.o"},
      {"gcc -c a.c -MMD -MF x.d", "-o /new/output.o -MQ a.o -c a.c -MMD -MF /new/output.d"},
      {"gcc -c a.c -MD -MFx.d -MTy -o z", "-c a.c -MD -MF /new/output.d -MTy -o /new/output.o"},
      {"gcc -S a.c -MD", "-o /new/output.s -MF /new/output.d -MQ a.o -S a.c -MD"},
      {"gcc -c a.c -Wp,-MD,x.d -MT y", "-o /new/output.o -c a.c -MD -MF /new/output.d -MT y"},
      {"gcc -c a.c -Wp,-MMD,x.d", "-o /new/output.o -MQ a.o -c a.c -MMD -MF /new/output.d"},
      {"gcc -fsyntax-only a.c -o b.o", "-fsyntax-only a.c -o b.o"},
      {"gcc -fsyntax-only -c a.c -o b.o -MD",
       "-MF /new/output.d -MQ b.o -fsyntax-only -c a.c -o b.o -MD"},
      {"gcc -c a.i -MD -MF x.d", "-o /new/output.o -c a.i -MD -MF x.d"},
      {"clang -c --serialize-diagnostics x a.c",
       "-o /new/output.o -c --serialize-diagnostics /new/output.dia a.c"},
      {"clang -c -- a.c", "-o /new/output.o -c -- a.c"},
  };
  for (const auto& one : rows) {
    CAPTURE(one.line);
    CHECK(!command_of(one.line).must_run_in_place);
    CHECK(redirected_text(one.line) == one.expected);
  }
  CHECK(redirected(command_of("gcc -c a.c -MD -fstack-usage"), "/new").paths ==
        command_words{"/new/output.o", "/new/output.d", "/new/output.su"});
}

TEST_CASE("commands whose outputs know their names run in place and keep the names in the key") {
  for (const auto* options :
       {"-g -gsplit-dwarf", "-gsplit-dwarf=single", "--coverage", "-ftest-coverage",
        "-fprofile-arcs", "-fprofile-generate", "-fprofile-use=x", "-fbranch-probabilities",
        "-fprofile-note=x", "-frecord-gcc-switches", "-grecord-command-line", "-fembed-bitcode",
        "-fplugin=x", "-Xclang -load -Xclang x", "-specs=x", "-Wp,-MD,x.d"}) {
    const auto line = std::string("gcc -c a.c -o b.o ") + options;
    CAPTURE(line);
    const auto command = command_of(line);
    CHECK(command.must_run_in_place);
    CHECK(text_of(key_arguments(command)) == line.substr(4));
    const auto same = redirected(command, "/new");
    CHECK(same.arguments == command.arguments);
    REQUIRE(same.paths.size() == command.outputs.size());
    for (std::size_t i = 0; i < same.paths.size(); ++i)
      CHECK(same.paths[i] == command.outputs[i].path);
  }
  CHECK(command_of("gcc -S -fverbose-asm a.c").must_run_in_place);
  CHECK(!command_of("gcc -c -fverbose-asm a.c").must_run_in_place);
  CHECK(!command_of("gcc -c -gsplit-dwarf -gno-split-dwarf a.c").must_run_in_place);
}

TEST_CASE("the key leaves out names that have no influence") {
  constexpr row rows[] = {
      {"gcc -c a.c -o b.o -O2", "-c a.c -O2"},
      {"gcc -c a.c -ob.o", "-c a.c"},
      {"gcc -S a.c -o b.s", "-S a.c"},
      {"gcc -c a.c --output b.o", "-c a.c"},
      {"gcc -c a.c -o b.o -MD", "-c a.c -MD -MQ b.o"},
      {"gcc -c a.c -o b.o -MD -MF c.d", "-c a.c -MD -MQ b.o"},
      {"gcc -c a.c -o b.o -MD -MF c.d -MT b.o", "-c a.c -MD -MT b.o"},
      {"gcc -c a.c -Wp,-MMD,x.d -MT y -o z", "-c a.c -Wp,-MMD, -MT y"},
      {"gcc -c a.c -Wp,-MMD,x.d", "-c a.c -Wp,-MMD, -MQ a.o"},
      {"gcc -c a.c -MF c.d", "-c a.c -MF c.d"},
      {"gcc -c a.c -o b.o -fstack-usage", "-c a.c -fstack-usage"},
      {"clang -c --serialize-diagnostics x a.c", "-c --serialize-diagnostics a.c"},
      {"gcc -fsyntax-only a.c -o b.o", "-fsyntax-only a.c"},
      {"gcc -fsyntax-only -c a.c -o b.o -MD", "-fsyntax-only -c a.c -MD -MQ b.o"},
  };
  for (const auto& one : rows) {
    CAPTURE(one.line);
    CHECK(key_of(one.line) == one.expected);
  }
}

TEST_CASE("the option whose name is the longest decides") {
  const auto name = [](std::string_view word) {
    const auto* const row = find_option(word);
    return row ? row->name : std::string_view();
  };
  CHECK(name("-c") == "-c");
  CHECK(name("-coverage") == "-coverage");
  CHECK(name("-cx") == "");
  CHECK(name("-fprofile-note=x") == "-fprofile-note=");
  CHECK(name("-fprofile-notes") == "-fprofile-");
  CHECK(name("-fplugin=libcc1plugin") == "-fplugin=libcc1plugin");
  CHECK(name("-fplugin=x") == "-fplugin");
  CHECK(name("-MTx") == "-MT");
  CHECK(name("-MMDx") == "");
  CHECK(name("-M") == "-M");
  CHECK(name("-fmodulo-sched") == "");
  CHECK(name("-O2") == "");
  CHECK(name("-") == "");
  CHECK(name("") == "");
  CHECK(name("~") == "");
}

TEST_CASE("variables that make compilers write further files") {
  CHECK(is_unsupported_variable("DEPENDENCIES_OUTPUT"));
  CHECK(is_unsupported_variable("SUNPRO_DEPENDENCIES"));
  CHECK(is_unsupported_variable("CCC_OVERRIDE_OPTIONS"));
  CHECK(!is_unsupported_variable("CPATH"));
  CHECK(!is_unsupported_variable(""));
}

} // namespace compile_command_test
