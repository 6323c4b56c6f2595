#include "bench/peers/entry_store.hpp"

#include "messages/hash.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hearth::bench {
namespace {

constexpr unsigned folders = 256;

class files_peer final : public entry_store {
public:
  explicit files_peer(const std::filesystem::path& directory)
      : directory_(directory.string()) {
    for (unsigned i = 0; i < folders; ++i) {
      // The first file of a folder pays for the inodes of those that follow.
      const auto folder = fmt::format("{}/{:02x}", directory_, i);
      std::filesystem::create_directory(folder);
      write_file(folder + "/first", "x");
      std::filesystem::remove(folder + "/first");
    }
  }

  void insert_all(const dataset& data) override {
    for (std::size_t i = 0; i < data.size(); ++i)
      insert(data.key_bytes(i), data.value(i).payload());
  }

  artifact get(const dataset& data, std::size_t entry) override {
    const int fd = ::open(path_of(data.key_bytes(entry)).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    struct stat about {};
    ::fstat(fd, &about);
    const auto bytes = static_cast<std::size_t>(about.st_size);
    auto* body = artifact_body::allocate(0, bytes);
    auto value = artifact::adopt(body);
    const bool complete = ::read(fd, body->payload_data(), bytes) == static_cast<ssize_t>(bytes);
    ::close(fd);
    return complete ? value : artifact{};
  }

private:
  std::string path_of(std::string_view key) const {
    const auto hash = fast_hash(key);
    return fmt::format("{}/{:02x}/{:016x}", directory_, hash % folders, hash);
  }

  static void write_file(const std::string& path, std::string_view value) {
    const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    const bool written =
        fd >= 0 && ::write(fd, value.data(), value.size()) == static_cast<ssize_t>(value.size());
    if (fd >= 0) ::close(fd);
    if (!written) throw std::runtime_error("files: cannot write " + path);
  }

  void insert(std::string_view key, std::string_view value) const {
    const auto path = path_of(key);
    const auto temporary = path + ".tmp";
    write_file(temporary, value);
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      throw std::runtime_error("files: cannot rename " + temporary);
  }

  std::string directory_;
};

} // namespace

std::unique_ptr<entry_store> make_files(const std::filesystem::path& directory, const dataset&) {
  return std::make_unique<files_peer>(directory);
}

artifact copied_out(std::string_view bytes) { return artifact::make(bytes); }

} // namespace hearth::bench
