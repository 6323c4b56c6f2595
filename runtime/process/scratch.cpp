#include "runtime/process/scratch.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace hearth {
namespace {

constexpr std::uint64_t max_output_bytes = std::uint64_t{1} << 30;

class open_file {
public:
  open_file(const std::string& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0700)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }

private:
  int descriptor_;
};

expected<void> write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(error_of_errno(errno, "cannot write " + path));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

expected<void> read_all(int file, char* to, std::uint64_t size, const std::string& path) {
  while (size > 0) {
    const auto count = ::read(file, to, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(error_of_errno(errno, "cannot read " + path));
    if (count == 0) return fail(errc::io, path + " became shorter while it was read");
    to += count;
    size -= static_cast<std::uint64_t>(count);
  }
  return {};
}

class temporary_scratch : public actors::scratch_directory {
public:
  explicit temporary_scratch(std::filesystem::path path) : path_(std::move(path)) {}
  ~temporary_scratch() override {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(const std::string& name) const override {
    return name.empty() ? path_.string() : (path_ / name).string();
  }

  expected<void> write(const std::string& name, std::string_view bytes) override {
    const auto full = path(name);
    const open_file file(full, O_WRONLY | O_CREAT | O_EXCL);
    if (file.get() < 0) return fail(error_of_errno(errno, "cannot make " + full));
    return write_all(file.get(), bytes, full);
  }

  expected<artifact> read(const std::string& name) const override {
    const auto full = path(name);
    const open_file file(full, O_RDONLY);
    struct stat status {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0)
      return fail(error_of_errno(errno, "cannot open " + full));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > max_output_bytes)
      return fail(errc::too_large, full + " has more than 1 GiB");
    auto* body = artifact_body::allocate(0, size);
    if (!body) return fail(errc::too_large, "no memory for " + full);
    auto result = artifact::adopt(body);
    if (auto all = read_all(file.get(), body->payload_data(), size, full); !all)
      return fail(all.error());
    return result;
  }

private:
  std::filesystem::path path_;
};

} // namespace

expected<std::unique_ptr<actors::scratch_directory>> temporary_scratch_space::make() {
  std::error_code problem;
  const auto base = std::filesystem::temp_directory_path(problem);
  if (problem) return fail(errc::io, "no directory for temporary files: " + problem.message());
  auto pattern = (base / "hearth-XXXXXX").string();
  if (!mkdtemp(pattern.data())) return fail(error_of_errno(errno, "cannot make " + pattern));
  return std::make_unique<temporary_scratch>(pattern);
}

} // namespace hearth
