// Any command line as a cached action: it runs once; later requests find it and write its outputs.
#include <hearth/actions.hpp>
#include <hearth/hearth.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>

int main() {
  namespace fs = std::filesystem;
  const auto place = fs::temp_directory_path() / "hearth-actions-example";
  fs::create_directories(place);
  std::ofstream(place / "names.txt") << "softmax\ngelu\n";

  hearth::config settings;
  settings.store = place / "store";
  hearth::runtime rt(settings);
  const auto actions = hearth::action_cache::open(rt);
  if (!actions) return std::cerr << actions.error().text() << '\n', 1;

  // A generator with two outputs: both are written, or neither.
  hearth::action generate;
  generate.command = {"sh", "-c", "sort names.txt > sorted.txt; wc -l < names.txt > count.txt"};
  generate.directory = place;
  generate.inputs = {"names.txt"};
  generate.outputs = {"sorted.txt", "count.txt"};
  generate.timeout = std::chrono::seconds(60);

  for (int i = 0; i < 2; ++i) {
    const auto outcome = actions->run(generate);
    if (!outcome) return std::cerr << outcome.error().text() << '\n', 1;
    if (!outcome->succeeded()) return std::cerr << outcome->err, 1;
    if (auto done = hearth::materialize_outputs(*outcome, place); !done)
      return std::cerr << done.error().text() << '\n', 1;
    std::cout << (outcome->found ? "found" : "ran") << '\n';
  }
  std::cout << std::ifstream(place / "sorted.txt").rdbuf();
}
