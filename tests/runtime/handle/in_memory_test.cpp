// Caches in memory alone, and the functions that load them.
#include "runtime/handle/in_memory.hpp"
#include "runtime/handle/typed_cache.hpp"
#include "storage/text/plain_entries.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

namespace in_memory_test {

using namespace hearth;
using namespace hearth::test;

namespace {

using value_cache = typed_cache<key, value>;

// Sets an environment variable for one test.
class variable {
public:
  explicit variable(const std::string& text) { ::setenv(name, text.c_str(), 1); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { ::unsetenv(name); }
  static constexpr const char* name = "HEARTH_TEST_ENTRIES";
};

std::string text_of(const storage::plain_entries& entries) { return storage::print_pairs(entries); }

struct files {
  std::filesystem::path write(const std::string& bytes) {
    const auto path = directory / "entries";
    write_text(path, bytes);
    return path;
  }
  std::size_t count() const {
    std::size_t found = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory.path()))
      ++found;
    return found;
  }
  temporary_directory directory;
  runtime rt{in_memory()};
};

} // namespace

TEST_CASE("memory alone inserts once, replaces by put, erases, and stays within its budget") {
  auto settings = in_memory();
  settings.memory_budget_bytes = 1u << 20;
  settings.memory_shards = 2;
  runtime rt(settings);
  const auto cache = rt.open("plain", cache_options().in_memory_only()).value();
  CHECK(*cache.insert("k", artifact::make("one")) == insert_outcome::inserted);
  CHECK(*cache.insert("k", artifact::make("two")) == insert_outcome::exists);
  CHECK(cache.get("k")->value.payload() == "one");
  CHECK(cache.put("k", artifact::make("three")));
  CHECK(cache.get("k")->value.payload() == "three");
  CHECK(*cache.erase("k"));
  CHECK_FALSE(cache.get("k")->hit());
  for (int i = 0; i < 4000; ++i)
    CHECK(cache.insert(key::integer(i), artifact::make(std::string(1000, 'x'))));
  const auto stats = rt.stats();
  CHECK(stats.bytes_used <= stats.budget_bytes);
  CHECK(stats.evicted > 0);
  CHECK(stats.entries > 100);
}

TEST_CASE("a variable that is missing or empty is an empty cache") {
  runtime rt(in_memory());
  ::unsetenv(variable::name);
  const auto missing = from_env_var(rt, "a", variable::name);
  REQUIRE(missing);
  CHECK_FALSE(missing->get("k")->hit());
  const temporary_directory directory;
  const auto text = [&](const expected<cache>& loaded) {
    REQUIRE(loaded);
    CHECK(to_file_path(*loaded, directory / "copy"));
    return file_text(directory / "copy");
  };
  const std::string map_of_nothing = "\x80";
  CHECK(text(missing) == map_of_nothing);
  const variable empty("");
  CHECK(text(from_env_var(rt, "b", variable::name)) == map_of_nothing);
  const variable blank(" ; \n;");
  CHECK(text(from_env_var(rt, "c", variable::name)) == map_of_nothing);
}

TEST_CASE("a cache comes from an environment variable") {
  runtime rt(in_memory());
  const variable set(" " + text_of({{key("name"), value{7}}, {key::integer(1), value{}}}) + " ;");
  const auto opened = from_env_var(rt, "a", variable::name);
  REQUIRE(opened);
  const value_cache values(*opened);
  CHECK(**values.get("name") == value{7});
  const auto nil = values.get(key::integer(1));
  REQUIRE(nil->has_value());
  CHECK((*nil)->is_nil());
  CHECK_FALSE(values.get(key::integer(2))->has_value());
  CHECK(*values.insert("name", value{8}) == insert_outcome::exists);
}

TEST_CASE("an error names the variable and the pair, and loads nothing") {
  runtime rt(in_memory());
  const auto good = text_of({{key("first"), value{1}}});
  const variable set(good + ";no comma");
  const auto failed = from_env_var(rt, "a", variable::name);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().to_string() ==
        "malformed: variable HEARTH_TEST_ENTRIES: pair 2: no comma between key and value");
  const auto cache = rt.open("a", cache_options().in_memory_only()).value();
  CHECK_FALSE(cache.get("first")->hit());
}

TEST_CASE("a key that the cache holds with another value is an error and loads nothing") {
  runtime rt(in_memory());
  const variable before(text_of({{key("k"), value{1}}}));
  const auto opened = from_env_var(rt, "a", variable::name).value();
  const variable now(text_of({{key("new"), value{1}}, {key("k"), value{2}}}));
  const auto failed = from_env_var(rt, "a", variable::name);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().to_string() == "invalid_value: variable HEARTH_TEST_ENTRIES: pair 2: key "
                                      "\"k\" has another value already");
  CHECK_FALSE(opened.get("new")->hit());
  CHECK(**value_cache(opened).get("k") == value{1});
  const variable same(text_of({{key("new"), value{1}}, {key("k"), value{1}}}));
  CHECK(from_env_var(rt, "a", variable::name));
  CHECK(opened.get("new")->hit());
}

TEST_CASE("a pair that does not fit the memory budget is an error and loads nothing") {
  auto settings = in_memory();
  settings.memory_budget_bytes = 128u << 10;
  settings.memory_shards = 1;
  runtime rt(settings);
  storage::plain_entries entries;
  for (int i = 0; i < 10; ++i)
    entries.push_back({key::integer(i), value{std::string(1000, 'x')}});
  const variable smaller(text_of(entries));
  CHECK(from_env_var(rt, "small", variable::name));
  for (int i = 10; i < 200; ++i)
    entries.push_back({key::integer(i), value{std::string(1000, 'x')}});
  const variable large(text_of(entries));
  const auto failed = from_env_var(rt, "large", variable::name);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == errc::too_large);
  CHECK(failed.error().text().starts_with("variable HEARTH_TEST_ENTRIES: pair "));
  CHECK(failed.error().text().find(": key ") != std::string::npos);
  const auto cache = rt.open("large", cache_options().in_memory_only()).value();
  for (int i = 0; i < 200; ++i)
    CHECK_FALSE(cache.get(key::integer(i))->hit());
}

TEST_CASE_FIXTURE(files, "a cache is written to a file and read back") {
  const auto cache = rt.open("a", cache_options().in_memory_only()).value();
  const value_cache values(cache);
  CHECK(values.insert(key::tuple({"op", key::integer(3)}), value{value::map{{"ms", 1.5}}}));
  CHECK(values.insert("nil", value{}));
  const auto path = directory / "entries";
  CHECK(to_file_path(cache, path));
  const auto loaded = from_file_path(rt, "b", path);
  REQUIRE(loaded);
  const value_cache again(*loaded);
  CHECK(**again.get(key::tuple({"op", key::integer(3)})) == value{value::map{{"ms", 1.5}}});
  CHECK((*again.get("nil"))->is_nil());
  CHECK(to_file_path(*loaded, directory / "copy"));
  CHECK(file_text(path) == file_text(directory / "copy"));
}

TEST_CASE_FIXTURE(files, "a missing file is an empty cache") {
  for (const auto& missing : {directory / "missing", directory / "no folder" / "missing"}) {
    const auto loaded = from_file_path(rt, "a", missing);
    REQUIRE(loaded);
    CHECK(to_file_path(*loaded, directory / "copy"));
    CHECK(file_text(directory / "copy") == "\x80"); // an empty map
  }
}

TEST_CASE_FIXTURE(files, "every malformed file is the typed error that names it") {
  const std::string cases[] = {"",
                               "\x81",
                               "text",
                               "\x01",
                               std::string("\x81\xa1k", 3),
                               std::string("\x80\x80", 2),
                               std::string("\x81\xc3\x01", 3)};
  for (const auto& bytes : cases) {
    const auto path = write(bytes);
    const auto failed = from_file_path(rt, "a", path);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().category() == error_category::input);
    CHECK(failed.error().text().starts_with(path.string() + ": "));
  }
  const auto folder = from_file_path(rt, "a", directory.path());
  REQUIRE_FALSE(folder);
  CHECK(folder.error().code() == errc::invalid_argument);
}

TEST_CASE_FIXTURE(files, "A4 defect: an empty file is the typed error and nothing half loaded") {
  const auto failed = from_file_path(rt, "a", write(""));
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == errc::malformed);
  // Two good entries, then a cut: neither of them is loaded.
  const auto whole = storage::encode_map({{key("a"), value{1}}, {key("b"), value{"text"}}});
  CHECK_FALSE(from_file_path(rt, "a", write(whole.substr(0, whole.size() - 1))));
  CHECK_FALSE(rt.open("a", cache_options().in_memory_only())->get("a")->hit());
}

TEST_CASE_FIXTURE(files, "a file that cannot be written is unchanged and no temporary is left") {
  const auto cache = rt.open("a", cache_options().in_memory_only()).value();
  const auto path = write("before");
  CHECK(cache.insert("raw", artifact::make("\xc1 no msgpack")));
  const auto failed = to_file_path(cache, path);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().text().starts_with("cache 'a': the entry of key \"raw\" is no msgpack"));
  CHECK(cache.put("raw", artifact::make("\x01", value::map{{"guard", 1}})));
  CHECK(to_file_path(cache, path).error().code() == errc::invalid_value);
  CHECK(cache.put("raw", artifact::make("\x01")));
  CHECK_FALSE(to_file_path(cache, directory / "no folder" / "entries"));
  std::filesystem::create_directory(directory / "folder");
  CHECK_FALSE(to_file_path(cache, directory / "folder")); // renaming onto a folder fails
  CHECK(file_text(path) == "before");
  CHECK(count() == 2); // only the file and the folder
  CHECK(to_file_path(cache, path));
  CHECK(file_text(path) == "\x81\xa3raw\x01");
  CHECK(count() == 2);
}

TEST_CASE_FIXTURE(on_disk, "a cache with other tiers is not written as a map") {
  runtime rt(settings());
  CHECK(to_file_path(*rt.open("c"), directory / "f").error().code() == errc::invalid_argument);
}

TEST_CASE("a variable may hold reals and booleans beside the values of a dictionary") {
  runtime rt(in_memory());
  const value all(value::map{{"real", 1.5},
                             {"flag", true},
                             {"nothing", value()},
                             {"nested", value::array{1, "text", binary{"bytes"}}}});
  const variable set(text_of({{key("k"), all}}));
  const auto opened = from_env_var(rt, "a", variable::name);
  REQUIRE(opened);
  const auto found = opened->get("k");
  REQUIRE(found->hit());
  CHECK(decode_value(found->value.payload()).value() == all);
}

} // namespace in_memory_test
