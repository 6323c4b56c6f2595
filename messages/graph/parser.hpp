// Reads graphs. Used by `parse_graph`, on its caller's thread.
#pragma once

#include "messages/graph.hpp"
#include "messages/graph/reader.hpp"

#include <map>
#include <vector>

namespace hearth::graphs {

class parser {
public:
  explicit parser(std::string_view text)
      : reader_(text) {}

  expected<graph> whole();

private:
  // Values are visible in the block that defines them and in the blocks inside of it.
  struct scopes {
    std::vector<std::map<std::string, std::uint32_t, std::less<>>> names;
    std::uint32_t defined = 0;
  };
  class deeper;

  graph_block body();
  void statements(graph_block& into);
  graph_node node();
  void node_blocks(graph_node& into);
  graph_block block();
  std::string op();
  void attributes(graph_node& into);
  std::string attribute_value();
  std::string nested_graph();

  std::vector<graph_value> definitions();
  graph_value definition();
  std::vector<std::uint32_t> uses();
  std::uint32_t use();

  std::string type();
  std::string type_atom();
  std::string named_type();
  std::string type_list(std::string_view close);
  std::string type_member();

  reader reader_;
  scopes scopes_;
  int depth_ = 0;
};

} // namespace hearth::graphs
