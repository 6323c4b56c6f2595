// A compiled graph as it is kept: the payload, and in its metadata all that a hit needs. Plain
// values and pure functions, any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/attachment.hpp"
#include "messages/counters.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace hearth {

/// An attachment as an entry names it.
struct attachment_name {
  std::string folder;
  digest content;

  friend bool operator==(const attachment_name&, const attachment_name&) = default;
};

/// What stands in a graph entry's metadata.
struct graph_entry_details {
  std::string guard;  ///< empty: no condition
  std::string source; ///< what it was compiled from: tunings belong to it
  counter_deltas counters;
  std::vector<attachment_name> attachments;
  std::chrono::nanoseconds time_taken{0}; ///< by the compile

  friend bool operator==(const graph_entry_details&, const graph_entry_details&) = default;
};

/// The artifact of an entry.
artifact encode_graph_entry(std::string_view payload, const graph_entry_details& details);
/// Errors: `malformed`, the member that is not what it should be.
expected<graph_entry_details> decode_graph_entry(const artifact& entry);

/// What making this artifact took, as its metadata says; 0 when that says nothing.
std::chrono::nanoseconds time_taken_of(const artifact& made);

} // namespace hearth
