#include "messages/graph/parser.hpp"

#include "messages/source_place.hpp"

#include <algorithm>
#include <array>

namespace hearth::graphs {
namespace {

// The names by which TorchScript prints tensor types: element types, and Tensor.
constexpr std::array tensor_names{"Tensor",
                                  "Undefined",
                                  "Bool",
                                  "Byte",
                                  "Char",
                                  "Short",
                                  "Int",
                                  "Long",
                                  "UInt16",
                                  "UInt32",
                                  "UInt64",
                                  "Half",
                                  "Float",
                                  "Double",
                                  "BFloat16",
                                  "ComplexHalf",
                                  "ComplexFloat",
                                  "ComplexDouble",
                                  "QInt8",
                                  "QUInt8",
                                  "QInt32",
                                  "QUInt4x2",
                                  "QUInt2x4",
                                  "Bits1x8",
                                  "Bits2x4",
                                  "Bits4x2",
                                  "Bits8",
                                  "Bits16",
                                  "Float8_e5m2",
                                  "Float8_e4m3fn",
                                  "Float8_e5m2fnuz",
                                  "Float8_e4m3fnuz",
                                  "Float8_e8m0fnu",
                                  "Float4_e2m1fn_x2"};

bool is_tensor(std::string_view name) {
  return std::find(tensor_names.begin(), tensor_names.end(), name) != tensor_names.end();
}

} // namespace

// One level of nesting; too many levels are an error.
class parser::deeper {
public:
  explicit deeper(parser& of)
      : depth_(of.depth_) {
    if (++depth_ > max_graph_depth)
      of.reader_.fail_at(of.reader_.offset(),
                         "nested deeper than " + std::to_string(max_graph_depth), errc::too_large);
  }
  deeper(const deeper&) = delete;
  deeper& operator=(const deeper&) = delete;
  ~deeper() { --depth_; }

private:
  int& depth_;
};

expected<graph> parser::whole() {
  graph result;
  reader_.expect_word("graph");
  result.body = body();
  while (reader_.take_word("with")) {
    const auto place = reader_.offset();
    std::string name(reader_.take_name());
    if (name.empty()) reader_.fail_expected("the name of a subgraph");
    for (const auto& [other, block] : result.subgraphs)
      if (other == name) reader_.fail_at(place, "a second subgraph " + in_quotes(name));
    reader_.expect("=");
    reader_.expect_word("graph");
    result.subgraphs.emplace_back(std::move(name), body());
  }
  if (!reader_.failed() && !reader_.at_end()) reader_.fail_expected("the end of the graph");
  if (reader_.failed()) return fail(reader_.failure());
  return result;
}

// Reads a graph after the word `graph`: inputs, nodes and returned values.
graph_block parser::body() {
  const deeper one(*this);
  scopes_ = {};
  scopes_.names.emplace_back();
  graph_block result;
  result.inputs = definitions();
  reader_.expect(":");
  while (!reader_.failed() && !reader_.at_word("return"))
    result.nodes.push_back(node());
  reader_.expect_word("return");
  result.outputs = uses();
  return result;
}

graph_node parser::node() {
  graph_node result;
  std::vector<std::size_t> places;
  if (reader_.at("%")) {
    do
      result.outputs.push_back(definition());
    while (reader_.take(","));
    reader_.expect("=");
  } else {
    reader_.take("=");
  }
  result.op = op();
  if (reader_.take("[")) attributes(result);
  result.inputs = uses();
  if (reader_.take(",")) {
    reader_.expect_word("scope");
    reader_.expect(":");
    reader_.skip_line();
  }
  node_blocks(result);
  return result;
}

void parser::node_blocks(graph_node& into) {
  while (!reader_.failed()) {
    if (!reader_.take_word("block" + std::to_string(into.blocks.size()))) return;
    into.blocks.push_back(block());
  }
}

graph_block parser::block() {
  const deeper one(*this);
  scopes_.names.emplace_back();
  graph_block result;
  result.inputs = definitions();
  reader_.expect(":");
  while (!reader_.failed() && !reader_.at("->"))
    result.nodes.push_back(node());
  reader_.expect("->");
  result.outputs = uses();
  scopes_.names.pop_back();
  return result;
}

// `^Scale(2)` is a Python operator with a scalar argument; its inputs follow.
std::string parser::op() {
  const bool python = reader_.take("^");
  std::string name(reader_.take_name());
  if (name.empty()) reader_.fail_expected(python ? "the name of an operator" : "an operator");
  if (!python) return name;
  reader_.expect("(");
  const auto scalars = reader_.take_raw(false);
  reader_.expect(")");
  return "^" + name + "(" + scalars + ")";
}

void parser::attributes(graph_node& into) {
  do {
    const auto place = reader_.offset();
    std::string name(reader_.take_name());
    if (name.empty()) reader_.fail_expected("the name of an attribute");
    for (const auto& [other, text] : into.attributes)
      if (other == name) reader_.fail_at(place, "a second attribute " + in_quotes(name));
    reader_.expect("=");
    into.attributes.emplace_back(std::move(name), attribute_value());
  } while (!reader_.failed() && reader_.take(","));
  reader_.expect("]");
}

std::string parser::attribute_value() {
  if (reader_.take_word("graph")) return nested_graph();
  const auto place = reader_.offset();
  auto text = reader_.take_raw(true);
  if (text.empty()) reader_.fail_at(place, "expected the value of an attribute");
  return text;
}

// A subgraph sees only its own values.
std::string parser::nested_graph() {
  auto outer = std::exchange(scopes_, {});
  graph nested{body(), {}};
  scopes_ = std::move(outer);
  auto text = print_graph(nested);
  text.pop_back(); // the last line's end
  return text;
}

std::vector<graph_value> parser::definitions() {
  std::vector<graph_value> result;
  reader_.expect("(");
  if (reader_.take(")")) return result;
  do
    result.push_back(definition());
  while (!reader_.failed() && reader_.take(","));
  reader_.expect(")");
  return result;
}

graph_value parser::definition() {
  const auto place = reader_.offset();
  const std::string name(reader_.take_value());
  if (name.empty()) reader_.fail_expected("a value such as '%x'");
  for (const auto& scope : scopes_.names)
    if (scope.contains(name)) reader_.fail_at(place, in_quotes("%" + name) + " is defined twice");
  const auto number = scopes_.defined++;
  std::string written = reader_.take(":") ? type() : "Tensor";
  scopes_.names.back().emplace(name, number);
  return {number, std::move(written)};
}

std::vector<std::uint32_t> parser::uses() {
  std::vector<std::uint32_t> result;
  reader_.expect("(");
  if (reader_.take(")")) return result;
  do
    result.push_back(use());
  while (!reader_.failed() && reader_.take(","));
  reader_.expect(")");
  return result;
}

std::uint32_t parser::use() {
  const auto place = reader_.offset();
  const auto name = reader_.take_value();
  if (name.empty()) reader_.fail_expected("a value such as '%x'");
  for (const auto& scope : scopes_.names)
    if (const auto at = scope.find(name); at != scope.end()) return at->second;
  reader_.fail_at(place, in_quotes("%" + std::string(name)) + " is used before it is defined");
  return 0;
}

std::string parser::type() {
  const deeper one(*this);
  if (reader_.failed()) return {};
  auto result = type_atom();
  while (!reader_.failed()) {
    if (reader_.take("[]"))
      result += "[]";
    else if (reader_.take("?"))
      result += "?";
    else
      break;
  }
  return result;
}

std::string parser::type_atom() {
  if (reader_.take("(")) return "(" + type_list(")");
  return named_type();
}

std::string parser::named_type() {
  std::string name(reader_.take_name());
  if (name.empty()) reader_.fail_expected("a type");
  if (is_tensor(name)) {
    if (reader_.take("(")) {
      reader_.take_raw(false);
      reader_.expect(")");
    }
    reader_.take("[Undefined]");
    return "Tensor";
  }
  if (reader_.take("(")) return name + "(" + type_list(")");
  if (reader_.at("[") && !reader_.at("[]") && reader_.take("[")) return name + "[" + type_list("]");
  if (reader_.take("<")) return name + "<" + type_list(">");
  return name;
}

std::string parser::type_list(std::string_view close) {
  std::string result;
  if (!reader_.take(close)) {
    do
      result += (result.empty() ? "" : ", ") + type_member();
    while (!reader_.failed() && reader_.take(","));
    reader_.expect(close);
  }
  return result + std::string(close);
}

// A type, or a named one: `x : int`, `x=int`.
std::string parser::type_member() {
  auto first = type();
  if (reader_.take(":")) return first + " : " + type();
  if (reader_.take("=")) return first + "=" + type();
  return first;
}

} // namespace hearth::graphs
