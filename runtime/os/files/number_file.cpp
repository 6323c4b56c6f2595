#include "runtime/os/files/number_file.hpp"

#include "runtime/os/files/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace hearth::os {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

number_file::number_file(const std::filesystem::path& path, std::uint64_t format, std::size_t count,
                         bool makes)
    : bytes_((1 + count) * sizeof(std::uint64_t)) {
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (makes ? O_CREAT : 0);
  const descriptor file{::open(path.c_str(), flags, 0666)};
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return;
  // Without room, a write to the map would end the process.
  const auto size = static_cast<off_t>(bytes_);
  if (found.st_size < size && (!makes || ::posix_fallocate(file.get(), 0, size) != 0)) return;
  void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return;
  numbers_ = static_cast<std::uint64_t*>(at);
  std::uint64_t none = 0;
  std::atomic_ref head(numbers_[0]);
  if (!head.compare_exchange_strong(none, format) && none != format) close();
}

number_file::~number_file() { close(); }

void number_file::close() {
  if (numbers_) ::munmap(numbers_, bytes_);
  numbers_ = nullptr;
}

} // namespace hearth::os
