#include "messages/file_kind.hpp"

#include <sys/stat.h>

namespace hearth {

std::string_view name_of_kind(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
  case S_IFREG: return "a regular file";
  case S_IFDIR: return "a directory";
  case S_IFIFO: return "a FIFO";
  case S_IFSOCK: return "a socket";
  case S_IFCHR: return "a character device";
  case S_IFBLK: return "a block device";
  case S_IFLNK: return "a symbolic link";
  default: return "a file of an unknown kind";
  }
}

} // namespace hearth
