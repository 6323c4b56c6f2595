#include "runtime/keys/contents.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace hearth {
namespace {

namespace fs = std::filesystem;

struct open_file {
  int fd;
  explicit open_file(const fs::path& path)
      : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (fd >= 0) ::close(fd);
  }
};

bool wanted(const std::string& name, const std::vector<std::string>& suffixes) {
  return suffixes.empty() || std::any_of(suffixes.begin(), suffixes.end(), [&](const auto& suffix) {
           return name.ends_with(suffix);
         });
}

expected<void> add_entry(tree_detail& tree, const fs::directory_entry& entry,
                         const fs::path& folder, const std::vector<std::string>& suffixes) {
  std::error_code failure;
  if (!entry.is_regular_file(failure)) return {};
  if (!wanted(entry.path().filename().string(), suffixes)) return {};
  if (tree.files.size() == max_tree_files)
    return fail(errc::too_large,
                folder.string() + " holds more than " + std::to_string(max_tree_files) + " files");
  auto content = detail_of_file(entry.path());
  if (!content) return fail(content.error());
  tree.files.emplace(entry.path().lexically_relative(folder).generic_string(), *content);
  return {};
}

} // namespace

expected<file_detail> detail_of_file(const fs::path& path) {
  const open_file file(path);
  struct stat about {};
  if (file.fd < 0 || ::fstat(file.fd, &about) != 0)
    return fail(error_of_errno(errno, "cannot read " + path.string()));
  if (!S_ISREG(about.st_mode))
    return fail(errc::invalid_argument, path.string() + " is no regular file");
  constexpr std::size_t part = 256 << 10;
  const auto buffer = std::make_unique<char[]>(part);
  sha256_stream content;
  std::uint64_t bytes = 0;
  for (;;) {
    const auto got = ::read(file.fd, buffer.get(), part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(error_of_errno(errno, "cannot read " + path.string()));
    if (got == 0) break;
    content.update({buffer.get(), static_cast<std::size_t>(got)});
    bytes += static_cast<std::uint64_t>(got);
  }
  return file_detail{content.finish(), bytes};
}

expected<tree_detail> detail_of_tree(const fs::path& folder,
                                     const std::vector<std::string>& suffixes) {
  tree_detail tree;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure))
    if (auto added = add_entry(tree, *at, folder, suffixes); !added) return fail(added.error());
  if (failure) return fail(error_of_errno(failure.value(), "cannot list " + folder.string()));
  return tree;
}

} // namespace hearth
