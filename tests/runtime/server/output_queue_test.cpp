#include "runtime/server/connection/output_queue.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>

using hearth::artifact;
using hearth::server::output_queue;

namespace {

std::string all_of(const output_queue& queue) {
  std::string all;
  for (const auto piece : queue.pieces())
    all += piece;
  return all;
}

} // namespace

TEST_CASE("output queue: small texts are one piece, a large payload is sent from where it lies") {
  output_queue queue;
  const auto large = artifact::make(std::string(output_queue::own_piece_bytes, 'v'));
  const auto small = artifact::make("small");
  queue.append("a");
  queue.append("");
  queue.append_payload(small);
  queue.append_payload(large);
  queue.append("z");
  CHECK(queue.pieces().size() == 3);
  CHECK(queue.pieces()[1].data() == large.payload().data());
  CHECK(all_of(queue) == "asmall" + std::string(large.payload()) + "z");
  CHECK(queue.size() == 7 + large.payload().size());
  queue.clear();
  CHECK(queue.is_empty());
  queue.append("again");
  CHECK(all_of(queue) == "again");
}

TEST_CASE("output queue: a part of a payload, and no more than there is") {
  output_queue queue;
  const auto value = artifact::make("0123456789");
  queue.append_payload(value, 2, 3);
  queue.append_payload(value, 8, 100);
  CHECK(all_of(queue) == "23489");
}

TEST_CASE("output queue: payloads that are kept are counted until they are sent") {
  std::atomic<std::uint64_t> kept{0};
  const auto large = artifact::make(std::string(20'000, 'v'));
  {
    output_queue output(kept);
    output_queue sending(kept);
    output.append_payload(large);
    output.append_payload(large, 0, 17'000);
    output.append("text");
    CHECK(kept == 37'000);
    swap(output, sending);
    CHECK(output.is_empty());
    CHECK(sending.size() == 37'004);
    sending.clear();
    CHECK(kept == 0);
    output.append_payload(large);
  }
  CHECK(kept == 0);
}
