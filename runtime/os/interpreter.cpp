#include "runtime/os/interpreter.hpp"

#include "runtime/os/files/descriptor.hpp"

#include <array>
#include <climits>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace hearth::os {
namespace {

// The bytes at this place of the file, as many as there are.
std::string read_at(int file, std::size_t bytes, Elf64_Off place) {
  std::string text(bytes, '\0');
  const auto got = ::pread(file, text.data(), bytes, static_cast<off_t>(place));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

std::string loader_of(int file, std::string_view head) {
  Elf64_Ehdr header;
  Elf64_Phdr part;
  if (head.size() < sizeof header) return {};
  std::memcpy(&header, head.data(), sizeof header);
  if (header.e_phentsize != sizeof part) return {};
  const auto parts = read_at(file, std::size_t{header.e_phnum} * sizeof part, header.e_phoff);
  for (std::size_t at = 0; at + sizeof part <= parts.size(); at += sizeof part) {
    std::memcpy(&part, parts.data() + at, sizeof part);
    if (part.p_type == PT_INTERP) return read_at(file, PATH_MAX, part.p_offset).c_str();
  }
  return {};
}

} // namespace

std::string interpreter_of(const std::string& program) {
  constexpr std::size_t first_page = 4096;
  const descriptor file{::open(program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file) return {};
  const auto head = read_at(file.get(), first_page, 0);
  if (head.starts_with(ELFMAG)) return loader_of(file.get(), head);
  if (!head.starts_with("#!")) return {};
  const auto begin = head.find_first_not_of(" \t", 2);
  if (begin == head.npos) return {};
  return head.substr(begin, head.find_first_of(" \t\n", begin) - begin).c_str();
}

} // namespace hearth::os
