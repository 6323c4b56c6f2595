// Graphs in the text form that TorchScript prints, and their normal text, which is the same for
// graphs that differ only in names: the key of the fuser's kernel cache.
//
// Plain values; pure functions, any thread. An example of the text:
//
//   graph(%x.1 : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu),
//         %n : int):
//     %c : bool = aten::gt(%n, %n) # model.py:3:4
//     %y : Tensor = prim::If(%c)
//       block0():
//         %z : Float(2, 3) = aten::mul[alpha=2](%x.1, %x.1), scope: Net/Linear
//         -> (%z)
//       block1():
//         -> (%x.1)
//     return (%y)
//   with prim::FusionGroup_0 = graph(...): ...
//
// Blanks and line breaks do not matter. A value without a type is a Tensor. Values are scoped by
// block and must be defined before they are used.
#pragma once

#include "messages/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth {

/// The maximum size of a graph's text, in bytes.
inline constexpr std::size_t max_graph_bytes = std::size_t{256} << 20;
/// The maximum nesting of blocks, types and graphs in attributes.
inline constexpr int max_graph_depth = 100;

/// The definition of a value. A number replaces its name: values are counted from 0 in the order of
/// their definitions, inputs first, a node's outputs before the values in its blocks.
struct graph_value {
  std::uint32_t number = 0;
  std::string type; ///< every tensor type is "Tensor", wherever it occurs
};

struct graph_block;

/// An operator with its inputs and outputs.
struct graph_node {
  std::vector<graph_value> outputs;
  std::string op; ///< "aten::add"; a Python operator with its scalar arguments, "^Scale(2)"
  /// Names and texts, in order. A run of blanks outside strings is one blank; a graph in an
  /// attribute is normalised.
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::uint32_t> inputs;
  std::vector<graph_block> blocks;
};

/// A block of a node, or the whole of a graph.
struct graph_block {
  std::vector<graph_value> inputs;
  std::vector<graph_node> nodes;
  std::vector<std::uint32_t> outputs;
};

/// A graph, and the subgraphs ("with NAME = graph...") that its operators name. Each subgraph
/// numbers its own values.
struct graph {
  graph_block body;
  std::vector<std::pair<std::string, graph_block>> subgraphs;
};

/// Reads a graph without names, source comments, scopes and details of tensor types. Errors:
/// `malformed` ("line 3, column 7: ..."), `too_large` (longer or nested deeper than the limits).
expected<graph> parse_graph(std::string_view text);

/// The graph in the form above, with `%0`, `%1`, ... for its values. Two graphs have one text if
/// and only if they are equal; reading the text gives the same graph.
std::string print_graph(const graph& g);

/// Reads a graph and returns its normal text. Errors: as `parse_graph`.
expected<std::string> normalize_graph(std::string_view text);

} // namespace hearth
