#include "bench/frame/machine.hpp"

#include "bench/frame/work_directory.hpp"
#include "storage/memory/allocator_charge.hpp"

#include <fmt/format.h>
#include <fstream>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace hearth::bench {
namespace {

std::string processor() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown processor";
}

std::string allocator() { return storage::has_jemalloc() ? "jemalloc" : "glibc's allocator"; }

} // namespace

std::string describe_machine(const std::filesystem::path& directory) {
  utsname kernel{};
  ::uname(&kernel);
  const auto memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 30);
  return fmt::format("{}, {} cores, {:.0f} GiB, Linux {}, {} at {}, {}", processor(),
                     std::thread::hardware_concurrency(), memory, kernel.release,
                     file_system_of(directory), directory.parent_path().string(), allocator());
}

} // namespace hearth::bench
