// Structural keys from the command line.
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace key_commands_test {

using namespace hearth::test;

namespace {

struct desk {
  program_result hearth(std::vector<std::string> arguments) const {
    return run_hearth(std::move(arguments), directory.path());
  }
  std::string file(const std::string& name, const std::string& content) const {
    write_text(directory / name, content);
    return (directory / name).string();
  }
  std::string key(const std::string& details) const {
    const auto result = hearth({"key", file("details.json", details)});
    CHECK_MESSAGE(result.status == 0, result.err);
    return result.out;
  }
  void check_refused(const std::string& details, const std::string& words) const {
    const auto result = hearth({"key", file("details.json", details)});
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(lines_of(result.err).size() == 1);
    CHECK_MESSAGE(result.err.find("details.json: " + words) != std::string::npos, result.err);
  }

  temporary_directory directory;
};

} // namespace

// Another program computed the key from the description in docs/keys.md.
TEST_CASE_FIXTURE(desk, "a key is what docs keys says") {
  CHECK(key(R"({"op": "add", "n": 3})") ==
        "fz4asd5u5nonzj6rs5rwyaadryia7ukw4zxvdawvgyzpht3gipcu\n");
  CHECK(key(R"({"n": 3, "op": "add"})") == key(R"({"op": "add", "n": 3})"));
  CHECK(key(R"({"n": 3.0, "op": "add"})") != key(R"({"op": "add", "n": 3})"));
}

TEST_CASE_FIXTURE(desk, "every kind of field has a form in JSON") {
  file("weights.bin", "12345678");
  const std::string all = R"json({
    "nil": null, "yes": true, "int": -7, "float": 0.5, "nan": {"$float": "nan"}, "one": {"$float": 1},
    "text": "x", "bytes": {"$bytes": "AAEC"}, "list": [1, [2]], "set": {"$set": [2, 1, 2]},
    "map": {"a": 1}, "odd": {"$map": {"$set": 1}}, "symbol": {"$symbol": "s0"},
    "tensor": {"$tensor": {"dtype": "f32", "shape": [2, "s0"], "strides": ["s0", 1],
               "device": "cuda:0", "layout": "strided", "requires_grad": true, "storage_bytes": 64}},
    "constant": {"$constant": {"dtype": "u8", "shape": [8], "strides": [1], "values": "MTIzNDU2Nzg="}},
    "source": {"$source": {"text": "k_17()",
                    "scrub" : ["_\\d+"]
}
}
, "plain" : {"$source" : "k()"}, "file" : {"$file" : "weights.bin"}, "tree" : {
  "$tree" : { "folder" : ".", "suffixes" : [".bin"] }
}
})json";
  const auto first = hearth({"key", "--debug", file("details.json", all)});
  CHECK_MESSAGE(first.status == 0, first.err);
  const auto lines = lines_of(first.out);
  CHECK(lines.size() == 22); // each field, two items in list and set, the key
  CHECK(first.out.find("] source: \"k()\"\n") != std::string::npos);
  CHECK(first.out.find("] set[0]: 1\n") != std::string::npos);
  CHECK(first.out.find("] tree[\"weights.bin\"]: 8 bytes ") == std::string::npos);
  CHECK(first.out.find("] tree: 1 files\n") != std::string::npos);
  const auto from_file = key(
      R"({"c": {"$constant": {"dtype": "u8", "shape": [8], "strides": [1], "file": "weights.bin"}}})");
  CHECK(
      from_file ==
      key(R"({"c": {"$constant": {"dtype": "u8", "shape": [8], "strides": [1], "values": "MTIzNDU2Nzg="}}})"));
  const auto before = key(R"({"tree": {"$tree": "."}, "f": {"$file": "weights.bin"}})");
  file("weights.bin", "12345679");
  CHECK(key(R"({"tree": {"$tree": "."}, "f": {"$file": "weights.bin"}})") != before);
}

TEST_CASE_FIXTURE(desk, "a value that no key can hold bypasses the cache") {
  const auto result =
      hearth({"key", file("a", R"({"args": [1, {"$unsupported": "a callable"}]})")});
  CHECK(result.status == 1);
  CHECK(result.out.empty());
  CHECK(result.err.find("bypassed: args[1]: a callable") != std::string::npos);
  const auto json = hearth({"--json", "key", (directory / "a").string()});
  CHECK(json.status == 1);
  CHECK(json.json()["bypass"] == "args[1]: a callable");
}

TEST_CASE_FIXTURE(desk, "wrong details are refused with their place") {
  check_refused("{\"a\": 1,\n \"b\": }", "line 2, column 7: no JSON");
  check_refused("", "line 1, column 1: no JSON");
  check_refused("{\"a\": 1, \"a\": 2}", "the name 'a' comes twice");
  check_refused("{\"a\": 9223372036854775808}",
                "the number '9223372036854775808' is outside 64 bits");
  check_refused("{\"a\": 99999999999999999999999}",
                "the number '99999999999999999999999' is outside");
  check_refused("[1]", "the details of a key are an object");
  check_refused(R"({"a": {"$tensr": {}}})", "a: '$tensr' stands for no kind of field here");
  check_refused(R"({"a": {"$symbol": "x", "b": 1}})", "a: '$symbol' stands for no kind");
  check_refused(R"({"a": [{"$tensor": {"dtype": "f32", "shape": [1.5]}}]})",
                "a[0][\"$tensor\"].shape[0]: a whole number or a symbol's name is wanted");
  check_refused(R"({"a": {"$tensor": {"shape": [], "strides": []}}})",
                "a[\"$tensor\"]: 'dtype' is missing");
  check_refused(R"({"a": {"$tensor": {"dtype": "f", "shape": [], "strides": [], "offset": 1}}})",
                "a[\"$tensor\"]: unknown member 'offset'");
  check_refused(R"({"a": {"$source": {"text": "x", "scrub": ["("]}}})",
                "a[\"$source\"].scrub: the pattern '('");
  check_refused(R"({"a": {"$bytes": "A"}})", "a[\"$bytes\"]: ");
  check_refused(R"({"a": {"$file": "none"}})", "a[\"$file\"]: ");
  check_refused("{\"a\": " + std::string(70, '[') + std::string(70, ']') + "}", "a[0]");
  check_refused("{\"a\": " + std::string(100000, '['), "nested deeper than 200");
}

TEST_CASE_FIXTURE(desk, "explain names the fields in which two keys differ") {
  const auto a =
      file("a.json", R"({"op": "add", "tile": 16, "in": [{"$symbol": "s0"}, 2], "old": 1})");
  const auto b = file("b.json", R"({"op": "add", "tile": 32, "in": [2, {"$symbol": "s0"}]})");
  const auto result = hearth({"explain", a, b});
  CHECK(result.status == 1);
  CHECK(result.out == "in[0]: moved to in[1]: s0\nold: only in the first: 1\ntile: 16 -> 32\n");
  const auto same = hearth({"explain", a, a});
  CHECK(same.status == 0);
  CHECK(same.out.empty());
  const auto json = hearth({"--json", "explain", a, b}).json();
  CHECK(json["equal"] == false);
  CHECK(json["differences"].size() == 3);
  CHECK(json["differences"][2]["first"] == "16");
  CHECK(hearth({"explain", a, (directory / "none").string()}).status == 2);
}

namespace {

// A store that holds keys of 200 fields with their details.
struct kept_keys : desk {
  std::string store = (directory / "store").string();

  std::string details(const std::string& name, const std::string& changed = "",
                      const std::string& content = "") const {
    std::string text = "{";
    for (int i = 0; i < 200; ++i) {
      const auto field = "field" + std::to_string(i);
      text +=
          (i ? ", \"" : "\"") + field + "\": " + (field == changed ? content : std::to_string(i));
    }
    return file(name, text + "}");
  }
  std::string key_in(const std::string& file_name) const {
    auto text = hearth({"key", file_name}).out;
    text.pop_back();
    return text;
  }
  program_result insert(const std::string& details_file,
                        const std::string& cache = "default") const {
    return hearth({"--store", store, "insert", key_in(details_file), file("payload", "bytes"),
                   "--details", details_file, "--cache", cache});
  }
  program_result explain(const std::string& details_file,
                         std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--store", store, "explain", details_file, "--stored"});
    return hearth(std::move(more));
  }
};

} // namespace

TEST_CASE_FIXTURE(kept_keys, "explain compares with the nearest stored key") {
  const auto wanted = details("wanted.json");
  auto nothing = explain(wanted);
  CHECK(nothing.status == 1);
  CHECK(nothing.out.empty());
  CHECK(nothing.err.find("--details") != std::string::npos);

  CHECK(insert(details("far.json", "field3", "[1, 2]")).status == 0);
  CHECK(insert(details("near.json", "field7", "8"), "graphs").status == 0);
  const auto far = explain(wanted);
  CHECK(far.status == 1);
  CHECK(far.out == "field3: 3 -> [1, 2]\n");
  const auto other = explain(wanted, {"--cache", "graphs"});
  CHECK(other.out == "field7: 7 -> 8\n");

  CHECK(insert(wanted).status == 0);
  const auto same = explain(wanted, {"--json"}).json();
  CHECK(same["equal"] == true);
  CHECK(same["nearest"] == key_in(wanted));
  CHECK(same["stored"] == 2);
  CHECK(explain(wanted).status == 0);
}

TEST_CASE_FIXTURE(kept_keys,
                  "the nearest stored key is the one that differs in the fewest places") {
  const auto two = file("two.json", R"({"a": 1, "b": 2, "c": 3})");
  const auto one = file("one.json", R"({"a": 1, "b": 2, "c": 4})");
  const auto wanted = file("wanted.json", R"({"a": 1, "b": 5, "c": 4})");
  CHECK(insert(one).status == 0);
  CHECK(insert(two).status == 0);
  CHECK(explain(wanted).out == "b: 5 -> 2\n");
}

TEST_CASE_FIXTURE(kept_keys, "details of another key are refused") {
  const auto a = file("a.json", R"({"a": 1})");
  const auto payload = file("payload", "bytes");
  const auto wrong = hearth({"--store", store, "insert", "mine", payload, "--details", a});
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("not 'mine'") != std::string::npos);
  const auto both = hearth({"--store", store, "put", "mine", "-", "--details", "-"});
  CHECK(both.status == 2);
  const auto bypass = file("bypass.json", R"({"a": {"$unsupported": "a callable"}})");
  CHECK(hearth({"--store", store, "put", "mine", payload, "--details", bypass}).status == 2);
  CHECK(hearth({"--store", store, "get", "mine"}).status == 1);
  CHECK(hearth({"explain", a}).status == 2);
  CHECK(hearth({"explain", a, a, "--stored"}).status == 2);
}

} // namespace key_commands_test
