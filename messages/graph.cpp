#include "messages/graph.hpp"

#include "messages/graph/parser.hpp"

namespace hearth {
namespace {

void print_name(std::string& out, std::uint32_t number) { out += "%" + std::to_string(number); }

void print_definitions(std::string& out, const std::vector<graph_value>& values,
                       std::string_view between) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += between;
    print_name(out, values[i].number);
    out += " : " + values[i].type;
  }
}

void print_uses(std::string& out, const std::vector<std::uint32_t>& values) {
  out += "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    print_name(out, values[i]);
  }
  out += ")";
}

void print_nodes(std::string& out, const std::vector<graph_node>& nodes, std::size_t indent);

void print_node(std::string& out, const graph_node& node, std::size_t indent) {
  out.append(indent, ' ');
  print_definitions(out, node.outputs, ", ");
  out += " = " + node.op;
  for (std::size_t i = 0; i < node.attributes.size(); ++i)
    out += (i == 0 ? "[" : ", ") + node.attributes[i].first + "=" + node.attributes[i].second;
  if (!node.attributes.empty()) out += "]";
  print_uses(out, node.inputs);
  out += "\n";
  for (std::size_t i = 0; i < node.blocks.size(); ++i) {
    const auto& block = node.blocks[i];
    out.append(indent + 2, ' ');
    out += "block" + std::to_string(i) + "(";
    print_definitions(out, block.inputs, ", ");
    out += "):\n";
    print_nodes(out, block.nodes, indent + 4);
    out.append(indent + 4, ' ');
    out += "-> ";
    print_uses(out, block.outputs);
    out += "\n";
  }
}

void print_nodes(std::string& out, const std::vector<graph_node>& nodes, std::size_t indent) {
  for (const auto& node : nodes)
    print_node(out, node, indent);
}

void print_body(std::string& out, const graph_block& body) {
  out += "graph(";
  print_definitions(out, body.inputs, ",\n      ");
  out += "):\n";
  print_nodes(out, body.nodes, 2);
  out += "  return ";
  print_uses(out, body.outputs);
  out += "\n";
}

} // namespace

expected<graph> parse_graph(std::string_view text) {
  if (text.size() > max_graph_bytes)
    return fail(errc::too_large, "a graph of " + std::to_string(text.size()) + " bytes; " +
                                     std::to_string(max_graph_bytes) + " are allowed");
  return graphs::parser(text).whole();
}

std::string print_graph(const graph& g) {
  std::string out;
  print_body(out, g.body);
  for (const auto& [name, body] : g.subgraphs) {
    out += "with " + name + " = ";
    print_body(out, body);
  }
  return out;
}

expected<std::string> normalize_graph(std::string_view text) {
  auto parsed = parse_graph(text);
  if (!parsed) return fail(parsed.error());
  return print_graph(*parsed);
}

} // namespace hearth
