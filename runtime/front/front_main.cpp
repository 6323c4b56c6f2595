// The program `hearth`: answers what the mapped store knows, and becomes `hearth-runtime` for all
// else. It is linked statically and starts no thread, so a hit costs hardly more than starting it.
// By the name `hearth-cc`, or a compiler's, it is `hearth cc`.
#include "runtime/actions/tool_identity.hpp"
#include "runtime/front/compiler_behind.hpp"
#include "runtime/front/hits.hpp"
#include "runtime/front/programs.hpp"
#include "runtime/front/statuses.hpp"
#include "runtime/os/standard_streams.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using words = std::vector<std::string>;

using namespace hearth::front;

// The folder of this program.
std::string own_folder() {
  char path[PATH_MAX];
  const auto bytes = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string all(path, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return all.substr(0, all.rfind('/'));
}

// Whether the command is `run`: the first word that is no option, nor the value of --store.
bool is_run(const words& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].starts_with('-')) return given[i] == "run";
    if (given[i] == "--store") ++i;
  }
  return false;
}

// Whether this process may have so little memory that the runtime would not start; compilers need
// less.
bool has_little_memory() {
  constexpr rlim_t enough = rlim_t{512} << 20;
  rlimit space{};
  return ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < enough;
}

// Becomes the program with the runtime, beside this one or in ../libexec/hearth. Returns when there
// is none: a compile still runs.
int become_runtime(const words& given) {
  const bool is_compile = given.size() > 1 && given.front() == "cc" && !given[1].starts_with('-');
  const words compile(given.begin() + (is_compile ? 1 : 0), given.end());
  if (is_compile && has_little_memory()) return become_compiler(compile);
  const auto folder = own_folder();
  const auto beside = folder + "/hearth-runtime";
  const auto installed = folder.substr(0, folder.rfind('/')) + "/libexec/hearth/hearth-runtime";
  words all{"hearth"};
  all.insert(all.end(), given.begin(), given.end());
  int failure = folder.empty() ? ENOENT : become(beside, all);
  if (failure == ENOENT && !folder.empty()) failure = become(installed, all);
  if (is_compile) return become_compiler(compile);
  const auto text = "hearth: cannot run hearth-runtime, neither " + beside + " nor " + installed +
                    ": " + std::strerror(failure) +
                    "; build the target hearth-runtime, or install Hearth anew\n";
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  return is_run(given) ? run_failed : io_trouble;
}

int report_no_compiler(const std::string& name) {
  const auto text = "hearth: cannot run " + name + ": no other program of this name is in PATH; " +
                    "install the compiler, or name its folder in PATH\n";
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  return run_not_found;
}

} // namespace

int main(int count, char** arguments) {
  hearth::os::open_missing_standard_streams();
  ignore_write_signals();
  const std::string_view called(count > 0 ? arguments[0] : "");
  const std::string name(called.substr(called.rfind('/') + 1));
  words all(arguments + std::min(count, 1), arguments + count);
  if (name == "hearth-cc") {
    all.insert(all.begin(), "cc");
  } else if (hearth::is_compiler_name(name)) {
    const auto compiler = compiler_behind(name);
    if (!compiler) return report_no_compiler(name);
    all.insert(all.begin(), {"cc", *compiler});
  }
  try {
    // Nothing is left to write; what is mapped ends with the process.
    if (const auto status = answer(all)) ::_exit(*status);
  } catch (const std::exception&) { // no memory: the other program tells
  }
  return become_runtime(all);
}
