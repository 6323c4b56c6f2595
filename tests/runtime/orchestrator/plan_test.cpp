#include "runtime/orchestrator/plan.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>

namespace plan_test {

using namespace hearth;
using namespace hearth::orchestrator;

namespace {

// A valid plan; tests change one line of it.
const std::vector<std::string> good_lines{
    "[toolchain]",                                                             // 1
    "compiler = \"g++\"",                                                      // 2
    "flags = [\"-O3\"]",                                                       // 3
    "timeout = \"120s\"",                                                      // 4
    "[[kernel]]",                                                              // 5
    "name = \"scale\"",                                                        // 6
    "source = \"scale.cpp\"",                                                  // 7
    "entry = \"scale\"",                                                       // 8
    "reference = \"scale_reference\"",                                         // 9
    "tolerance = 1e-4",                                                        // 10
    "symbols = [\"m\", \"n\"]",                                                // 11
    "buffers = [ { type = \"f32\", shape = [\"m\", \"n + 1\"] },",             // 12
    "            { type = \"i64\", shape = [\"m * 2\", 3], output = true } ]", // 13
    "configs = [ { TILE = 16, UNROLL = 2 },",                                  // 14
    "            { TILE = 32, UNROLL = 4 } ]",                                 // 15
    "guards = [ \"m % 8 == 0\",",                                              // 16
    "           \"True\" ]",                                                   // 17
    "shapes = [ { m = 256, n = 1 },",                                          // 18
    "           { m = 250, n = 2 } ]",                                         // 19
};

// The good plan with line `number` (from 1) replaced.
std::string with_line(std::size_t number, std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < good_lines.size(); ++i)
    text += (i + 1 == number ? std::string(line) : good_lines[i]) + "\n";
  return text;
}

// A folder with a plan and the source that it names.
struct plan_folder {
  plan_folder() { test::write_text(directory / "scale.cpp", "int source;\n"); }

  std::string path() const { return (directory / "plan.toml").string(); }
  expected<plan> load(std::string_view text) const {
    test::write_text(path(), text);
    return load_plan(path());
  }
  // The error's code and text, without the folder's name.
  std::string failure(std::string_view text) const {
    const auto loaded = load(text);
    if (loaded) return "no error";
    auto line = loaded.error().to_string();
    CHECK(line.find('\n') == std::string::npos);
    CHECK(loaded.error().category() == error_category::input);
    const auto folder = directory.path().string() + "/";
    for (auto at = line.find(folder); at != std::string::npos; at = line.find(folder))
      line.erase(at, folder.size());
    return line;
  }
  std::string failure(std::size_t number, std::string_view line) const {
    return failure(with_line(number, line));
  }

  test::temporary_directory directory;
};

std::vector<std::string> texts(const plan_config& config) {
  std::vector<std::string> result;
  for (const auto& macro : config)
    result.push_back(macro.name + "=" + macro.text);
  return result;
}

} // namespace

TEST_CASE("a plan is read as written") {
  const plan_folder folder;
  const auto loaded = folder.load(with_line(0, ""));
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  CHECK(loaded->path == folder.path());
  CHECK(loaded->directory == folder.directory.path().string());
  CHECK(loaded->toolchain.compiler == "g++");
  CHECK(loaded->toolchain.flags == std::vector<std::string>{"-O3"});
  CHECK(loaded->toolchain.timeout == std::chrono::seconds(120));
  REQUIRE(loaded->kernels.size() == 1);
  const auto& kernel = loaded->kernels[0];
  CHECK(kernel.name == "scale");
  CHECK(kernel.source == "scale.cpp");
  CHECK(kernel.entry == "scale");
  CHECK(kernel.reference == "scale_reference");
  CHECK(kernel.tolerance == 1e-4);
  CHECK(kernel.symbols == std::vector<std::string>{"m", "n"});
  REQUIRE(kernel.buffers.size() == 2);
  CHECK(kernel.buffers[0].type == element_type::f32);
  CHECK_FALSE(kernel.buffers[0].output);
  CHECK(kernel.buffers[1].type == element_type::i64);
  CHECK(kernel.buffers[1].output);
  CHECK(kernel.buffers[0].shape[1].text() == "n + 1");
  REQUIRE(kernel.configs.size() == 2);
  CHECK(texts(kernel.configs[1]) == std::vector<std::string>{"TILE=32", "UNROLL=4"});
  CHECK(kernel.guards.size() == 2);
  CHECK(kernel.shapes == std::vector<std::vector<std::int64_t>>{{256, 1}, {250, 2}});
}

TEST_CASE("requests have the dimensions of their shapes and the first guard that holds") {
  const plan_folder folder;
  const auto loaded = folder.load(with_line(0, ""));
  REQUIRE(loaded);
  REQUIRE(loaded->requests.size() == 2);
  const auto& first = loaded->requests[0];
  const auto& second = loaded->requests[1];
  CHECK(first.shape == 0);
  CHECK(first.guard == 0u);
  CHECK(second.shape == 1);
  CHECK(second.guard == 1u);
  CHECK(first.buffers[0].shape == std::vector<std::int64_t>{256, 2});
  CHECK(first.buffers[1].shape == std::vector<std::int64_t>{512, 3});
  CHECK(first.buffers[1].type == element_type::i64);
  CHECK(first.buffers[1].output);
  CHECK(second.buffers[0].shape == std::vector<std::int64_t>{250, 3});
}

TEST_CASE("a guard has one entry for all its shapes and none without a shape") {
  const plan_folder folder;
  auto text = with_line(16, "guards = [ \"m < 0\", \"m % 8 == 0\",");
  text += "[[kernel]]\nname = \"other\"\nsource = \"scale.cpp\"\nentry = \"f\"\nsymbols = [\"m\"]\n"
          "buffers = [{ type = \"u8\", shape = [\"m\"], output = true }]\nconfigs = [{}]\n"
          "guards = [\"m % 2\", \"m % 2 == 0\"]\n"
          "shapes = [{ m = 2 }, { m = 3 }, { m = 4 }, { m = 5 }]\n";
  const auto loaded = folder.load(text);
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  using indices = std::vector<std::size_t>;
  REQUIRE(loaded->entries.size() == 4);
  CHECK(loaded->entries[0].guard == 1u);
  CHECK(loaded->entries[0].requests == indices{0});
  CHECK(loaded->entries[1].guard == 2u);
  CHECK(loaded->entries[1].requests == indices{1});
  CHECK(loaded->entries[2].kernel == 1);
  CHECK(loaded->entries[2].guard == 1u);
  CHECK(loaded->entries[2].requests == indices{2, 4});
  CHECK(loaded->entries[3].guard == 0u);
  CHECK(loaded->entries[3].requests == indices{3, 5});
  for (std::size_t i = 0; i < loaded->requests.size(); ++i) {
    const auto& served = loaded->entries[loaded->requests[i].entry].requests;
    CHECK(std::find(served.begin(), served.end(), i) != served.end());
  }
}

TEST_CASE("without guards each shape has an entry and equal shapes share one") {
  const plan_folder folder;
  auto text = with_line(16, "shapes = [ { m = 1, n = 1 }, { m = 2, n = 1 }, { n = 1, m = 1 } ]");
  text.erase(text.find("           \"True\" ]"));
  const auto loaded = folder.load(text);
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  REQUIRE(loaded->entries.size() == 2);
  CHECK_FALSE(loaded->entries[0].guard.has_value());
  CHECK(loaded->entries[0].requests == std::vector<std::size_t>{0, 2});
  CHECK(loaded->entries[1].requests == std::vector<std::size_t>{1});
}

TEST_CASE("optional keys have defaults") {
  const plan_folder folder;
  const auto loaded = folder.load("[toolchain]\ncompiler = \"cc\"\n[[kernel]]\nname = \"k\"\n"
                                  "source = \"scale.cpp\"\nentry = \"f\"\nbuffers = "
                                  "[{ type = \"f64\", shape = [], output = true }]\n"
                                  "configs = [{}]\nshapes = [{}]\n");
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  CHECK(loaded->toolchain.flags.empty());
  CHECK(loaded->toolchain.timeout == std::chrono::seconds(120));
  CHECK(loaded->kernels[0].reference.empty());
  CHECK(loaded->kernels[0].tolerance == 0);
  CHECK(loaded->kernels[0].configs[0].empty());
  REQUIRE(loaded->requests.size() == 1);
  CHECK(loaded->requests[0].buffers[0].shape.empty());
}

TEST_CASE("macros keep the plan's order and their kinds") {
  const plan_folder folder;
  const auto loaded = folder.load(with_line(
      14, "configs = [ { Z = 1, TYPE = 'float \"x\" é', FAST = true, A = 0.5, B = 2.0, N = -3 },"));
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  const auto& config = loaded->kernels[0].configs[0];
  CHECK(texts(config) == std::vector<std::string>{"Z=1", "TYPE=float \"x\" é", "FAST=true", "A=0.5",
                                                  "B=2.0", "N=-3"});
  CHECK(config[0].as_written == value(1));
  CHECK(config[1].as_written == value("float \"x\" é"));
  CHECK(config[2].as_written == value(true));
  CHECK(config[4].as_written == value(2.0));
}

TEST_CASE("blanks, quotes and other alphabets are read unchanged") {
  const plan_folder folder;
  const std::string name = "größe 'a' \"b\".cpp";
  test::write_text(folder.directory / name, "");
  auto text = with_line(7, "source = '''größe 'a' \"b\".cpp'''");
  text.replace(text.find("[\"-O3\"]"), 7, "['-DX=\"a b\"', '-Iödland']");
  const auto loaded = folder.load(text);
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  CHECK(loaded->kernels[0].source == name);
  CHECK(loaded->toolchain.flags == std::vector<std::string>{"-DX=\"a b\"", "-Iödland"});
}

TEST_CASE("symbols are written as PyTorch names them") {
  const plan_folder folder;
  auto text = with_line(11, "symbols = [\"m\", \"L['x'].size()[0]\"]");
  text.replace(text.find("n + 1"), 5, "L['x'].size()[0] + 1");
  text.replace(text.find("n = 1"), 5, "'L[\"x\"].size()[0]' = 1");
  text.replace(text.find("n = 2"), 5, "\"L['x'].size()[0]\" = 2");
  const auto loaded = folder.load(text);
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  CHECK(loaded->kernels[0].symbols[1] == "L['x'].size()[0]");
  CHECK(loaded->requests[1].buffers[0].shape == std::vector<std::int64_t>{250, 3});
}

TEST_CASE("timeouts have units") {
  const plan_folder folder;
  using namespace std::chrono;
  const std::vector<std::pair<std::string, milliseconds>> good{
      {"500ms", milliseconds(500)}, {"120s", seconds(120)}, {"2m", minutes(2)},
      {"2min", minutes(2)},         {"24h", hours(24)},     {"1d", hours(24)}};
  for (const auto& [text, expected_timeout] : good) {
    const auto loaded = folder.load(with_line(4, "timeout = \"" + text + "\""));
    REQUIRE(loaded);
    CHECK(loaded->toolchain.timeout == expected_timeout);
  }
  for (const std::string bad :
       {"0s", "-1s", "10", "s", "1.5s", "1 s", "25h", "2d", "99999999999999999999s", "9e9s"}) {
    CHECK(folder.failure(4, "timeout = \"" + bad + "\"") ==
          "malformed: plan.toml:4: toolchain.timeout: '" + bad +
              "' is no timeout; write 500ms, 120s, 2min or 1h, a day at most");
  }
  CHECK(folder.failure(4, "timeout = 120") ==
        "malformed: plan.toml:4: toolchain.timeout: has to be a text in quotes");
}

TEST_CASE("a plan that is not TOML is refused with its line") {
  const plan_folder folder;
  CHECK(folder.failure(3, "flags = [").starts_with("malformed: plan.toml:4: column "));
  CHECK(
      folder.failure(2, "compiler = 'a'\ncompiler = 'b'").starts_with("malformed: plan.toml:3: "));
  CHECK(folder.failure(2, "\xff = 1").starts_with("malformed: plan.toml:"));
  CHECK(folder.failure("a = " + std::string(100000, '[')).starts_with("malformed: plan.toml:1: "));
}

TEST_CASE("a plan that cannot be read is refused") {
  const plan_folder folder;
  const auto missing = load_plan((folder.directory / "none.toml").string());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == errc::not_found);
  CHECK(missing.error().text() == "cannot read this plan: cannot open " +
                                      (folder.directory / "none.toml").string() +
                                      ": No such file or directory");
  const auto directory = load_plan(folder.directory.path().string());
  REQUIRE_FALSE(directory);
  CHECK(directory.error().code() == errc::invalid_argument);
  CHECK(directory.error().text() == "cannot read this plan: " + folder.directory.path().string() +
                                        ": is a directory; name a regular file instead");
  CHECK(folder.failure(std::string(max_plan_bytes + 1, '#')) ==
        "too_large: plan.toml: this plan is larger than 4 MiB");
}

TEST_CASE("unknown keys are refused at their place") {
  const plan_folder folder;
  CHECK(folder.failure(1, "kernels = 1\n[toolchain]") ==
        "malformed: plan.toml:1: kernels: unknown key; known are toolchain, kernel");
  CHECK(folder.failure(4, "time = 1") ==
        "malformed: plan.toml:4: toolchain.time: unknown key; known are compiler, flags, timeout");
  CHECK(folder.failure(10, "tolerence = 1")
            .starts_with("malformed: plan.toml:10: kernel[0].tolerence: unknown key; known are "));
  CHECK(folder.failure(13, "{ type = 'u8', shape = [1], out = true } ]")
            .starts_with("malformed: plan.toml:13: kernel[0].buffers[1].out: unknown key; known"));
  CHECK(folder.failure(2, "\"a\\nb\" = 1")
            .starts_with("malformed: plan.toml:2: toolchain.a\\x0ab: unknown key"));
}

TEST_CASE("missing keys are named") {
  const plan_folder folder;
  CHECK(folder.failure("") == "malformed: plan.toml:1: toolchain: is missing");
  CHECK(folder.failure("[toolchain]\ncompiler = 'c'\n") ==
        "malformed: plan.toml:1: kernel: is missing");
  CHECK(folder.failure("kernel = []\n[toolchain]\ncompiler = 'c'\n") ==
        "malformed: plan.toml:1: kernel: is empty; give at least one");
  CHECK(folder.failure(2, "") == "malformed: plan.toml:1: toolchain.compiler: is missing");
  CHECK(folder.failure(6, "") == "malformed: plan.toml:5: kernel[0].name: is missing");
  CHECK(folder.failure(7, "") == "malformed: plan.toml:5: kernel[0].source: is missing");
  CHECK(folder.failure(8, "") == "malformed: plan.toml:5: kernel[0].entry: is missing");
  CHECK(folder.failure(12, "buffers = [ { shape = ['m'] },") ==
        "malformed: plan.toml:12: kernel[0].buffers[0].type: is missing");
  CHECK(folder.failure(12, "buffers = [ { type = 'u8' },") ==
        "malformed: plan.toml:12: kernel[0].buffers[0].shape: is missing");
  auto without_shapes = with_line(0, "");
  without_shapes.erase(without_shapes.find("shapes"));
  CHECK(folder.failure(without_shapes) == "malformed: plan.toml:5: kernel[0].shapes: is missing");
  CHECK(folder.failure(without_shapes + "shapes = []\n") ==
        "malformed: plan.toml:18: kernel[0].shapes: is empty; give at least one");
}

TEST_CASE("values of the wrong type are refused") {
  const plan_folder folder;
  CHECK(folder.failure(5, "[kernel]") ==
        "malformed: plan.toml:5: kernel: has to be a list; write [[kernel]]");
  CHECK(folder.failure("toolchain = 1\n") ==
        "malformed: plan.toml:1: toolchain: has to be a table");
  CHECK(folder.failure(2, "compiler = 1") ==
        "malformed: plan.toml:2: toolchain.compiler: has to be a text in quotes");
  CHECK(folder.failure(2, "compiler = ''") ==
        "malformed: plan.toml:2: toolchain.compiler: is empty");
  CHECK(folder.failure(3, "flags = '-O3'") ==
        "malformed: plan.toml:3: toolchain.flags: has to be a list");
  CHECK(folder.failure(3, "flags = ['-O3', 1]") ==
        "malformed: plan.toml:3: toolchain.flags[1]: has to be a text in quotes");
  CHECK(folder.failure(3, "flags = [\"a\\u0000b\"]") ==
        "malformed: plan.toml:3: toolchain.flags[0]: holds a zero byte");
  CHECK(folder.failure(10, "tolerance = '1'") ==
        "malformed: plan.toml:10: kernel[0].tolerance: has to be a number");
  CHECK(folder.failure(12, "buffers = [ 1,") ==
        "malformed: plan.toml:12: kernel[0].buffers[0]: has to be a table");
  CHECK(
      folder.failure(12, "buffers = [ { type = 'f16', shape = [1] },") ==
      "malformed: plan.toml:12: kernel[0].buffers[0].type: 'f16' is no type; write f32, f64, i32, "
      "i64 or u8");
  CHECK(folder.failure(12, "buffers = [ { type = 'u8', shape = [1], output = 1 },") ==
        "malformed: plan.toml:12: kernel[0].buffers[0].output: has to be true or false");
  CHECK(folder.failure(12, "buffers = [ { type = 'u8', shape = [1.5] },") ==
        "malformed: plan.toml:12: kernel[0].buffers[0].shape[0]: has to be an integer, or an "
        "expression in quotes");
  CHECK(folder.failure(15, "1 ]") ==
        "malformed: plan.toml:15: kernel[0].configs[1]: has to be a table, such as { TILE = 16 }");
  CHECK(folder.failure(17, "1 ]") ==
        "malformed: plan.toml:17: kernel[0].guards[1]: has to be a text in quotes");
  CHECK(folder.failure(19, "1 ]") ==
        "malformed: plan.toml:19: kernel[0].shapes[1]: has to be a table, such as { m = 256 }");
  CHECK(folder.failure(19, "{ m = 1.0, n = 2 } ]") ==
        "malformed: plan.toml:19: kernel[0].shapes[1].m: has to be an integer");
}

TEST_CASE("names that are invalid in C or the plan are refused") {
  const plan_folder folder;
  CHECK(folder.failure(8, "entry = 'a b'") ==
        "malformed: plan.toml:8: kernel[0].entry: 'a b' is no identifier of C");
  CHECK(folder.failure(9, "reference = '1x'") ==
        "malformed: plan.toml:9: kernel[0].reference: '1x' is no identifier of C");
  CHECK(folder.failure(6, "name = \"a\\tb\"") ==
        "malformed: plan.toml:6: kernel[0].name: holds a control character");
  CHECK(folder.failure(14, "configs = [ { 'a-b' = 1 },") ==
        "malformed: plan.toml:14: kernel[0].configs[0].a-b: a macro needs a name of C");
  CHECK(
      folder.failure(14, "configs = [ { HEARTH_GUARD = 1 },") ==
      "malformed: plan.toml:14: kernel[0].configs[0].HEARTH_GUARD: this macro is set by the guard");
  CHECK(folder.failure(11, "symbols = ['m', 'n', 'm']") ==
        "malformed: plan.toml:11: kernel[0].symbols[2]: 'm' is there twice");
  CHECK(folder.failure(11, "symbols = ['m', 'n', '2x']")
            .starts_with("malformed: plan.toml:11: kernel[0].symbols[2]: '2x' is no name: column"));
  const auto twice = with_line(0, "") + "[[kernel]]\nname = 'scale'\n";
  CHECK(folder.failure(twice) ==
        "malformed: plan.toml:21: kernel[1].name: there is a kernel 'scale' already");
}

TEST_CASE("a source has to be a file") {
  const plan_folder folder;
  CHECK(folder.failure(7, "source = 'none.cpp'") ==
        "not_found: plan.toml:7: kernel[0].source: there is no file none.cpp");
  std::filesystem::create_directory(folder.directory / "folder");
  CHECK(folder.failure(7, "source = 'folder'") ==
        "malformed: plan.toml:7: kernel[0].source: folder is not a file");
}

TEST_CASE("a tolerance is finite and not negative") {
  const plan_folder folder;
  for (const std::string bad : {"-1e-9", "-1", "nan", "inf", "-inf"})
    CHECK(folder.failure(10, "tolerance = " + bad) ==
          "malformed: plan.toml:10: kernel[0].tolerance: has to be 0 or more, and finite");
  CHECK(folder.load(with_line(10, "tolerance = 0")));
}

TEST_CASE("configurations are valid and different") {
  const plan_folder folder;
  CHECK(folder.failure(15, "{ UNROLL = 2, TILE = 16 } ]") ==
        "malformed: plan.toml:15: kernel[0].configs[1]: is the same as kernel[0].configs[0]");
  CHECK(folder.failure(15, "{ TILE = [1] } ]") ==
        "malformed: plan.toml:15: kernel[0].configs[1].TILE: has to be an integer, a text, a real, "
        "true or false");
  CHECK(folder.failure(15, "{ TILE = inf } ]") ==
        "malformed: plan.toml:15: kernel[0].configs[1].TILE: has to be finite");
  CHECK(folder.failure(15, "{ TILE = \"a\\nb\" } ]") ==
        "malformed: plan.toml:15: kernel[0].configs[1].TILE: holds a line break or a zero byte");
  auto none = with_line(14, "configs = []");
  none.erase(none.find("            { TILE = 32"), good_lines[14].size());
  CHECK(folder.failure(none) ==
        "malformed: plan.toml:14: kernel[0].configs: is empty; give at least one");
}

TEST_CASE("expressions are checked even if no shape needs them") {
  const plan_folder folder;
  CHECK(folder.failure(17, "'m %' ]") == "malformed: plan.toml:17: kernel[0].guards[1]: column 4: "
                                         "expected a value, found the end");
  CHECK(folder.failure(17, "'True or k' ]") ==
        "unknown_name: plan.toml:17: kernel[0].guards[1]: column 9: unknown symbol 'k'; symbols "
        "are m, n");
  CHECK(folder.failure(12, "buffers = [ { type = 'u8', shape = ['m', 'n / 2'] },") ==
        "malformed: plan.toml:12: kernel[0].buffers[0].shape[1]: column 3: '/' gives a real "
        "number; write '//'");
  CHECK(folder.failure(12, "buffers = [ { type = 'u8', shape = ['k'] },") ==
        "unknown_name: plan.toml:12: kernel[0].buffers[0].shape[0]: column 1: unknown symbol 'k'; "
        "symbols are m, n");
}

TEST_CASE("a shape gives every symbol one value and no other") {
  const plan_folder folder;
  CHECK(folder.failure(19, "{ m = 1 } ]") ==
        "malformed: plan.toml:19: kernel[0].shapes[1]: gives no value for 'n'");
  CHECK(folder.failure(19, "{ m = 1, n = 2, k = 3 } ]") ==
        "unknown_name: plan.toml:19: kernel[0].shapes[1].k: unknown symbol; symbols are m, n");
}

TEST_CASE("guards are evaluated for every shape") {
  const plan_folder folder;
  CHECK(folder.failure(17, "'m < 0' ]") ==
        "malformed: plan.toml:19: kernel[0].shapes[1]: no guard holds for m = 250, n = 2; add one, "
        "such as \"True\"");
  CHECK(folder.failure(17, "'m % (n - 2)' ]") ==
        "division_by_zero: plan.toml:17: kernel[0].guards[1]: column 3: division by zero, for m = "
        "250, n = 2");
  CHECK(folder.failure(17, "'m ** 9' ]") ==
        "overflow: plan.toml:17: kernel[0].guards[1]: column 3: a value outside 64 bits, for m = "
        "250, n = 2");
}

TEST_CASE("dimensions are evaluated for every shape") {
  const plan_folder folder;
  const auto shape = [&](const std::string& dimensions) {
    return folder.failure(12, "buffers = [ { type = 'f32', shape = [" + dimensions + "] },");
  };
  CHECK(shape("'m - 250'") == "malformed: plan.toml:12: kernel[0].buffers[0].shape[0]: a dimension "
                              "of 0 for m = 250, n = 2; it has to be 1 or more");
  CHECK(shape("1, -4") == "malformed: plan.toml:12: kernel[0].buffers[0].shape[1]: a dimension of "
                          "-4 for m = 256, n = 1; it has to be 1 or more");
  CHECK(
      shape("'m // (2 - n)'") ==
      "division_by_zero: plan.toml:12: kernel[0].buffers[0].shape[0]: column 3: division by zero, "
      "for m = 250, n = 2");
  CHECK(shape("'2 ** 40', '2 ** 40'") ==
        "too_large: plan.toml:12: kernel[0].buffers[0].shape[0]: the buffers have more than 4 GiB "
        "for m = 256, n = 1");
  CHECK(shape("'2 ** 15', '2 ** 15', 2").starts_with("too_large: plan.toml:12: "));
}

TEST_CASE("all buffers of a shape together have a limit") {
  const plan_folder folder;
  const std::string big = "{ type = 'u8', shape = ['2 ** 31'] }";
  const std::string small = "            { type = 'u8', shape = [1], output = true } ]";
  auto text = with_line(12, "buffers = [ " + big + ", " + big + ",");
  const auto last = good_lines[12];
  text.replace(text.find(last), last.size(), small);
  CHECK(folder.failure(text) == "too_large: plan.toml:13: kernel[0].buffers[2].shape[0]: the "
                                "buffers have more than 4 GiB for m = 256, n = 1");
}

TEST_CASE("a plan needs an output for the result") {
  const plan_folder folder;
  CHECK(folder.failure(13, "{ type = 'u8', shape = ['m'] } ]") ==
        "malformed: plan.toml:12: kernel[0].buffers: no buffer has output = true");
}

TEST_CASE("lists have limits") {
  const plan_folder folder;
  std::string ones = "1";
  for (int i = 0; i < 16; ++i)
    ones += ", 1";
  CHECK(folder.failure(12, "buffers = [ { type = 'u8', shape = [" + ones + "] },") ==
        "too_large: plan.toml:12: kernel[0].buffers[0].shape: has 17 items; 16 are allowed");
  std::string shapes;
  for (std::size_t i = 0; i <= max_plan_items; ++i)
    shapes += "{},";
  CHECK(folder.failure(19, shapes + "]") ==
        "too_large: plan.toml:18: kernel[0].shapes: has 4098 items; 4096 are allowed");
}

TEST_CASE("the example plan is valid") {
  const auto loaded = load_plan(std::string(HEARTH_SOURCE_DIR) + "/examples/kernels/plan.toml");
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  CHECK(loaded->kernels.size() >= 10);
}

} // namespace plan_test
