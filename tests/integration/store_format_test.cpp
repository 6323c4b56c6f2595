// docs/store-format.md is complete: a reader written from that page alone finds the same entries as
// the program, with the stored bytes.
#include "messages/key.hpp"
#include "storage/hash/copy_hash.hpp"
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/hearth_program.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <map>

namespace store_format_test {

using namespace hearth::test;
using hearth::storage::write_kind;
using hearth::storage::write_request;

namespace {

nlohmann::json read_independently(const std::filesystem::path& store) {
  const auto command =
      "python3 " HEARTH_SOURCE_DIR "/tests/support/store_reader.py " + store.string() + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char part[4096];
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, pipe)) > 0;)
    text.append(part, got);
  CHECK(::pclose(pipe) == 0);
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  REQUIRE_MESSAGE(!parsed.is_discarded(), text);
  return parsed;
}

void apply(hearth::storage::store& store, write_request request) {
  store.apply(store.shard_of(request.key.hash), {&request, 1});
  REQUIRE(request.status != hearth::storage::write_status::failed);
}

// Indexed by cache, version and key.
using entries = std::map<std::string, nlohmann::json>;

entries by_key(const nlohmann::json& list) {
  entries all;
  for (const auto& one : list)
    all[one.at("cache").get<std::string>() + "|" + one.at("version").get<std::string>() + "|" +
        one.at("key_base64").get<std::string>()] = one;
  return all;
}

} // namespace

TEST_CASE("a reader written from the format's page agrees with the program about every entry") {
  const temporary_directory directory;
  const auto place = directory / "store";
  auto options = small_store(place);
  options.shards = 3;
  options.budget_bytes = 15u << 20;
  std::map<std::string, std::string> sums; // the payload's checksum, by the key's text
  const auto graphs = *hearth::cache_id::make("graphs");
  const auto tunings = *hearth::cache_id::make("tunings", "v2 \xc3\xa9");
  {
    auto store = open_store(options);
    const auto put = [&](const hearth::cache_id& cache, const std::string& name,
                         const std::string& payload, bool compress, std::int64_t expires = 0) {
      const auto bytes = hearth::key(name).encoded();
      apply(*store, {.kind = write_kind::put,
                     .key = {cache, bytes},
                     .value = hearth::artifact::make(payload, std::string(payload.size() % 9, 'm')),
                     .expires_unix_ms = expires,
                     .compress = compress});
      sums[cache.name() + "|" + name] =
          fmt::format("{:016x}", hearth::storage::hash_bytes(payload));
    };
    put(graphs, "hot", noise(500'000, 7), false);
    for (int i = 0; i < 4000; ++i) {
      const auto seed = static_cast<std::uint64_t>(i);
      const auto name = "k" + std::to_string(i % 3000);
      put(i % 2 ? graphs : tunings, name,
          i % 5 ? noise(seed % 20'000, seed) : std::string(seed % 9000, 'z'), i % 3 == 0,
          i % 11 == 0   ? 1000
          : i % 13 == 0 ? std::int64_t{4'000'000'000'000}
                        : 0);
      if (i % 160 == 0) put(graphs, "large" + std::to_string(i), noise(300'000, seed), false);
      if (i % 50 == 0)
        REQUIRE(get(*store, hearth::key("hot").encoded(), graphs).status ==
                hearth::storage::read_status::hit);
      if (i % 7 == 0)
        apply(*store, {.kind = write_kind::erase,
                       .key = {graphs, hearth::key("k" + std::to_string(i / 2)).encoded()}});
    }
    REQUIRE(store->flush());
  }
  const auto read = read_independently(place);
  CHECK(read.at("tables") > 3);
  CHECK(read.at("large_kept") >= 1);
  const auto ours =
      by_key(run_hearth({"list", "--json", "--store", place.string()}, directory.path()).json());
  const auto theirs = by_key(read.at("entries"));
  CHECK(theirs.size() > 500);
  REQUIRE(ours.size() == theirs.size());
  for (const auto& [name, one] : theirs) {
    REQUIRE_MESSAGE(ours.contains(name), name);
    const auto& same = ours.at(name);
    for (const char* field : {"metadata_bytes", "payload_bytes", "stored_bytes", "sequence",
                              "shard", "expires_unix_ms"})
      REQUIRE(one.at(field) == same.at(field));
    const auto text = same.at("key").get<std::string>(); // with quotes
    REQUIRE(one.at("payload_xxh3") ==
            sums.at(one.at("cache").get<std::string>() + "|" + text.substr(1, text.size() - 2)));
  }
}

} // namespace store_format_test
