// Bundles of a runtime: sessions that record, artifact types of the host, unknown types.
#include "runtime/caches/bundle/bundle.hpp"
#include "runtime/caches/bundle/bundle_file.hpp"
#include "runtime/caches/graphs/graph_cache.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/recording_session.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <set>
#include <thread>

namespace bundle_test {

using namespace hearth;
using namespace hearth::test;

namespace {

struct machine {
  explicit machine(const std::filesystem::path& store)
      : rt(settings(store)) {}

  static config settings(const std::filesystem::path& store) {
    config result;
    result.store = store;
    result.memory_budget_bytes = 1u << 20;
    result.jobs = 1;
    return result;
  }

  cache graphs() { return *rt.open("graphs"); }
  std::string text(const key& k) {
    const auto found = graphs().get(k);
    return found && found->hit() ? std::string(found->value.payload()) : "(none)";
  }

  runtime rt;
};

struct machines {
  temporary_directory directory;
  std::string file = (directory / "warm.bundle").string();
  machine a{directory / "a"};
  machine b{directory / "b"};
};

// A bundle with one record of a type that a host defines.
void write_foreign(const std::string& file, const std::string& type) {
  auto output = bundle_output::begin(file);
  REQUIRE(output);
  storage::bundle_writer writer(output->sink());
  storage::record_head head;
  head.type = type;
  head.cache = "elsewhere";
  head.version = "3";
  head.key = key("weights").encoded();
  head.metadata = encode(value{value::map{{"dtype", "bf16"}}});
  REQUIRE(writer.add(head, "bytes of weights"));
  REQUIRE(writer.finish());
  REQUIRE(output->commit());
}

} // namespace

TEST_CASE_FIXTURE(machines,
                  "a session records the entries that it stored or hit and nothing else") {
  REQUIRE(a.graphs().insert("before", artifact::make("from before")));
  REQUIRE(a.graphs().insert("unasked", artifact::make("nobody asks")));
  const auto session = recording_session::begin(a.rt);
  REQUIRE(session);
  const auto watched = session->watch(a.graphs());
  CHECK(watched.get("before")->hit());
  CHECK_FALSE(watched.get("missing")->hit());
  CHECK(watched.insert("inserted", artifact::make("new")));
  CHECK(watched.put("put", artifact::make("old")));
  CHECK(watched.put("put", artifact::make("replaced")));
  CHECK(watched.get_or_compile("compiled", [] { return artifact::make("made"); }));
  CHECK(watched.get_or_compile("before", [] { return artifact::make("not made"); }));
  const std::vector<key> many{"missing", "inserted"};
  CHECK(watched.get_many(many).size() == 2);
  CHECK(*session->count() == 4);
  const auto noted = session->finish();
  REQUIRE(noted);
  std::map<std::string, std::string> found;
  for (const auto& one : noted->artifacts)
    found[key::decode(one.key.bytes)->describe()] = one.value.payload();
  CHECK(found == std::map<std::string, std::string>{{"\"before\"", "from before"},
                                                    {"\"inserted\"", "new"},
                                                    {"\"put\"", "replaced"},
                                                    {"\"compiled\"", "made"}});
  REQUIRE(write_bundle(*noted, file));
  const auto imported = import_bundle(b.rt, file);
  REQUIRE(imported);
  CHECK(imported->added == 4);
  CHECK(b.text("put") == "replaced");
  CHECK(b.text("before") == "from before");
  CHECK(b.text("unasked") == "(none)");
}

TEST_CASE_FIXTURE(machines, "an insert that came second records the stored entry") {
  REQUIRE(a.graphs().insert("k", artifact::make("first")));
  const auto session = recording_session::begin(a.rt);
  const auto outcome = session->watch(a.graphs()).insert("k", artifact::make("second"));
  CHECK(*outcome == insert_outcome::exists);
  const auto noted = session->finish();
  REQUIRE(noted->artifacts.size() == 1);
  CHECK(noted->artifacts[0].value.payload() == "first");
}

TEST_CASE_FIXTURE(machines, "a session is bounded and reports the number left out") {
  const auto session = recording_session::begin(a.rt, {.bytes = 1000, .artifacts = 100});
  const auto watched = session->watch(a.graphs());
  for (int i = 0; i < 20; ++i)
    CHECK(watched.insert(key::integer(i), artifact::make(std::string(100, 'x'))));
  const auto noted = session->finish();
  CHECK(noted->artifacts.size() == 9);
  CHECK(noted->left_out == 11);
  CHECK(noted->bytes <= 1000);
}

TEST_CASE_FIXTURE(machines, "many threads record in one session and sessions do not mix") {
  const auto session = recording_session::begin(a.rt);
  const auto other = recording_session::begin(a.rt);
  const auto watched = session->watch(a.graphs());
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i)
          (void)watched.get_or_compile(key::integer(i % 100 + t),
                                       [] { return artifact::make("x"); });
      });
  }
  CHECK(session->finish()->artifacts.size() == 103);
  CHECK(other->finish()->artifacts.empty());
  CHECK(session->finish().error().code() == errc::not_found);
}

TEST_CASE_FIXTURE(machines, "metadata and versions travel with entries") {
  const auto versioned = *a.rt.open("graphs", cache_options().with_version("2"));
  REQUIRE(versioned.insert("k", artifact::make("two", value::map{{"guard", "s0 > 1"}})));
  REQUIRE(a.graphs().insert("k", artifact::make("zero")));
  REQUIRE(export_bundle(a.rt, file));
  REQUIRE(import_bundle(b.rt, file));
  CHECK(b.text("k") == "zero");
  const auto found = b.rt.open("graphs", cache_options().with_version("2"))->get("k");
  REQUIRE(found->hit());
  CHECK(found->value.payload() == "two");
  CHECK(found->value.metadata()->at("guard") == value("s0 > 1"));
}

TEST_CASE_FIXTURE(machines, "an import leaves the options of a cache to its later opener") {
  REQUIRE(a.graphs().insert("k", artifact::make("bytes")));
  REQUIRE(export_bundle(a.rt, file));
  REQUIRE(import_bundle(b.rt, file));
  const auto opened = b.rt.open("graphs", cache_options().compressed());
  REQUIRE(opened);
  CHECK(opened->get("k")->hit());
}

TEST_CASE_FIXTURE(machines, "an unknown type is reported and kept for the next export") {
  write_foreign(file, "weights.v9");
  const auto imported = import_bundle(a.rt, file);
  REQUIRE(imported);
  CHECK(imported->added == 1);
  CHECK(imported->unknown.at("weights.v9") == 1);
  CHECK(imported->unknown.size() == 1);
  CHECK(a.text("weights") == "(none)");
  const auto next = (directory / "next.bundle").string();
  REQUIRE(export_bundle(a.rt, next));
  std::vector<storage::record_head> before;
  std::vector<storage::record_head> after;
  REQUIRE(list_bundle(file, [&](const auto& head) { before.push_back(head); }));
  REQUIRE(list_bundle(next, [&](const auto& head) { after.push_back(head); }));
  CHECK(before == after);
  import_options knows;
  std::string taken;
  knows.types["weights.v9"] = [&](const auto& head, const artifact& value) -> expected<bool> {
    taken = head.version + " " + std::string(value.payload());
    return true;
  };
  const auto handed = import_bundle(b.rt, next, knows);
  REQUIRE(handed);
  CHECK(handed->unknown.empty());
  CHECK(taken == "3 bytes of weights");
}

TEST_CASE_FIXTURE(machines, "a host's artifacts are recorded under its type") {
  const auto session = recording_session::begin(a.rt);
  CHECK(session->note(a.graphs(), "w", artifact::make("weights"), "weights"));
  CHECK(session->note(a.graphs(), "w", artifact::make("weights"), "no type").error().code() ==
        errc::invalid_argument);
  REQUIRE(write_bundle(*session->finish(), file));
  std::vector<std::string> types;
  REQUIRE(list_bundle(file, [&](const auto& head) { types.push_back(head.type); }));
  CHECK(types == std::vector<std::string>{"weights"});
}

TEST_CASE_FIXTURE(machines, "a bundle cut anywhere imports nothing") {
  for (int i = 0; i < 40; ++i)
    REQUIRE(a.graphs().insert(key::integer(i), artifact::make(std::string(60, 'x'))));
  REQUIRE(export_bundle(a.rt, file));
  const auto bytes = file_text(file);
  const auto part = (directory / "part").string();
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 200) {
    CAPTURE(size);
    write_text(part, bytes.substr(0, size));
    const auto imported = import_bundle(b.rt, part);
    REQUIRE_FALSE(imported);
    CHECK(imported.error().code() == errc::malformed);
  }
  CHECK(internals::core(b.rt).store()->stats().entries == 0);
}

TEST_CASE_FIXTURE(machines, "an error of a host's type ends the import and reports its progress") {
  write_foreign(file, "weights");
  import_options fails;
  fails.types["weights"] = [](const auto&, const artifact&) -> expected<bool> {
    return fail(errc::no_space, "the card is full");
  };
  const auto imported = import_bundle(b.rt, file, fails);
  REQUIRE_FALSE(imported);
  CHECK(imported.error().code() == errc::no_space);
  CHECK(imported.error().text().find("the card is full; 0 records were there by then") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(machines, "without a store there is nothing to export or import into") {
  runtime bare(machine::settings({}));
  CHECK(export_bundle(bare, file).error().code() == errc::io);
  CHECK(import_bundle(bare, file).error().code() == errc::io);
  a.rt.shutdown();
  CHECK(export_bundle(a.rt, file).error().code() == errc::closed);
  CHECK(recording_session::begin(a.rt).error().code() == errc::closed);
}

TEST_CASE_FIXTURE(machines,
                  "an import joins the variants of a guarded key with those of the store") {
  const auto graphs_of = [&](machine& one) {
    graph_cache_options options;
    options.folder = directory / "folder";
    return *graph_cache::open(one.rt, options);
  };
  const auto add = [](const graph_cache& to, const std::string& guard, const std::string& payload) {
    REQUIRE(to.insert(key("graph"), *to.begin("source"), payload, guard));
  };
  const auto find = [](const graph_cache& in, std::int64_t size) {
    const auto reply = in.get(key("graph"), {{"s0", size}});
    REQUIRE(reply);
    return std::string(reply->hit() ? reply->entry.payload() : to_string(reply->status));
  };
  add(graphs_of(a), "s0 > 4", "large");
  REQUIRE(export_bundle(a.rt, file));
  const auto there = graphs_of(b);
  add(there, "s0 < 2", "small");
  CHECK(find(there, 1) == "small"); // the set is in memory
  CHECK(import_bundle(b.rt, file)->existed == 0);
  CHECK(find(there, 8) == "large");
  CHECK(find(there, 1) == "small");
  CHECK(find(there, 3) == "guard_miss");
  const auto again = import_bundle(b.rt, file);
  CHECK(again->added == 0);
  // A process that has not opened the cache joins too.
  add(graphs_of(a), "s0 == 3", "three");
  REQUIRE(export_bundle(a.rt, file));
  {
    machine importer(directory / "b");
    CHECK(import_bundle(importer.rt, file)->existed > 0);
  }
  CHECK(find(there, 3) == "three");
  CHECK(find(there, 1) == "small");
}

} // namespace bundle_test
