#include "runtime/fingerprints/includes/includes.hpp"

#include "runtime/fingerprints/toolchain/compiler_answers.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <unistd.h>
#include <utility>

namespace hearth::fingerprints {
namespace {

constexpr std::size_t rule_bytes = 16 << 20;  // limit of the compiler's list of dependencies
constexpr std::size_t text_bytes = 256 << 20; // limit of one source file
constexpr std::size_t message_bytes = 2000;   // limit of the compiler's own message in an error

// A temporary file for the compiler's answer, apart from its messages; the destructor removes it.
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

value text_list(std::span<const std::string> list) {
  return value::array(list.begin(), list.end());
}

// Hashes per file: its name's length in decimal, a colon, the name, and the content's digest of 32
// bytes.
digest identity_of(std::span<const source_file> files) {
  sha256_stream stream;
  for (const auto& file : files) {
    stream.update(std::to_string(file.name.size()) + ':' + file.name);
    stream.update(file.state.content.view());
  }
  return stream.finish();
}

std::shared_ptr<source_closure> closure_from(const std::string& directory,
                                             const std::map<std::string, file_content>& files) {
  auto closure = std::make_shared<source_closure>();
  closure->directory = directory;
  for (const auto& [name, content] : files)
    closure->files.push_back({name, content});
  closure->identity = identity_of(closure->files);
  return closure;
}

std::vector<std::string> macro_names(std::span<const macro> macros) {
  std::vector<std::string> names;
  for (const auto& one : macros)
    names.push_back(one.name.substr(0, one.name.find('('))); // F(x) defines F
  return names;
}

// Whether a flag, such as -DSIZE=TILE or @file, may refer to one of `names`.
bool mention_any(std::span<const std::string> flags, std::span<const std::string> names) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto mentions = [&](const std::string& flag, const std::string& name) {
    for (auto at = flag.find(name, 2); at != std::string::npos; at = flag.find(name, at + 1))
      if (!is_word(flag[at - 1]) &&
          (at + name.size() == flag.size() || !is_word(flag[at + name.size()])))
        return true;
    return false;
  };
  return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
    return flag.starts_with('@') || std::any_of(names.begin(), names.end(), [&](const auto& name) {
             return mentions(flag, name);
           });
  });
}

// The key of what a scan depends on besides the source, its macros and the files that it reads.
std::string settings_key_of(const toolchain& compiler) {
  const value::map parts = {{"compiler", compiler.compiler},
                            {"directory", compiler.directory},
                            {"environment", text_list(keyed_variables(compiler.environment))},
                            {"flags", text_list(compiler.flags)},
                            {"folders", text_list(compiler.include_directories)},
                            {"identity", compiler.identity.hex()}};
  return sha256(encode(parts)).hex();
}

// The names that flags include before the source.
std::vector<std::string> forced_includes(std::span<const std::string> flags) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < flags.size(); ++i)
    for (const std::string_view option : {"-include", "-imacros", "--include", "--imacros"}) {
      if (!flags[i].starts_with(option)) continue;
      auto name = flags[i].substr(option.size());
      if (name.empty() && i + 1 < flags.size()) name = flags[i + 1];
      if (name.starts_with('=')) name.erase(0, 1);
      names.push_back(std::move(name));
    }
  return names;
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

// The results of a run for one source and one set of macro names. A caller waits while another one
// scans.
struct include_scanner::source_state {
  std::mutex guard;
  std::optional<answer> for_all; // for all texts of the macros
  std::map<std::vector<macro>, answer> by_macros;
};

struct include_scanner::finding {
  std::shared_ptr<source_closure> closure;
  include_record record;
  bool repeatable = false; // whether the record holds all facts that the scan depends on
  bool for_all = false;    // whether the macros' texts do not matter
};

include_scanner::include_scanner(const toolchain& compiler, file_view& files,
                                 actors::process_runner& runner, fact_memo& memo,
                                 std::chrono::milliseconds deadline)
    : compiler_(compiler)
    , settings_{compiler.directory, compiler.include_directories, forced_includes(compiler.flags)}
    , settings_key_(settings_key_of(compiler))
    , files_(files)
    , runner_(runner)
    , memo_(memo)
    , deadline_(deadline) {}

include_scanner::~include_scanner() = default;

include_scanner::answer include_scanner::closure_of(const std::string& source,
                                                    std::span<const macro> macros,
                                                    std::stop_token stop) {
  std::shared_ptr<source_state> state;
  {
    const std::lock_guard lock(guard_);
    auto& at = sources_[memo_key(source, macros, false)];
    if (!at) at = std::make_shared<source_state>();
    state = at;
  }
  const std::lock_guard lock(state->guard);
  if (state->for_all) return *state->for_all;
  std::vector<macro> exact(macros.begin(), macros.end());
  if (const auto at = state->by_macros.find(exact); at != state->by_macros.end()) return at->second;
  auto result = find_or_scan(*state, source, macros, stop);
  const bool given_up = !result && result.error().code() == errc::cancelled;
  if (!given_up) state->by_macros.emplace(std::move(exact), result);
  return result;
}

include_scanner::answer include_scanner::find_or_scan(source_state& state,
                                                      const std::string& source,
                                                      std::span<const macro> macros,
                                                      const std::stop_token& stop) {
  const auto common = memo_key(source, macros, false);
  const auto exact = memo_key(source, macros, true);
  if (compiler_.understood) {
    if (auto known = recall(common)) return *(state.for_all = std::move(known));
    if (auto known = recall(exact)) return known;
  }
  auto found = scan(source, macros, stop);
  if (!found) return fail(found.error());
  if (found->repeatable) memo_.save(found->for_all ? common : exact, encode(found->record));
  if (found->for_all) state.for_all = found->closure;
  return found->closure;
}

include_scanner::answer include_scanner::recall(const std::string& key) {
  const auto bytes = memo_.load(key);
  auto record = bytes ? decode_include_record(*bytes) : std::nullopt;
  const auto state = record ? check(*record, compiler_.directory, files_) : record_state::stale;
  if (state == record_state::stale) return fail(errc::not_found, "nothing remembered");
  if (state == record_state::renewed) memo_.save(key, encode(*record));
  auto closure = closure_from(compiler_.directory, record->files);
  closure->remembered = true;
  return closure;
}

// Repeats the scan once when a file changed meanwhile: the compiler may have read either state.
expected<include_scanner::finding> include_scanner::scan(const std::string& source,
                                                         std::span<const macro> macros,
                                                         const std::stop_token& stop) {
  constexpr int attempts = 2;
  for (int i = 1;; ++i) {
    const auto start_ns = file_clock_ns();
    auto names = ask(source, macros, stop);
    if (!names) return fail(names.error());
    auto found = inspect(source, std::move(*names), macros);
    if (!found) return found;
    const bool steady = is_steady(found->record, compiler_.directory, start_ns);
    if (steady || !found->repeatable || i == attempts) {
      found->repeatable = found->repeatable && steady;
      return found;
    }
  }
}

expected<std::vector<std::string>> include_scanner::ask(const std::string& source,
                                                        std::span<const macro> macros,
                                                        const std::stop_token& stop) {
  const auto path = path_in(compiler_.directory, source);
  if (auto readable = files_.content(path); !readable) return fail(readable.error());
  const auto target = answer_file::make();
  if (!target) return fail(target.error());
  auto arguments = macro_arguments(macros);
  arguments.insert(arguments.end(), {"-M", "-MT", "hearth", "-MF", target->path(), source});
  const auto result = runner_.run(compiler_.query(std::move(arguments), deadline_), stop);
  if (!result) return fail(result.error());
  if (!result->succeeded()) return fail(failure_of(*result, source));
  const auto rule = read_file(target->path(), rule_bytes);
  if (!rule) return fail(rule.error());
  auto names = read_own_rule(*rule);
  if (names.empty())
    return fail(errc::unsupported, "the includes of " + source + ": " + compiler_.compiler +
                                       " -M answered no list of them; name a GCC or Clang");
  return names;
}

expected<include_scanner::finding> include_scanner::inspect(const std::string& source,
                                                            std::vector<std::string> names,
                                                            std::span<const macro> macros) {
  finding found;
  std::vector<scanned_file> scanned;
  std::vector<inspected_file> inspected;
  for (auto& name : names) {
    const auto path = path_in(compiler_.directory, name);
    const auto content = files_.content(path);
    const auto text = content ? text_of(path, content->content) : fail(content.error());
    if (!text)
      return fail(errc::unsupported, "the includes of " + source + ": " + text.error().text() +
                                         "; a compiler may spell a strange name wrong: rename it");
    if ((*text)->mentions_incbin && is_own(name))
      return fail(errc::unsupported, "the includes of " + source + ": " + name +
                                         " speaks of .incbin, which reads a file that no key can "
                                         "hold; #include the data instead");
    scanned.push_back({name, *text});
    inspected.push_back({*text, is_own(name)});
    found.record.files.emplace(std::move(name), *content);
  }
  found.record.folders = gather_facts(scanned, settings_, files_);
  bool folders_of_headers = false;
  for (const auto& path : precompiled_headers(found.record.folders)) {
    if (const auto content = files_.content(path))
      found.record.files.emplace(path, *content);
    else
      folders_of_headers = true;
  }
  const bool opaque = std::any_of(inspected.begin(), inspected.end(),
                                  [](const auto& file) { return file.text->opaque; });
  found.repeatable = compiler_.understood && !opaque && !folders_of_headers;
  const auto names_of_macros = macro_names(macros);
  found.for_all = !mention_any(compiler_.flags, names_of_macros) &&
                  !inclusion_depends_on(names_of_macros, inspected);
  found.closure = closure_from(compiler_.directory, found.record.files);
  return found;
}

// Reads each text once per run; all sources that include a file share its text.
expected<const source_text*> include_scanner::text_of(const std::string& path,
                                                      const digest& content) {
  {
    const std::lock_guard lock(guard_);
    if (const auto at = texts_.find(content); at != texts_.end()) return at->second.get();
  }
  const auto bytes = read_file(path, text_bytes);
  if (!bytes) return fail(bytes.error());
  if (sha256(*bytes) != content)
    return fail(errc::busy, path + " changes while it is read; let its writer end");
  auto text = std::make_unique<const source_text>(read_source(*bytes));
  const std::lock_guard lock(guard_);
  return texts_.try_emplace(content, std::move(text)).first->second.get();
}

std::string include_scanner::memo_key(const std::string& source, std::span<const macro> macros,
                                      bool with_texts) const {
  value::array list;
  list.emplace_back(settings_key_);
  list.emplace_back(source);
  for (const auto& one : macros) {
    list.emplace_back(one.name);
    if (with_texts) list.emplace_back(one.text);
  }
  return (with_texts ? "includes of 1 " : "includes of any 1 ") +
         sha256(encode(value(std::move(list)))).hex();
}

// Whether a file is not a system header. Those are in folders of the search path that are neither
// in the plan's folder nor named by a flag.
bool include_scanner::is_own(const std::string& name) const {
  if (!name.starts_with('/') || name.starts_with(compiler_.directory + "/")) return true;
  return std::none_of(settings_.include_directories.begin(), settings_.include_directories.end(),
                      [&](const std::string& folder) {
                        return folder.starts_with('/') && name.starts_with(folder + "/") &&
                               std::none_of(
                                   compiler_.flags.begin(), compiler_.flags.end(),
                                   [&](const auto& flag) { return flag.ends_with(folder); });
                      });
}

} // namespace hearth::fingerprints
