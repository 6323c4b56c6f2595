// Code compiled at run time: compiled once for all processes, loaded once in this one.
#include <hearth/hearth.hpp>
#include <hearth/modules.hpp>

#include <filesystem>
#include <iostream>

int main() {
  hearth::config settings;
  settings.store = std::filesystem::temp_directory_path() / "hearth-modules-example";
  hearth::runtime rt(settings);

  hearth::code_options options;
  options.prologue = "#include <cmath>\n#define ENTRY extern \"C\"\n";
  const auto code = hearth::code_cache::open(rt, options);
  if (!code) return std::cerr << code.error().text() << '\n', 1;

  const auto kernel = code->load("ENTRY double area(double r) { return std::ceil(3.14 * r * r); }");
  if (!kernel) return std::cerr << kernel.error().text() << '\n', 1;
  const auto area = kernel->symbol<double(double)>("area");
  if (!area) return std::cerr << area.error().text() << '\n', 1;
  std::cout << "area " << (*area)(2) << '\n';

  const auto missing = kernel->symbol<double(double)>("volume");
  std::cout << (missing ? "there is a volume" : "there is no volume") << '\n';
}
