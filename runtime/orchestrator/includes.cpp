#include "runtime/orchestrator/includes.hpp"

#include "runtime/orchestrator/compiler_answers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <unistd.h>
#include <utility>

namespace hearth::orchestrator {
namespace {

constexpr std::size_t rule_bytes = 16 << 20; // of the compiler's list of dependencies
constexpr std::size_t message_bytes = 2000;  // of the compiler's own message in an error

// A file for the compiler's answer, apart from its messages; removed at the end.
class answer_file {
public:
  static expected<answer_file> make() {
    std::error_code failed;
    const auto folder = std::filesystem::temp_directory_path(failed);
    auto path = (folder / "hearth-includes-XXXXXX").string();
    const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0)
      return fail(error_of_errno(errno, "cannot make a file in " + folder.string()));
    ::close(descriptor);
    return answer_file(std::move(path));
  }
  answer_file(answer_file&& other) noexcept
      : path_(std::exchange(other.path_, {})) {}
  answer_file& operator=(answer_file&&) = delete;
  ~answer_file() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }

private:
  explicit answer_file(std::string path)
      : path_(std::move(path)) {}
  std::string path_;
};

std::string shortened(std::string_view message) {
  while (message.ends_with('\n'))
    message.remove_suffix(1);
  if (message.size() <= message_bytes) return std::string(message);
  return std::string(message.substr(0, message_bytes)) + " ...";
}

digest identity_of(std::span<const source_file> files) {
  value::array list;
  for (const auto& file : files)
    list.push_back(value::array{file.name, file.state.content.hex()});
  return sha256(encode(value(std::move(list))));
}

error failure_of(const process_result& result, const std::string& source) {
  if (result.cancelled) return {errc::cancelled, "the includes of " + source + ": given up"};
  if (result.timed_out)
    return {errc::timeout, "the includes of " + source +
                               ": the compiler did not end in time; raise the plan's `timeout`"};
  return {errc::compile_failed, "the includes of " + source + ": " + shortened(result.output)};
}

} // namespace

bool source_closure::still_holds() const {
  return std::all_of(files.begin(), files.end(), [&](const source_file& file) {
    return stamp_now(path_in(directory, file.name)) == file.state.stamp;
  });
}

std::vector<std::string> macro_arguments(std::span<const macro> macros) {
  std::vector<std::string> arguments;
  for (const auto& one : macros)
    arguments.push_back("-D" + one.name + "=" + one.text);
  return arguments;
}

// A scan that some wait for while one makes it.
struct include_scanner::flight {
  std::mutex guard;
  std::optional<answer> result;
};

include_scanner::include_scanner(const toolchain& compiler, file_view& files,
                                 actors::process_runner& runner, fact_memo& memo,
                                 std::chrono::milliseconds deadline)
    : compiler_(compiler)
    , files_(files)
    , runner_(runner)
    , memo_(memo)
    , deadline_(deadline) {}

include_scanner::~include_scanner() = default;

include_scanner::answer include_scanner::closure_of(const std::string& source,
                                                    std::span<const macro> macros,
                                                    std::stop_token stop) {
  auto key = source;
  for (const auto& one : macros)
    key += '\0' + one.name + '=' + one.text;
  std::shared_ptr<flight> mine;
  {
    const std::lock_guard lock(guard_);
    auto& at = flights_[key];
    if (!at) at = std::make_shared<flight>();
    mine = at;
  }
  const std::lock_guard lock(mine->guard);
  const bool again = mine->result && !*mine->result &&
                     mine->result->error().code() == errc::cancelled; // by one who no longer waits
  if (mine->result && !again) return *mine->result;
  mine->result = find_or_scan(source, macros, stop);
  return *mine->result;
}

include_scanner::answer include_scanner::find_or_scan(const std::string& source,
                                                      std::span<const macro> macros,
                                                      const std::stop_token& stop) {
  return scan(source, macros, stop);
}

include_scanner::answer include_scanner::scan(const std::string& source,
                                              std::span<const macro> macros,
                                              const std::stop_token& stop) {
  const auto path = path_in(compiler_.directory, source);
  if (auto readable = files_.content(path); !readable) return fail(readable.error());
  const auto target = answer_file::make();
  if (!target) return fail(target.error());
  auto arguments = macro_arguments(macros);
  for (const auto& argument : {std::string("-M"), std::string("-MT"), std::string("hearth"),
                               std::string("-MF"), target->path(), source})
    arguments.push_back(argument);
  const auto result = runner_.run(compiler_.query(std::move(arguments), deadline_), stop);
  if (!result) return fail(result.error());
  if (!result->succeeded()) return fail(failure_of(*result, source));

  const auto rule = read_file(target->path(), rule_bytes);
  if (!rule) return fail(rule.error());
  auto closure = std::make_shared<source_closure>();
  closure->directory = compiler_.directory;
  for (auto& name : read_dependencies(*rule)) {
    auto content = files_.content(path_in(compiler_.directory, name));
    if (!content)
      return fail(errc::unsupported, "the includes of " + source + ": " + content.error().text() +
                                         "; the compiler may have spelled a strange name wrong");
    closure->files.push_back({std::move(name), *content});
  }
  if (closure->files.empty())
    return fail(errc::unsupported, "the includes of " + source + ": " + compiler_.compiler +
                                       " -M answered no list of them; name a GCC or Clang");
  std::sort(closure->files.begin(), closure->files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  closure->identity = identity_of(closure->files);
  return closure;
}

} // namespace hearth::orchestrator
