// A folder of C sources that launchers compile, each with a cache of its own beside the sources.
//
// Owner: a row; one thread.
#pragma once

#include "bench/frame/started_program.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hearth::bench {

/// A program in front of the compiler, which keeps the compiler's results.
struct compile_launcher {
  std::string name;              ///< "hearth", "ccache"; of the compiler alone "gcc"
  std::vector<std::string> line; ///< the words before the compiler; of the compiler alone none
  std::string variable{};        ///< the variable that says where its cache is
  bool names_outputs = false;    ///< `--out FILE --` follows `line`
};

compile_launcher compiler_alone();
compile_launcher hearth_cc();
compile_launcher hearth_run();
compile_launcher ccache();

/// "#include <stdio.h>", for the start of a source.
extern const char* const library_include;
/// A C source that includes the headers `h0.h`, `h1.h`, ... and defines the function `f<number>`.
std::string source_text(std::size_t headers, std::size_t number);

/// Files by their names, with their bytes.
using file_map = std::map<std::string, std::string>;

class compile_folder {
public:
  /// Makes `path` and in it the folder of the sources. Throws `std::filesystem::filesystem_error`.
  explicit compile_folder(std::filesystem::path path);

  /// Writes a source file, replacing it.
  void write(const std::string& name, const std::string& text) const;
  /// Writes the headers `h0.h`, `h1.h`, ...
  void write_headers(std::size_t count) const;

  /// The program `line`, run in the folder of the sources with the launcher's cache.
  started_program program(const compile_launcher& by, std::vector<std::string> line) const;
  /// The compile of `<name>.c` to `<name>.o`.
  started_program compile(const compile_launcher& by, const std::string& name) const;

  /// The files that are neither sources nor headers nor the Makefile.
  file_map outputs() const;
  void remove_outputs() const;
  void remove_cache(const compile_launcher& by) const;
  /// Throws `std::runtime_error` unless the outputs are those of the compiler alone.
  void require_outputs(const file_map& alone, const compile_launcher& by) const;

private:
  std::filesystem::path cache(const compile_launcher& by) const { return path_ / by.name; }
  std::vector<std::filesystem::path> output_paths() const;

  std::filesystem::path path_;
  std::filesystem::path sources_;
};

} // namespace hearth::bench
