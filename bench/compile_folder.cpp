#include "bench/compile_folder.hpp"

#include "bench/frame/row_folder.hpp"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

std::string header_text(std::size_t number) {
  return fmt::format("#ifndef H{0}_H\n#define H{0}_H\n"
                     "static inline int g{0}(int x) {{ return x * {0} + 1; }}\n#endif\n",
                     number);
}

bool is_output(const fs::path& file) {
  const auto kind = file.extension();
  return kind != ".c" && kind != ".h" && file.filename() != "Makefile";
}

} // namespace

const char* const library_include = "#include <stdio.h>\n";

compile_launcher compiler_alone() { return {"gcc", {}}; }
compile_launcher hearth_cc() { return {"hearth", {hearth_program(), "cc"}, "HEARTH_STORE"}; }
compile_launcher hearth_run() {
  return {"hearth", {hearth_program(), "run"}, "HEARTH_STORE", true};
}
compile_launcher ccache() { return {"ccache", {"ccache"}, "CCACHE_DIR"}; }

std::string source_text(std::size_t headers, std::size_t number) {
  std::string text, sum = "x";
  for (std::size_t i = 0; i < headers; ++i) {
    text += fmt::format("#include \"h{}.h\"\n", i);
    sum += fmt::format(" + g{}(x)", i);
  }
  return text + fmt::format("int f{}(int x) {{\n  for (int i = 0; i < {}; ++i)\n    x = {};\n"
                            "  return x;\n}}\n",
                            number, number + 2, sum);
}

compile_folder::compile_folder(fs::path path)
    : path_(std::move(path))
    , sources_(path_ / "sources") {
  fs::create_directories(sources_);
}

void compile_folder::write(const std::string& name, const std::string& text) const {
  write_text(sources_ / name, text);
}

void compile_folder::write_headers(std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i)
    write(fmt::format("h{}.h", i), header_text(i));
}

started_program compile_folder::program(const compile_launcher& by,
                                        std::vector<std::string> line) const {
  started_program result{std::move(line), sources_};
  if (!by.variable.empty()) result.variables = {by.variable + '=' + cache(by).string()};
  return result;
}

started_program compile_folder::compile(const compile_launcher& by, const std::string& name) const {
  auto line = by.line;
  if (by.names_outputs) line.insert(line.end(), {"--out", name + ".o", "--"});
  line.insert(line.end(), {"gcc", "-O2", "-c", name + ".c", "-o", name + ".o"});
  return program(by, std::move(line));
}

std::vector<fs::path> compile_folder::output_paths() const {
  std::vector<fs::path> all;
  for (const auto& file : fs::directory_iterator(sources_))
    if (is_output(file.path())) all.push_back(file.path());
  return all;
}

file_map compile_folder::outputs() const {
  file_map all;
  for (const auto& path : output_paths())
    all.emplace(path.filename().string(), read_text(path));
  return all;
}

void compile_folder::remove_outputs() const {
  for (const auto& path : output_paths())
    fs::remove(path);
}

void compile_folder::remove_cache(const compile_launcher& by) const { fs::remove_all(cache(by)); }

void compile_folder::require_outputs(const file_map& alone, const compile_launcher& by) const {
  if (outputs() != alone)
    throw std::runtime_error(by.name + " makes other files than the compiler alone");
}

} // namespace hearth::bench
