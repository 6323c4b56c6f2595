// An ahead-of-time package: objects, weights and metadata in one file, run without a compiler.
#include "support.hpp"

#include <hearth/bundle.hpp>
#include <hearth/hearth.hpp>

using example::value_of;

int main() {
  const example::folder work("package-example");
  const auto file = (work / "model.bundle").string();

  hearth::package model{"model", {{"isa", "x86-64-v3"}}, {}};
  model.members = {
      {hearth::member_kind::object, "model.so", hearth::artifact::make("machine code")},
      {hearth::member_kind::weights, "weights.bin", hearth::artifact::make("0.1 0.2 0.3")}};
  if (const auto written = hearth::write_package(model, file); !written)
    return std::cerr << written.error().text() << '\n', 1;

  const auto read = value_of(hearth::read_package(file));
  std::cout << read.name << " for " << *read.metadata.at("isa").as<std::string>() << '\n';
  const auto folder = value_of(hearth::materialize_package(read, work / "run"));
  for (const auto& one : read.members)
    std::cout << to_string(one.kind) << ' ' << one.name << ": "
              << std::filesystem::file_size(folder / one.name) << " bytes\n";
}
