#include "runtime/actions/compile_in_folder.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace compile_in_folder_test {

using namespace hearth;

namespace {

struct compile {
  test::temporary_directory directory;
  action asked;

  compile() {
    asked.directory = std::filesystem::canonical(directory.path());
    test::write_text(directory / "a.c", "int f;\n");
    std::filesystem::create_directory(directory / "x");
    asked.command = {"gcc", "-O2", "-c", "a.c", "-o", "sub/a.o"};
    asked.outputs = {"sub/a.o"};
  }
  // The request as it is for a command that is not understood.
  action_request plain() const {
    action_request request;
    request.process.argv = asked.command;
    request.view.folder = asked.directory;
    for (const auto& name : asked.outputs)
      request.outputs.push_back({action_request::no_argument, "root" + name.string()});
    return request;
  }
  bool is_understood() const {
    auto request = plain();
    const bool changed = run_in_folder(asked, request).has_value();
    CHECK(changed == request.view.folder.empty());
    if (!changed) CHECK(request.process.argv == asked.command);
    return changed;
  }
};

} // namespace

TEST_CASE_FIXTURE(compile, "compile in its folder: the outputs alone go elsewhere") {
  asked.command = {"gcc", "-c", "a.c", "-MD", "-MF", "sub/a.d", "-o", "sub/a.o"};
  asked.outputs = {"sub/a.d", "sub/a.o"};
  asked.dependency_file = "sub/a.d";
  auto request = plain();
  REQUIRE(run_in_folder(asked, request));
  CHECK(request.view.folder == "");
  CHECK(request.process.directory == asked.directory.string());
  REQUIRE(request.outputs.size() == 2);
  const auto& argv = request.process.argv;
  CHECK(request.outputs[0].name == "output.d");
  CHECK(request.outputs[1].name == "output.o");
  CHECK(request.dependency_file == "output.d");
  CHECK(argv.at(request.outputs[0].argument - 1) == "-MF");
  CHECK(argv.at(request.outputs[1].argument - 1) == "-o");
  // The target that the compiler would have named by itself.
  const auto target = std::find(argv.begin(), argv.end(), "-MQ");
  REQUIRE(target != argv.end());
  CHECK(target[1] == "sub/a.o");
}

TEST_CASE_FIXTURE(compile, "compile in its folder: names of outputs decide nothing") {
  const auto words = [&](const std::vector<std::string>& command, const std::string& output) {
    asked.command = command;
    asked.outputs = {output};
    auto request = plain();
    const auto deciding = run_in_folder(asked, request);
    REQUIRE(deciding);
    CHECK(deciding->place == "its folder");
    return deciding->command;
  };
  const auto one = words({"gcc", "-c", "a.c", "-o", "x/one.o"}, "x/one.o");
  CHECK(one == std::vector<std::string>{"gcc", "-c", "a.c"});
  CHECK(words({"gcc", "-c", "a.c"}, "a.o") == one);
}

TEST_CASE_FIXTURE(compile, "compile in its folder: stack usage goes beside the object") {
  asked.command = {"gcc", "-fstack-usage", "-c", "a.c", "-o", "x/a.o"};
  asked.outputs = {"x/a.o", "x/a.su"};
  asked.optional_outputs = {"x/a.su"};
  auto request = plain();
  REQUIRE(run_in_folder(asked, request));
  REQUIRE(request.outputs.size() == 2);
  CHECK(request.outputs[0].is_required);
  CHECK(request.outputs[1].name == "output.su");
  CHECK(request.outputs[1].argument == action_request::no_argument);
  CHECK_FALSE(request.outputs[1].is_required);
}

TEST_CASE_FIXTURE(compile, "compile in its folder: a dependency file that nobody asks for") {
  asked.command = {"gcc", "-c", "a.c", "-MD", "-o", "sub/a.o"};
  asked.dependency_file = "sub/a.d";
  auto request = plain();
  REQUIRE(run_in_folder(asked, request));
  REQUIRE(request.outputs.size() == 1);
  REQUIRE(request.byproducts.size() == 1);
  CHECK(request.byproducts[0].name == "output.d");
  CHECK(request.process.argv.at(request.byproducts[0].argument - 1) == "-MF");
  CHECK(request.dependency_file == "output.d");
}

TEST_CASE_FIXTURE(compile, "compile in its folder: all forms of names") {
  for (const auto& [words, output] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"gcc", "-c", "a.c"}, "a.o"},
           {{"gcc", "-c", "a.c", "-ob.o"}, "b.o"},
           {{"gcc", "-c", "a.c", "-o", "./x/../b.o"}, "b.o"},
           {{"gcc", "-S", "a.c"}, "a.s"},
           {{"gcc", "-c", "a.c", "-o", (asked.directory / "b.o").string()}, "b.o"},
       }) {
    CAPTURE(words.back());
    asked.command = words;
    asked.outputs = {output};
    CHECK(is_understood());
  }
}

TEST_CASE_FIXTURE(compile, "compile in its folder: what is not understood runs in a view") {
  REQUIRE(is_understood());
  const auto usual = asked;
  const auto with = [&](const std::vector<std::string>& more) {
    asked = usual;
    asked.command.insert(asked.command.end(), more.begin(), more.end());
    return is_understood();
  };
  CHECK(with({"-O3"}));
  for (const auto* option :
       {"@r", "--coverage", "-gsplit-dwarf", "-save-temps", "-fstack-usage", "-E", "b.c",
        "-fdump-tree-all", "-Wa,-al=listing", "-fprofile-generate"}) {
    CAPTURE(option);
    CHECK_FALSE(with({option}));
  }
  asked = usual;
  asked.outputs.push_back("other");
  CHECK_FALSE(is_understood());
  asked = usual;
  asked.outputs = {"other"};
  CHECK_FALSE(is_understood());
  asked = usual;
  asked.dependency_file = "sub/a.d";
  CHECK_FALSE(is_understood());
  asked = usual;
  asked.environment = {{"DEPENDENCIES_OUTPUT", "d"}};
  CHECK_FALSE(is_understood());
  asked = usual;
  // A ".." behind a link, or a folder that is not there, leads elsewhere.
  std::filesystem::create_directory_symlink("/", directory / "root");
  asked.command.back() = "root/../a.o";
  asked.outputs = {"a.o"};
  CHECK_FALSE(is_understood());
  asked.command.back() = "none/../a.o";
  CHECK_FALSE(is_understood());
  asked = usual;
  std::filesystem::create_symlink("a.c", directory / "link.c");
  asked.command.back() = "link.c"; // the source under another name
  asked.outputs = {"link.c"};
  CHECK_FALSE(is_understood());
}

} // namespace compile_in_folder_test
