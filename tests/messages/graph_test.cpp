#include "messages/graph.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>

namespace graph_test {

using namespace hearth;

namespace {

std::string normal(std::string_view text) {
  const auto result = normalize_graph(text);
  return result ? *result : result.error().to_string();
}

// The texts of tests/messages/graphs by name: graphs in the form in which TorchScript prints them.
const std::map<std::string, std::string>& examples() {
  static const auto all = [] {
    std::map<std::string, std::string> texts;
    for (const auto& one : std::filesystem::directory_iterator(std::string(HEARTH_SOURCE_DIR) +
                                                               "/tests/messages/graphs")) {
      std::ifstream in(one.path());
      std::stringstream text;
      text << in.rdbuf();
      texts[one.path().stem()] = text.str();
    }
    return texts;
  }();
  return all;
}

std::string replace_each(const std::string& text, const std::regex& pattern,
                         const std::function<std::string(const std::smatch&)>& by) {
  std::string out;
  auto from = text.cbegin();
  for (std::sregex_iterator one(text.begin(), text.end(), pattern), end; one != end; ++one) {
    out.append(from, (*one)[0].first);
    out += by(*one);
    from = (*one)[0].second;
  }
  return out.append(from, text.cend());
}

std::string renamed(const std::string& text, std::mt19937& random) {
  std::map<std::string, std::string> names;
  return replace_each(text, std::regex("%[A-Za-z0-9_.]+"), [&](const std::smatch& match) {
    auto& name = names[match.str()];
    if (name.empty())
      name = "%n" + std::to_string(random() % 1000) + "." + std::to_string(names.size());
    return name;
  });
}

std::string retyped(const std::string& text, std::mt19937& random) {
  static const std::regex tensor_type(
      ": (Tensor|Float|Half|BFloat16|Int|Short|Long|Bool|QUInt8|ComplexFloat)"
      "(\\((\\([^()]*\\)|[^()])*\\))?(?=[,) ?\\[])");
  static const std::vector<std::string> types{
      "Tensor", "Double(7, 2, strides=[2, 1], requires_grad=1, device=cuda:3)", "Long()",
      "Float(*, *, requires_grad=0, device=cpu)", "Bool(SS(-1), 2)"};
  return replace_each(text, tensor_type,
                      [&](const std::smatch&) { return ": " + types[random() % types.size()]; });
}

std::string recommented(const std::string& text, std::mt19937& random) {
  static const std::regex comment(" # [A-Za-z0-9_./]+:[0-9]+:[0-9]+(?=\n)");
  static const std::regex line_end("[):](?=\n)");
  const auto bare = std::regex_replace(text, comment, "");
  return replace_each(bare, line_end, [&](const std::smatch& match) {
    return random() % 2 ? match.str() + " # /other/file.py:" + std::to_string(random() % 99) + ":0"
                        : match.str();
  });
}

// Calls `change` with each block of the graph.
void each_block(graph_block& block, const std::function<void(graph_block&)>& visit) {
  visit(block);
  for (auto& node : block.nodes)
    for (auto& inner : node.blocks)
      each_block(inner, visit);
}

// Every graph that differs from this one in a single operator, attribute, edge, node or block.
std::vector<graph> changed_in_one_place(const graph& original) {
  std::vector<graph> all;
  const auto with = [&](std::size_t block, const std::function<void(graph_block&)>& change) {
    graph copy = original;
    std::size_t at = 0;
    const auto visit = [&](graph_block& one) {
      if (at++ == block) change(one);
    };
    each_block(copy.body, visit);
    for (auto& [name, body] : copy.subgraphs)
      each_block(body, visit);
    all.push_back(std::move(copy));
  };
  graph copy = original;
  std::size_t number = 0;
  const auto change_block = [&](graph_block& block) {
    const auto b = number++;
    for (std::size_t i = 0; i < block.outputs.size(); ++i)
      with(b, [i](graph_block& one) { one.outputs[i] += 1; });
    for (std::size_t n = 0; n < block.nodes.size(); ++n) {
      const auto& node = block.nodes[n];
      with(b, [n](graph_block& one) { one.nodes[n].op += "_"; });
      with(b, [n](graph_block& one) { one.nodes.erase(one.nodes.begin() + static_cast<int>(n)); });
      for (std::size_t i = 0; i < node.attributes.size(); ++i) {
        with(b, [n, i](graph_block& one) { one.nodes[n].attributes[i].second += "1"; });
        with(b, [n, i](graph_block& one) { one.nodes[n].attributes[i].first += "1"; });
      }
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        with(b, [n, i](graph_block& one) { one.nodes[n].inputs[i] += 1; });
        with(b, [n](graph_block& one) { one.nodes[n].inputs.pop_back(); });
      }
      if (!node.blocks.empty()) with(b, [n](graph_block& one) { one.nodes[n].blocks.pop_back(); });
    }
  };
  each_block(copy.body, change_block);
  for (auto& [name, body] : copy.subgraphs)
    each_block(body, change_block);
  return all;
}

} // namespace

TEST_CASE("the normal text numbers values in order of definition and keeps no tensor detail") {
  CHECK(normal("graph(%x.1 : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu), %n : int):\n"
               "  %c : bool = aten::gt(%n, %n) # model.py:3:4\n"
               "  %y : Tensor, %z : Float(2)[] = prim::If[a=1,b=\"# x  y\"](%c), scope: Net/A[b]\n"
               "    block0():\n"
               "      %w : (Long(3), int?) = aten::mul(%x.1, %n)\n"
               "      -> (%w, %x.1)\n"
               "    block1(%i : Dict(str, Half(1))):\n"
               "      -> (%x.1, %i)\n"
               "  return (%y)\n") ==
        "graph(%0 : Tensor,\n"
        "      %1 : int):\n"
        "  %2 : bool = aten::gt(%1, %1)\n"
        "  %3 : Tensor, %4 : Tensor[] = prim::If[a=1, b=\"# x  y\"](%2)\n"
        "    block0():\n"
        "      %5 : (Tensor, int?) = aten::mul(%0, %1)\n"
        "      -> (%5, %0)\n"
        "    block1(%6 : Dict(str, Tensor)):\n"
        "      -> (%0, %6)\n"
        "  return (%3)\n");
}

TEST_CASE("names, tensor types and comments do not change the normal text") {
  REQUIRE(examples().size() >= 30);
  std::mt19937 random(1);
  for (const auto& [name, text] : examples()) {
    CAPTURE(name);
    const auto expected_text = normalize_graph(text);
    REQUIRE_MESSAGE(expected_text, normal(text));
    for (int round = 0; round < 5; ++round) {
      CHECK(normal(renamed(text, random)) == *expected_text);
      CHECK(normal(retyped(text, random)) == *expected_text);
      CHECK(normal(recommented(text, random)) == *expected_text);
      CHECK(normal(renamed(retyped(recommented(text, random), random), random)) == *expected_text);
    }
    CHECK(normal(*expected_text) == *expected_text);
  }
}

TEST_CASE("a changed operator, attribute, edge or block changes the normal text") {
  std::size_t changes = 0;
  std::set<std::string> texts;
  for (const auto& [name, text] : examples()) {
    CAPTURE(name);
    const auto parsed = parse_graph(text);
    REQUIRE(parsed);
    const auto original = print_graph(*parsed);
    CHECK(texts.insert(original).second);
    for (const auto& changed : changed_in_one_place(*parsed)) {
      ++changes;
      CHECK(print_graph(changed) != original);
    }
  }
  CHECK(changes > 500);
}

TEST_CASE("text that is no tensor type is unchanged") {
  const auto type_of = [](const std::string& type) {
    const auto parsed = parse_graph("graph(%x : " + type + "): return (%x)");
    return parsed ? parsed->body.inputs[0].type : parsed.error().to_string();
  };
  CHECK(type_of("int") == "int");
  CHECK(type_of("float[]?") == "float[]?");
  CHECK(type_of("Float(2)[][]") == "Tensor[][]");
  CHECK(type_of("( Int ( 2 ) , ( str ) )") == "(Tensor, (str))");
  CHECK(type_of("()") == "()");
  CHECK(type_of("Dict(str, Future(Double(1)))") == "Dict(str, Future(Tensor))");
  CHECK(type_of("List[Long(2)]") == "List[Tensor]");
  CHECK(type_of("__torch__.___torch_mangle_0.Float") == "__torch__.___torch_mangle_0.Float");
  CHECK(type_of("Pair(first=Half(1), second=int)") == "Pair(first=Tensor, second=int)");
  CHECK(type_of("Enum<__torch__.Mode>") == "Enum<__torch__.Mode>");
  CHECK(type_of("Tensor[Undefined]") == "Tensor");
  CHECK(type_of("Floating") == "Floating");
}

TEST_CASE("attributes keep the parts that distinguish them") {
  const auto of = [](const std::string& value) {
    return normal("graph():\n  %x : int = a::b[value=" + value + "]()\n  return (%x)");
  };
  CHECK(of("1 2") != of("12"));
  CHECK(of("\"a b\"") != of("\"a  b\""));
  CHECK(of("[1,  2]") == of("[1, 2]"));
  CHECK(of("\"\\\"\"") != of("\"\\\\\""));
  CHECK(of("<Tensor>") != of("{1}"));
  CHECK(of("1, other=2") != of("[1, other=2]"));
  CHECK(of("graph(%a : Float(1)): return (%a)") ==
        of("graph(%q : Tensor):\n return (%q) # x:1:1\n"));
}

TEST_CASE("a malformed graph is an error that names line and column") {
  CHECK(normal("") == "malformed: line 1, column 1: expected 'graph', found the end");
  CHECK(normal("graph(%x : Tensor)\n  return (%x)") ==
        "malformed: line 2, column 3: expected ':', found 'return (%x)'");
  CHECK(normal("graph(%x : Tensor):\n  %y : Tensor = aten::add(%x, %z)\n  return (%y)") ==
        "malformed: line 2, column 31: '%z' is used before it is defined");
  CHECK(normal("graph(%x : Tensor, %x : int):\n  return (%x)") ==
        "malformed: line 1, column 20: '%x' is defined twice");
  CHECK(normal("graph():\n  %y : Tensor = a::b[v=(1]()\n  return (%y)") ==
        "malformed: line 2, column 26: expected ')', found ']'");
  CHECK(normal("graph():\n  %y : Tensor = a::b[v=\"x]()\n  return (%y)") ==
        "malformed: line 2, column 24: a string that does not end");
  CHECK(normal("graph():\n  %y : = a::b()\n  return (%y)") ==
        "malformed: line 2, column 8: expected a type, found '= a::b()'");
  CHECK(normal("graph():\n  return ()\nmore") ==
        "malformed: line 3, column 1: expected the end of the graph, found 'more'");
  CHECK(normal("graph():\n  %y : int = a::b[c=1, c=2]()\n  return (%y)") ==
        "malformed: line 2, column 24: a second attribute 'c'");
  CHECK(normal("graph():\n  %y : int = a::b[c=]()\n  return (%y)") ==
        "malformed: line 2, column 21: expected the value of an attribute");
}

TEST_CASE("a block's values are not seen outside of it") {
  CHECK(normal("graph(%c : bool):\n"
               "  %y : int = prim::If(%c)\n"
               "    block0():\n      %z : int = a::b()\n      -> (%z)\n"
               "    block1():\n      -> (%z)\n"
               "  return (%y)") ==
        "malformed: line 7, column 11: '%z' is used before it is defined");
}

TEST_CASE("nesting has a bound") {
  std::string type = "int";
  for (int i = 0; i < 200; ++i)
    type = "(" + type + ")";
  CHECK(normal("graph(%x : " + type + "): return (%x)").starts_with("too_large: line 1, column "));
  std::string blocks;
  for (int i = 0; i < 100000; ++i)
    blocks += " = prim::If() block0():";
  CHECK(normal("graph(): " + blocks).starts_with("too_large: line 1, column "));
  std::string graphs;
  for (int i = 0; i < 100000; ++i)
    graphs += "a::b[g=graph():";
  CHECK(normal("graph(): " + graphs).starts_with("too_large: line 1, column "));
}

TEST_CASE("a graph cut or changed anywhere is refused, or is read and normal") {
  std::mt19937 random(7);
  std::size_t refused = 0;
  for (const auto& [name, text] : examples()) {
    for (std::size_t size = 0; size < text.size() - 2; ++size)
      refused += !normalize_graph(std::string_view(text).substr(0, size));
    for (int round = 0; round < 300; ++round) {
      auto changed = text;
      changed[random() % changed.size()] = static_cast<char>(random() % 256);
      if (const auto once = normalize_graph(changed)) CHECK(normal(*once) == *once);
    }
  }
  CHECK(refused > 1000);
}

} // namespace graph_test
