// What the launcher reads from a command line, compared with what gcc and clang do: the files that
// they write, and that the redirected command writes the same bytes.
//
// HEARTH_LAUNCHER_COMMANDS is the number of random commands, HEARTH_LAUNCHER_SEED their seed.
#include "tests/runtime/launcher/command_text.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <random>

namespace real_compilers_test {

using namespace hearth::launcher;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

using file_map = std::map<std::string, std::string>; // content by path below a folder
using contents_by_kind = std::map<output::kind, std::string>;

file_map files_below(const fs::path& folder) {
  file_map all;
  for (const auto& one : fs::recursive_directory_iterator(folder))
    if (one.is_regular_file())
      all.emplace(one.path().lexically_relative(folder), file_text(one.path()));
  return all;
}

// Programs that run with a folder as working directory.
struct compiler_bench {
  temporary_directory directory;
  fs::path folder = directory / "project";
  fs::path fresh = directory / "new, folder";
  fs::path errors = directory / "errors";
  file_map sources;

  compiler_bench() {
    ::setenv("LC_ALL", "C", 1);
    const std::string code =
        "#include \"h.h\"\nint f(int x) { int unused; return x > N ? f(x - 1) : x; }\n";
    for (const auto* name : {"a.c", "sub/d.c", "sp ace$x#y.c", "a.b.c", "noext"})
      write_text(folder / name, code);
    write_text(folder / "h.h", "#define N 4\n");
    write_text(folder / "sub/h.h", "#define N 5\n");
    write_text(folder / "b.cc",
               "#include \"h.h\"\nstruct s { int a; };\nint g(s* p) { return p->a + N; }\n");
    write_text(folder / "s.S", "#include \"h.h\"\n.globl v\nv: .long N\n");
    write_text(folder / "plain.s", ".globl v\nv: .long 4\n");
    write_text(folder / "pre.i", "# 1 \"a.c\"\nint f(int x) { return x + 1; }\n");
    write_text(folder / "empty.c", "");
    sources = files_below(folder);
  }

  int run(const command_words& arguments) const {
    child_process child([&] {
      const int log = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (::chdir(folder.c_str()) != 0 || ::dup2(log, 1) < 0 || ::dup2(log, 2) < 0) return 126;
      std::vector<char*> argv;
      auto own = arguments;
      for (auto& one : own)
        argv.push_back(one.data());
      argv.push_back(nullptr);
      ::execvp(argv.front(), argv.data());
      return 127;
    });
    return child.wait();
  }

  bool has(const std::string& compiler) const {
    const bool is_there = run({compiler, "--version"}) == 0;
    if (!is_there) MESSAGE(compiler, " is missing");
    return is_there;
  }

  // Removes what a run created, and returns it.
  file_map take_created() const {
    auto created = files_below(folder);
    for (const auto& [path, content] : sources) {
      REQUIRE(created[path] == content);
      created.erase(path);
    }
    for (const auto& [path, content] : created)
      fs::remove(folder / path);
    return created;
  }

  std::string relative(const std::string& path) const {
    return (folder / path).lexically_normal().lexically_relative(folder);
  }

  std::optional<std::string> read(const std::string& path) const {
    std::error_code failed;
    if (!fs::is_regular_file(folder / path, failed)) return std::nullopt;
    return file_text(folder / path);
  }

  command_words expanded(const command_words& line) const {
    command_words all;
    for (auto word : line) {
      if (const auto at = word.find("FOLDER"); at != word.npos)
        word.replace(at, 6, folder.string());
      all.push_back(std::move(word));
    }
    return all;
  }

  tl::expected<compile_command, refusal> read_line(const command_words& line) const {
    return read_compile_command(line, [&](const std::string& path) { return read(path); });
  }

  // The outputs that were created, each under its kind. Exactly the files of the command are.
  contents_by_kind by_kind(const compile_command& command, file_map created) const {
    contents_by_kind all;
    for (const auto& one : command.outputs) {
      const auto path = relative(one.path);
      CAPTURE(path);
      const auto at = created.find(path);
      CHECK((at != created.end() || !one.is_required));
      if (at == created.end()) continue;
      all[one.what] = std::move(at->second);
      created.erase(at);
    }
    for (const auto& one : created)
      FAIL_CHECK(one.first, " is not among the outputs");
    return all;
  }

  // Runs the redirected command, which succeeds or fails as the plain one, with the same text.
  void check_redirected(const compile_command& command, int status,
                        const contents_by_kind& plain) const {
    const auto text = file_text(errors);
    fs::remove_all(fresh);
    fs::create_directory(fresh);
    const auto other = redirected(command, fresh.string());
    CAPTURE(text_of(other.arguments));
    auto line = other.arguments;
    line.insert(line.begin(), command.compiler);
    CHECK(run(line) == status);
    CHECK(file_text(errors) == text);
    CHECK(take_created().empty());
    if (status != 0) return;
    auto written = files_below(fresh);
    for (std::size_t i = 0; i < command.outputs.size(); ++i) {
      const auto name = fs::path(other.paths[i]).filename().string();
      const auto at = plain.find(command.outputs[i].what);
      CHECK(written.contains(name) == (at != plain.end()));
      if (at != plain.end()) CHECK_MESSAGE(written[name] == at->second, name, " differs");
      written.erase(name);
    }
    CHECK(written.empty());
  }

  // Checks one command. Returns its outputs if it can be cached and succeeded.
  std::optional<contents_by_kind> check(const command_words& written) const {
    const auto line = expanded(written);
    CAPTURE(text_of(line));
    const auto command = read_line(line);
    if (!command) return std::nullopt;
    const int status = run(line);
    auto created = take_created();
    contents_by_kind plain;
    if (status == 0) plain = by_kind(*command, std::move(created));
    if (!command->must_run_in_place) check_redirected(*command, status, plain);
    if (status != 0) return std::nullopt;
    return plain;
  }
};

// Command lines after the compiler that both compilers accept.
constexpr std::string_view common_lines[] = {
    "-c a.c",
    "-c a.c -o sub/x.o -g -O2",
    "-c -oabc a.c -g3",
    "-c sub/d.c -MD",
    "-c a.c -MD -o sub/x",
    "-c a.c -MD -o .x",
    "-c a.c -MD -o ./sub//x.o",
    "-c a.c -MD -o FOLDER/sub/x.o -g",
    "-c a.c --output=sub/y.o --write-dependencies",
    "-c a.c -MMD -MF sub/deps -MP",
    "-c a.c -MD -MFdeps -MT target -o x.o",
    "-c a.c -MD -MF deps -MQ 'ta $x#y' -MQ b",
    "-c 'sp ace$x#y.c' -MD -g",
    "-c 'sp ace$x#y.c' -o 'o $u#t:a.o' -MMD -MF 'd $e#p'",
    R"(-c a.c -o "back\\sla\\ sh.o" -MD)",
    "-c a.c -Wp,-MD,deps",
    "-c a.c -Wp,-MMD,sub/.x.o.d -o sub/x.o",
    "-c a.c -Wp,-MMD,deps -MT x.o -o sub/x.o",
    "-c s.S -Wp,-MD,deps -g",
    "-c s.S -MD -o sub/s.o -g",
    "-c pre.i -g",
    "-xc -c noext -MD",
    "-S a.c -o sub/x.s -MD -g",
    "-S -c a.c -fverbose-asm -o x.s",
    "-fsyntax-only -c 'sp ace$x#y.c' -MD",
    "-fsyntax-only a.c -MD -MF deps",
    "-fsyntax-only -c a.c -MD -o sub/x.o",
    "-fsyntax-only a.c -MD -MF deps -o sub/x.o",
    "-c b.cc -MD -g -Wall",
    "-c empty.c -MD -g -fstack-usage",
    "-c a.c -fstack-usage -o sub/x.y.o",
    "-S a.c -fstack-usage -MD",
    "-c a.c -g -gsplit-dwarf -o sub/x.y.o -MD",
    "-c a.c -g -gsplit-dwarf -gno-split-dwarf -o sub/x",
    "-c s.S -g -gsplit-dwarf",
    "-c a.c --coverage -o sub/x.y -MD",
    "-S a.c --coverage -o sub/x.s",
    "-c a.c -ftest-coverage -fno-test-coverage -o sub/x",
    "-c s.S --coverage",
    "-c a.c -fprofile-generate -o sub/x.o",
    "-c a.c -flto -frandom-seed=1 -g",
    "-c a.c -flto -frandom-seed=1 -fstack-usage -o sub/x",
    "-c a.c -g -ffile-prefix-map=FOLDER=/x -o sub/x.o -MD",
    "-c a.c -fdiagnostics-color=always -Wall -Wextra",
    "-c missing.c -o sub/x.o",
    "-c a.c -DX='a b' -I sub -include h.h -MD",
    "-c a.c -grecord-gcc-switches -g -o sub/x.o",
    "-c a.c -pipe -fPIC -gz -g",
};

constexpr std::string_view gcc_lines[] = {
    "-c a.c -fstack-usage -g -gsplit-dwarf --coverage -MD -o sub/x.o",
    "-c a.c --coverage -fprofile-note=sub/n.gcno",
    "-c a.c -fopt-info -O2 -o sub/x.o",
    "-c a.c -flto -frandom-seed=1 -ffat-lto-objects -g -MD -o sub/x.o",
    "-c a.c -fdiagnostics-format=json -Wall -o sub/x.o",
    "-c plain.s -MD -MF x -g -gsplit-dwarf",
    "-c pre.i -MD -MF x",
    "-c a.c -Wa,--noexecstack -Wa,--gdwarf-5 -pipe -o sub/x.o",
    "-c a.c -Wp,-DX,-UY -MD -o sub/x.o",
};

constexpr std::string_view clang_lines[] = {
    "-c a.c --serialize-diagnostics x.dia -Wall -o sub/x.o",
    "-fsyntax-only -c a.c -serialize-diagnostics x.dia -MD",
    "-c -o sub/-x.o -MD -- a.c",
    "-c -MD -- a.c",
    "-c -emit-llvm a.c",
    "-S -emit-llvm a.c -o sub/x -MD",
    "-c a.c -flto=thin -g -o sub/x.o",
    "-c a.c -g -gsplit-dwarf=single -o sub/x.o",
    "-c a.c -gsplit-dwarf",
    "-c a.c -frecord-command-line -o sub/x.o",
    "-c a.c -fprofile-instr-generate -fcoverage-mapping -o sub/x.o",
    "-c a.c -fembed-bitcode -MD -o sub/x.o",
    "-c a.c -Xclang -fno-pch-timestamp -Xclang -disable-llvm-passes -MD -o sub/x.o",
    "-c a.c -mllvm -inline-threshold=3 -O2 -o sub/x.o",
    "-c pre.i -MD -MF x -o sub/x.o",
};

template <std::size_t N>
void check_lines(const compiler_bench& bench, const std::string& compiler,
                 const std::string_view (&lines)[N]) {
  for (const auto line : lines) {
    auto all = words_of(line);
    all.insert(all.begin(), compiler);
    CAPTURE(line);
    CHECK(bench.read_line(bench.expanded(all)));
    bench.check(all);
  }
}

// Random commands, in parts so that a variant of one can be made.
class command_maker {
public:
  explicit command_maker(unsigned seed)
      : random_(seed) {}

  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

  std::string pick(std::initializer_list<std::string_view> texts) {
    return std::string(texts.begin()[below(static_cast<unsigned>(texts.size()))]);
  }

  // What both variants share.
  std::string options(const std::string& compiler) {
    auto line = compiler + pick({" -c", " -c", " -c", " -S", " -fsyntax-only"});
    for (const auto* option : {"-g",
                               "-O2",
                               "-g -gsplit-dwarf",
                               "--coverage",
                               "-fstack-usage",
                               "-flto -frandom-seed=1",
                               "-ffile-prefix-map=FOLDER=/x",
                               "-fdebug-prefix-map=FOLDER=.",
                               "-fprofile-generate",
                               "-ftest-coverage",
                               "-Wall",
                               "-Werror -Wextra",
                               "-I sub",
                               "-include h.h",
                               "-DX='1 2'",
                               "-fPIC",
                               "-pipe",
                               "-fdiagnostics-color=always",
                               "-fverbose-asm",
                               "-grecord-gcc-switches",
                               "-frecord-gcc-switches",
                               "-gz",
                               "-g3",
                               "-x c",
                               "-ffunction-sections",
                               "-Wp,-DQ=1",
                               "-gno-split-dwarf",
                               "-MP",
                               "-MT tar$get",
                               "-MQ tar$get",
                               "-fno-test-coverage"})
      if (below(12) == 0) line += std::string(" ") + option;
    dependencies_ = below(4);
    return line + " " +
           pick({"a.c", "a.c", "sub/d.c", "'sp ace$x#y.c'", "b.cc", "s.S", "pre.i", "plain.s"});
  }

  // Names of outputs.
  std::string names() {
    auto line = pick({"", " -o x.o", " -osub/x.o", " --output=x", " --output sub/x.y.o",
                      " -o FOLDER/sub/abs.o", " -o 'sp a$c#e.o'", " -o ./sub//y.o"});
    if (dependencies_ == 1) line += pick({" -MD", " -MD -MF x.d", " -MFsub/y.d -MD"});
    if (dependencies_ == 2) line += pick({" -MMD", " -MMD -MF sub/x.d"});
    if (dependencies_ == 3) line += pick({" -Wp,-MD,wp.d", " -Wp,-MD,sub/wp.d"});
    return line;
  }

private:
  std::mt19937 random_;
  unsigned dependencies_ = 0;
};

unsigned number_in(const char* variable, unsigned otherwise) {
  const auto* const text = std::getenv(variable);
  return text ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

// The same command through a response file.
command_words through_file(const compiler_bench& bench, const command_words& line) {
  std::string text;
  for (std::size_t i = 1; i < line.size(); ++i) {
    for (const char c : line[i])
      (text += '\\') += c;
    text += '\n';
  }
  write_text(bench.folder / "rsp", text);
  return {line.front(), "@rsp"};
}

} // namespace

TEST_CASE("gcc writes what its command line says, and the same bytes elsewhere") {
  compiler_bench bench;
  if (!bench.has("gcc")) return;
  check_lines(bench, "gcc", common_lines);
  check_lines(bench, "gcc", gcc_lines);
}

TEST_CASE("clang writes what its command line says, and the same bytes elsewhere") {
  compiler_bench bench;
  if (!bench.has("clang")) return;
  check_lines(bench, "clang", common_lines);
  check_lines(bench, "clang", clang_lines);
}

TEST_CASE("random command lines write what they say, and equal keys mean equal bytes") {
  compiler_bench bench;
  std::vector<std::string> compilers;
  for (const auto* one : {"gcc", "g++", "clang"})
    if (bench.has(one)) compilers.emplace_back(one);
  if (compilers.empty()) return;
  const auto seed = number_in("HEARTH_LAUNCHER_SEED", 1);
  const auto count = number_in("HEARTH_LAUNCHER_COMMANDS", 60);
  command_maker make(seed);
  unsigned cached = 0;
  for (unsigned i = 0; i < count; ++i) {
    const auto options = make.options(compilers[i % compilers.size()]);
    auto line = words_of(options + make.names());
    const auto outputs = bench.check(line);
    if (!outputs) continue;
    ++cached;
    if (make.below(4) != 0) continue;
    const auto other = words_of(options + make.names());
    CAPTURE(text_of(line));
    CAPTURE(text_of(other));
    const auto one_command = bench.read_line(bench.expanded(line));
    const auto other_command = bench.read_line(bench.expanded(other));
    REQUIRE(one_command);
    if (one_command->must_run_in_place) continue;
    if (!other_command || key_arguments(*one_command) != key_arguments(*other_command)) continue;
    CHECK(bench.check(other) == outputs);
  }
  if (count >= 100) CHECK(cached > count / 3);
}

TEST_CASE("a response file stands for its arguments") {
  compiler_bench bench;
  for (const std::string compiler : {"gcc", "clang"}) {
    if (!bench.has(compiler)) continue;
    for (const auto* text : {"-c a.c -g -MD -o 'sp a$c#e.o'", "-c 'sp ace$x#y.c' '-DX=\"q\"'",
                             "-S a.c -Wall -DY=\\'x\\'"}) {
      auto line = words_of(text);
      line.insert(line.begin(), compiler);
      const auto direct = bench.check(line);
      const auto through = through_file(bench, line);
      bench.sources = files_below(bench.folder);
      REQUIRE(direct);
      CHECK(bench.check(through) == direct);
    }
  }
}

} // namespace real_compilers_test
