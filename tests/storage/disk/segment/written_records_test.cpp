// A shard's memory of the records that it wrote.
#include "storage/disk/segment/written_records.hpp"

#include <doctest/doctest.h>

namespace written_records_test {

using namespace hearth::storage::disk;

namespace {

constexpr std::uint64_t start = first_record_offset;

void append(written_records& records, std::uint64_t segment, std::uint64_t from, std::uint64_t to) {
  records.append({segment, from}, to, from * 7, from, record_kind::value);
}

} // namespace

TEST_CASE("written records: a segment of this process is known to its end") {
  written_records records;
  records.begin(3);
  append(records, 3, start, start + 160);
  append(records, 3, start + 160, start + 480);
  const auto* known = records.find(3, {3, start + 480});
  REQUIRE(known);
  REQUIRE(known->size() == 2);
  CHECK(offset_of((*known)[1]) == start + 160);
  CHECK(bytes_of((*known)[1]) == 320);
  CHECK((*known)[1].hash == (start + 160) * 7);
  CHECK(!records.find(4, {3, start + 480}));
}

TEST_CASE("written records: a record that another process appended makes a segment unknown") {
  written_records records;
  records.begin(3);
  append(records, 3, start, start + 160);
  CHECK(!records.find(3, {3, start + 320})); // the other's record is at the end
  append(records, 3, start + 320, start + 480);
  CHECK(!records.find(3, {3, start + 480})); // and now in the middle
  records.begin(4);
  append(records, 4, start, start + 160);
  CHECK(!records.find(4, {5, start})); // the other process left it for another
  append(records, 9, start, start + 160);
  CHECK(!records.find(9, {9, start + 160})); // the other process began this one
}

TEST_CASE("written records: a segment sealed here is known until it is taken") {
  written_records records;
  records.begin(3);
  append(records, 3, start, start + 160);
  CHECK(records.take(3).empty());
  records.seal({3, start + 160});
  records.begin(4);
  append(records, 4, start, start + 160);
  CHECK(records.find(3, {4, start + 160}));
  CHECK(records.take(3).size() == 1);
  CHECK(records.take(3).empty());
  records.seal({4, start + 320}); // another process wrote the last record
  CHECK(!records.find(4, {5, start}));
}

TEST_CASE("written records: an evicted or repaired segment is forgotten") {
  written_records records;
  for (const std::uint64_t segment : {3, 4, 5}) {
    records.begin(segment);
    append(records, segment, start, start + 160);
    records.seal({segment, start + 160});
  }
  records.drop_below(4);
  CHECK(!records.find(3, {6, start}));
  CHECK(records.find(4, {6, start}));
  records.clear();
  CHECK(!records.find(5, {6, start}));
}

} // namespace written_records_test
