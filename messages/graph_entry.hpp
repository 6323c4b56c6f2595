// The stored form of a compiled graph: the payload, and metadata with everything that a hit needs.
// Plain values and pure functions, any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/attachment.hpp"
#include "messages/counters.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// An entry's reference to an attachment.
struct attachment_name {
  std::string folder;
  digest content;

  friend bool operator==(const attachment_name&, const attachment_name&) = default;
};

/// The metadata of a graph entry.
struct graph_entry_details {
  std::string guard;  ///< empty: no condition
  std::string source; ///< the source code; its tunings belong to it
  counter_deltas counters;
  std::vector<attachment_name> attachments;
  std::chrono::nanoseconds time_taken{0}; ///< the time that the compile took
  /// What the host shows of the compile: its graph as a program, its output code, ... by name.
  std::map<std::string, std::string> documents;

  friend bool operator==(const graph_entry_details&, const graph_entry_details&) = default;
};

/// The artifact of an entry.
artifact encode_graph_entry(std::string_view payload, const graph_entry_details& details);
/// Errors: `malformed`, with the name of the wrong member.
expected<graph_entry_details> decode_graph_entry(const artifact& entry);

/// The time that making this artifact took, from its metadata; 0 if it has none.
std::chrono::nanoseconds time_taken_of(const artifact& made);

} // namespace hearth
