#include "runtime/os/files/pending_file.hpp"

#include "messages/random_number.hpp"
#include "runtime/os/files/file_problem.hpp"
#include "runtime/os/unstoppable.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <utility>
#include <vector>

namespace hearth::os {
namespace {

namespace fs = std::filesystem;

// The folder with a path for an open file without a name.
constexpr const char* own_files = "/proc/self/fd/";

// A name that no other thread, and no other living process, uses.
std::string temporary_beside(const fs::path& path) {
  static std::atomic<std::uint64_t> last{0};
  return path.string() + ".hearth-" + std::to_string(::getpid()) + "-" +
         std::to_string(random_number()) + "-" + std::to_string(++last);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Empty where the file system has no unnamed files, or /proc, which gives them a path, is missing.
descriptor open_nameless(const fs::path& folder, mode_t mode) {
  if (::access(own_files, X_OK) != 0) return {};
  return descriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
}

} // namespace

expected<pending_file> pending_file::begin(const fs::path& target, mode_t mode) {
  auto temporary = temporary_beside(target);
  auto nameless = open_nameless(folder_of(target), mode);
  if (nameless) return pending_file(target, std::move(temporary), std::move(nameless), false);
  descriptor named{
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)};
  if (!named) return fail(cannot("write", target));
  return pending_file(target, std::move(temporary), std::move(named), true);
}

pending_file::pending_file(fs::path target, std::string temporary, descriptor file, bool named)
    : target_(std::move(target))
    , temporary_(std::move(temporary))
    , file_(std::move(file))
    , is_named_(named) {}

pending_file::pending_file(pending_file&& other) noexcept
    : target_(std::move(other.target_))
    , temporary_(std::move(other.temporary_))
    , file_(std::move(other.file_))
    , is_named_(std::exchange(other.is_named_, false)) {}

pending_file::~pending_file() {
  if (is_named_) ::unlink(temporary_.c_str());
}

expected<void> pending_file::write(std::string_view bytes) {
  auto written = write_all(file_.get(), bytes);
  if (!written) return fail(written.error().within(target_.string()));
  return written;
}

expected<void> pending_file::sync() {
  if (::fsync(file_.get()) != 0) return fail(cannot("write", target_));
  return {};
}

// The last steps of a file, in a form that allocates no memory: every file gets a name beside its
// target, then all are renamed.
struct pending_file::placing {
  pending_file* file;
  std::string nameless; // empty: it has a name
  replacement how;

  bool name_it() const noexcept {
    if (file->is_named_) return true;
    file->is_named_ = ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, file->temporary_.c_str(),
                               AT_SYMLINK_FOLLOW) == 0;
    return file->is_named_;
  }
  bool rename_it() const noexcept {
    if (how == replacement::removing_first) ::unlink(file->target_.c_str());
    if (::rename(file->temporary_.c_str(), file->target_.c_str()) != 0) return false;
    file->is_named_ = false;
    return true;
  }
};

expected<void> pending_file::commit_all(std::span<pending_file> files, replacement how) {
  struct plan {
    std::vector<placing> steps;
    const pending_file* failed = nullptr;
    int why = 0;
  } work;
  for (auto& file : files)
    work.steps.push_back(
        {&file, file.is_named_ ? "" : own_files + std::to_string(file.file_.get()), how});
  const auto carry_out = [](void* context) noexcept {
    auto& all = *static_cast<plan*>(context);
    for (const auto step : {&placing::name_it, &placing::rename_it})
      for (const auto& one : all.steps) {
        if ((one.*step)()) continue;
        all.failed = one.file;
        all.why = errno;
        return;
      }
  };
  if (files.size() > 1)
    run_unstoppably(carry_out, &work);
  else
    carry_out(&work);
  if (!work.failed) return {};
  return fail(error_of_errno(work.why, "cannot write " + work.failed->target_.string()));
}

} // namespace hearth::os
