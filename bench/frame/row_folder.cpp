#include "bench/frame/row_folder.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace hearth::bench {

row_folder::row_folder(std::filesystem::path path)
    : path_(std::move(path)) {
  std::filesystem::create_directories(path_);
}

row_folder::~row_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_text(const std::filesystem::path& to, const std::string& text) {
  std::ofstream out(to, std::ios::binary);
  out << text;
  out.flush();
  if (!out) throw std::runtime_error("cannot write " + to.string());
}

std::string read_text(const std::filesystem::path& from) {
  const std::ifstream in(from, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !text) throw std::runtime_error("cannot read " + from.string());
  return std::move(text).str();
}

} // namespace hearth::bench
