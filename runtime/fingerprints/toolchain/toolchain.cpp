#include "runtime/fingerprints/toolchain/toolchain.hpp"

#include "runtime/fingerprints/toolchain/search_paths.hpp"

#include "messages/replace_all.hpp"
#include "runtime/fingerprints/machine/machine.hpp"
#include "runtime/fingerprints/toolchain/compiler_answers.hpp"
#include "runtime/os/environment.hpp"
#include "runtime/os/find_program.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace hearth::fingerprints {
namespace {

constexpr std::array<std::string_view, 8> keyed_names = {
    "COMPILER_PATH",   "CPATH",        "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX", "LIBRARY_PATH", "OBJC_INCLUDE_PATH",  "SOURCE_DATE_EPOCH"};
constexpr std::array<std::string_view, 2> passed_names = {"PATH", "TMPDIR"};

constexpr std::array<std::string_view, 6> tool_names = {"as", "cc1plus",     "collect2",
                                                        "ld", "lto-wrapper", "lto1"};
// The files that the linker adds to a shared object by default.
constexpr std::array<std::string_view, 10> library_names = {
    "crti.o",      "crtbeginS.o",      "crtendS.o",   "crtn.o",       "libgcc.a",
    "libgcc_eh.a", "libc_nonshared.a", "libstdc++.a", "libstdc++.so", "liblto_plugin.so"};

constexpr std::size_t answer_bytes = 1 << 20;

template <class Names>
bool contains_name(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::string_view value_of(std::string_view variable) {
  const auto at = variable.find('=');
  return at == std::string_view::npos ? std::string_view() : variable.substr(at + 1);
}

std::string_view path_variable(const std::vector<std::string>& environment) {
  const char* path = os::find_variable(environment, "PATH");
  return path ? path : "";
}

value texts(std::span<const std::string> list) { return value::array(list.begin(), list.end()); }

expected<std::string> find_in_path(const std::string& name, std::string_view path,
                                   const std::string& directory) {
  // An empty PATH would mean the current folder.
  if (path.empty())
    return fail(errc::program_not_found, "cannot run " + name + ": PATH is not set");
  return os::find_program(name, path, directory);
}

// The path of a program in PATH; empty when PATH lacks it or is empty.
std::string in_path(const std::string& name, std::string_view path, const std::string& directory) {
  return find_in_path(name, path, directory).value_or(std::string());
}

expected<std::string> find_compiler(const toolchain_request& request, std::string_view path) {
  const auto& name = request.compiler;
  if (name.empty()) return fail(errc::invalid_argument, "the plan names no compiler; name one");
  auto found = name.find('/') == std::string::npos
                   ? find_in_path(name, path, request.directory)
                   : os::find_program(path_in(request.directory, name), path, "");
  if (!found) return fail(found.error().within("the plan's compiler"));
  return found;
}

// ---- What the compiler prints -----------------------------------------------------------------

struct raw_answers {
  std::string verbose;
  std::string version;
  std::string search_dirs;
  std::string loaded; // the shared libraries of the front end
};

bool is_binary(const std::string& path) {
  constexpr std::string_view magic = "\x7f"
                                     "ELF";
  const auto bytes = read_prefix(path, magic.size());
  return bytes && *bytes == magic;
}

// Asks one question; the answer is empty when the compiler does not understand it.
expected<std::string> ask(const toolchain& of, std::vector<std::string> question,
                          const toolchain_request& by, actors::process_runner& runner,
                          const std::stop_token& stop) {
  auto request = of.query(std::move(question), by.deadline);
  request.output_limit = answer_bytes;
  auto result = runner.run(request, stop);
  if (!result) return fail(result.error());
  if (result->cancelled) return fail(errc::cancelled, "asking " + of.compiler + " was given up");
  return result->succeeded() ? std::move(result->output) : std::string();
}

// The shared libraries that the front end loads (Clang is one of them), as the dynamic loader lists
// them instead of starting it. Empty for a file that is not a program of this system.
expected<std::string> ask_loader(const toolchain& of, const std::string& front_end,
                                 const toolchain_request& by, actors::process_runner& runner,
                                 const std::stop_token& stop) {
  if (!is_binary(front_end)) return std::string();
  process_request request;
  request.argv = {front_end, "--version"};
  request.environment = of.environment;
  request.environment.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
  request.directory = of.directory;
  request.deadline = by.deadline;
  auto result = runner.run(request, stop);
  if (!result) return fail(result.error());
  return result->succeeded() ? std::move(result->output) : std::string();
}

expected<raw_answers> ask_all(const toolchain& of, const toolchain_request& by,
                              actors::process_runner& runner, const std::stop_token& stop) {
  raw_answers answers;
  const std::array<std::pair<std::string*, std::vector<std::string>>, 3> questions = {{
      {&answers.verbose, {"-E", "-P", "-v", "-x", "c++", "/dev/null"}},
      {&answers.version, {"--version"}},
      {&answers.search_dirs, {"-print-search-dirs"}},
  }};
  for (const auto& [to, question] : questions) {
    auto answer = ask(of, question, by, runner, stop);
    if (!answer) return fail(answer.error());
    *to = std::move(*answer);
  }
  const auto front_end = read_answers(answers.verbose, {}).front_end;
  auto loaded = ask_loader(of, path_in(of.directory, front_end), by, runner, stop);
  if (!loaded) return fail(loaded.error());
  answers.loaded = std::move(*loaded);
  return answers;
}

// Whether a word of the front end's command line names a response file that the driver has made of
// the flags, with a new name each time ("@/tmp/ccAbCdEf"): the flags, and the files that they name,
// are known by themselves.
bool is_made_response_file(std::string_view word) {
  constexpr std::string_view before = "/cc";
  constexpr std::size_t random_letters = 6;
  const auto name = word.rfind('/');
  return word.starts_with("@/") && word.size() - name == before.size() + random_letters &&
         word.substr(name).starts_with(before);
}

// The line without such names.
std::string without_made_names(std::string_view line) {
  std::string kept;
  while (!line.empty()) {
    const auto word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    if (!is_made_response_file(word)) kept.append(word).append(line.empty() ? "" : " ");
  }
  return kept;
}

// The lines of `-v` that affect the programs it makes: versions, configuration, the command line of
// the front end with `native` resolved. Folders are left out: their files are known by content. The
// plan's own folder is `.`, so that two checkouts have one key.
std::string settings_of(std::string_view verbose, std::string_view directory) {
  constexpr std::array<std::string_view, 5> left_out = {
      "ignoring ", "Found ", "COMPILER_PATH=", "LIBRARY_PATH=", "InstalledDir:"};
  std::string settings;
  bool in_list = false;
  while (!verbose.empty()) {
    const auto line = verbose.substr(0, verbose.find('\n'));
    verbose.remove_prefix(std::min(verbose.size(), line.size() + 1));
    if (line.ends_with("search starts here:")) in_list = true;
    const bool drop = in_list || std::any_of(left_out.begin(), left_out.end(),
                                             [&](auto word) { return line.starts_with(word); });
    if (line.starts_with("End of search list")) in_list = false;
    if (!drop) (settings += without_made_names(line)) += '\n';
  }
  if (directory.size() >= 2) replace_all(settings, directory, ".");
  return settings;
}

// ---- The compiler's files ---------------------------------------------------------------------

// The regular files below a folder, by their names in it, sorted. A link to a folder is followed.
// Errors: `too_large` for more files or folders than a compiler has.
expected<std::vector<std::string>> files_below(const std::string& folder) {
  constexpr std::size_t max_entries = 20'000; // also what ends a circle of links
  std::vector<std::string> names;
  std::error_code ignored;
  std::size_t seen = 0;
  using walk = std::filesystem::recursive_directory_iterator;
  constexpr auto options = std::filesystem::directory_options::follow_directory_symlink |
                           std::filesystem::directory_options::skip_permission_denied;
  for (walk at(folder, options, ignored), end; !ignored && at != end; at.increment(ignored)) {
    if (++seen > max_entries)
      return fail(errc::too_large, folder + ": more than 20,000 files for a compiler's own folder; "
                                            "name another one with -resource-dir");
    std::error_code unreadable;
    if (at->is_regular_file(unreadable))
      names.push_back(at->path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Gathers files by role, each with its content.
class file_collector {
public:
  file_collector(const toolchain& of, const driver_answers& answers,
                 const std::vector<std::string>& loaded, file_view& files)
      : toolchain_(of)
      , answers_(answers)
      , loaded_(loaded)
      , files_(files)
      , path_(path_variable(of.environment)) {}

  expected<std::vector<toolchain_file>> collect() {
    auto driver = files_.content(toolchain_.compiler);
    if (!driver) return fail(driver.error());
    add("driver", toolchain_.compiler);
    add("driver behind", program(answers_.driver));
    add("front end", answers_.front_end);
    for (const auto& file : answers_.configuration)
      add("configuration " + file, file);
    for (const auto& file : loaded_)
      add("loaded " + file.substr(file.rfind('/') + 1), file);
    for (const auto name : tool_names)
      add(std::string(name), tool(name));
    for (const auto name : library_names)
      add("library " + std::string(name), in_directories(answers_.library_directories, name));
    for (std::size_t i = 0; i < toolchain_.flags.size(); ++i)
      add_flag(i);
    if (auto whole = add_resource_folder(); !whole) return fail(whole.error());
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.role, a.path) < std::tie(b.role, b.path);
    });
    return std::move(found_);
  }
  std::vector<std::string> take_resource_files() { return std::move(resource_files_); }

private:
  // Leaves out a file that cannot be read: the compiler cannot read it either.
  void add(std::string role, const std::string& path) {
    if (path.empty()) return;
    const auto absolute = path_in(toolchain_.directory, path);
    if (!files_.is_file(absolute)) return;
    if (const auto content = files_.content(absolute))
      found_.push_back({std::move(role), absolute, content->content});
  }
  std::string program(const std::string& name) const {
    if (name.empty() || name.find('/') != std::string::npos) return name;
    return in_path(name, path_, toolchain_.directory);
  }
  std::string in_directories(const std::vector<std::string>& directories, std::string_view name) {
    for (const auto& directory : directories)
      if (auto path = path_in(path_in(toolchain_.directory, directory), name); files_.is_file(path))
        return path;
    return {};
  }
  std::string tool(std::string_view name) {
    auto found = in_directories(answers_.program_directories, name);
    if (!found.empty()) return found;
    return in_path(std::string(name), path_, toolchain_.directory);
  }

  // Adds the names and contents of all files of Clang's resource folder as one file: hosts that
  // have the same package agree whatever its times are, and a package of another build is another
  // compiler, although its version may be the same.
  expected<void> add_resource_folder() {
    if (answers_.resource_folder.empty()) return {};
    const auto folder = path_in(toolchain_.directory, answers_.resource_folder);
    auto names = files_below(folder);
    if (!names) return fail(names.error());
    value::array all; // names and contents alternate
    for (const auto& name : *names) {
      auto path = path_in(folder, name);
      const auto content = files_.content(path);
      if (!content) continue; // the compiler cannot read it either
      all.emplace_back(name);
      all.emplace_back(content->content.hex());
      resource_files_.push_back(std::move(path));
    }
    if (!all.empty()) found_.push_back({"resource folder", folder, sha256(encode(std::move(all)))});
    return {};
  }

  // Adds the files that a flag may name: itself, the text after `=`, `@` or a letter, parts of
  // `-Wl,a,b`.
  void add_flag(std::size_t index) {
    const auto& flag = toolchain_.flags[index];
    const auto role = "flag " + flag;
    if (flag.starts_with("-l") && flag.size() > 2) return add_library(flag.substr(2), role);
    if (flag == "-l" && index + 1 < toolchain_.flags.size())
      return add_library(toolchain_.flags[index + 1], role);
    if (flag.starts_with("-fuse-ld=")) add(role, tool("ld." + flag.substr(flag.find('=') + 1)));
    std::set<std::string> names = {flag};
    if (flag.starts_with('@')) names.insert(flag.substr(1));
    if (flag.starts_with('-') && flag.size() > 2) names.insert(flag.substr(2));
    for (std::size_t at = 0; at < flag.size(); ++at)
      if (flag[at] == ',' || flag[at] == '=') {
        names.insert(flag.substr(at + 1));
        names.insert(flag.substr(at + 1, flag.find(',', at + 1) - at - 1));
      }
    for (const auto& name : names)
      add(role, name);
  }
  // Adds the library of `-lm` or `-l:libm.a`: its shared and its static form, each as first found.
  void add_library(const std::string& name, const std::string& role) {
    std::vector<std::string> directories;
    for (std::size_t i = 0; i < toolchain_.flags.size(); ++i) {
      const auto& flag = toolchain_.flags[i];
      if (flag == "-L" && i + 1 < toolchain_.flags.size())
        directories.push_back(toolchain_.flags[i + 1]);
      else if (flag.starts_with("-L"))
        directories.push_back(flag.substr(2));
    }
    directories.insert(directories.end(), answers_.library_directories.begin(),
                       answers_.library_directories.end());
    if (name.starts_with(':')) return add(role, in_directories(directories, name.substr(1)));
    add(role, in_directories(directories, "lib" + name + ".so"));
    add(role, in_directories(directories, "lib" + name + ".a"));
  }

  const toolchain& toolchain_;
  const driver_answers& answers_;
  const std::vector<std::string>& loaded_;
  file_view& files_;
  std::string_view path_;
  std::vector<toolchain_file> found_;
  std::vector<std::string> resource_files_;
};

// Whether `compiler` is no wrapper. GCC prints the name that it was started as, Clang its own path;
// a wrapper has another path, or is a script.
bool is_direct(const std::string& compiler, const driver_answers& answers) {
  if (!is_binary(compiler)) return false;
  if (answers.driver == compiler) return true;
  const auto driver = stamp_now(compiler);
  const auto front_end = stamp_now(answers.front_end);
  return driver && front_end && *driver == *front_end;
}

// ---- The remembered answers -------------------------------------------------------------------

// The files and folders on which the answers of a direct compiler depend.
std::vector<std::string> foundations(const toolchain& of, const driver_answers& answers) {
  std::vector<std::string> paths = {of.compiler};
  if (!answers.front_end.empty()) paths.push_back(answers.front_end);
  for (const auto& file : answers.configuration)
    paths.push_back(path_in(of.directory, file));
  if (!answers.gcc_installation.empty()) // Clang takes the newest GCC: a newer one may come
    for (const auto* up : {"/..", "/../.."})
      paths.push_back(answers.gcc_installation + up);
  for (const auto& file : of.files)
    if (file.role.starts_with("flag ")) paths.push_back(file.path);
  return paths;
}

std::string memo_key(const toolchain& of) {
  const value::map parts = {{"compiler", of.compiler},
                            {"directory", of.directory},
                            {"environment", texts(of.environment)},
                            {"flags", texts(of.flags)},
                            {"machine", this_machine().identity().hex()}};
  return "toolchain 1 " + sha256(encode(parts)).hex();
}

std::optional<raw_answers> recall(const std::string& key, file_view& files, fact_memo& memo) {
  const auto bytes = memo.load(key);
  if (!bytes) return std::nullopt;
  const auto record = decode_value(*bytes);
  if (!record) return std::nullopt;
  const auto text = [&](std::string_view name) {
    const auto* member = record->find(name);
    return member ? member->as<std::string>() : nullptr;
  };
  const auto *verbose = text("verbose"), *version = text("version"), *search = text("search_dirs"),
             *loaded = text("loaded");
  const auto foundations = read_by_path(record->find("foundations"), read_stamp);
  const auto contents = read_by_path(record->find("contents"), read_content);
  if (!verbose || !version || !search || !loaded || !foundations || !contents) return std::nullopt;
  for (const auto& [path, stamp] : *foundations)
    if (files.stamp(path) != stamp) return std::nullopt;
  for (const auto& [path, content] : *contents)
    files.trust(path, content);
  return raw_answers{*verbose, *version, *search, *loaded};
}

void remember(const std::string& key, const raw_answers& raw, const toolchain& of,
              const driver_answers& answers, file_view& files, fact_memo& memo) {
  std::map<std::string, file_stamp> stamps;
  for (const auto& path : foundations(of, answers)) {
    const auto stamp = files.stamp(path);
    if (!stamp || !is_reliable(*stamp, file_clock_ns())) return;
    stamps.emplace(path, *stamp);
  }
  std::map<std::string, file_content> contents;
  const auto keep = [&](const std::string& path) {
    if (const auto content = files.content(path); content && content->reliable)
      contents.emplace(path, *content);
  };
  for (const auto& file : of.files)
    keep(file.path);
  for (const auto& path : of.resource_files)
    keep(path);
  memo.save(key, encode(value::map{{"contents", by_path(contents)},
                                   {"foundations", by_path(stamps)},
                                   {"loaded", raw.loaded},
                                   {"search_dirs", raw.search_dirs},
                                   {"verbose", raw.verbose},
                                   {"version", raw.version}}));
}

// ---- Putting it together ----------------------------------------------------------------------

digest identity_of(const toolchain& of, const std::string& compiler, const raw_answers& raw) {
  value::array files;
  for (const auto& file : of.files) { // roles and contents alternate
    files.emplace_back(file.role);
    files.emplace_back(file.content.hex());
  }
  return sha256(encode(value::map{{"compiler", compiler},
                                  {"files", std::move(files)},
                                  {"settings", settings_of(raw.verbose, of.directory)},
                                  {"version", raw.version}}));
}

expected<driver_answers> learn(toolchain& into, const toolchain_request& request,
                               const raw_answers& raw, file_view& files) {
  auto answers = read_answers(raw.verbose, raw.search_dirs);
  const auto loaded = read_loaded(raw.loaded);
  file_collector collector(into, answers, loaded, files);
  auto found = collector.collect();
  if (!found) return fail(found.error());
  into.files = std::move(*found);
  into.resource_files = collector.take_resource_files();
  into.version = raw.version.substr(0, raw.version.find('\n'));
  into.target = answers.target;
  into.include_directories = answers.include_directories;
  into.understood = !answers.include_directories.empty();
  into.direct = is_direct(into.compiler, answers);
  const bool written = request.compiler.find('/') != std::string::npos;
  into.identity = identity_of(into, written ? request.compiler : into.compiler, raw);
  return answers;
}

} // namespace

key_field toolchain::details() const {
  constexpr std::size_t shown_digits = 16;
  key_field::map contents;
  for (const auto& file : files)
    contents.emplace(file.role, file.content.hex().substr(0, shown_digits));
  return key_field::map{
      {"path", compiler}, {"version", version}, {"target", target}, {"files", std::move(contents)}};
}

process_request toolchain::run(std::vector<std::string> arguments,
                               std::chrono::milliseconds deadline) const {
  process_request request;
  request.argv.push_back(compiler);
  request.argv.insert(request.argv.end(), flags.begin(), flags.end());
  request.argv.insert(request.argv.end(), std::make_move_iterator(arguments.begin()),
                      std::make_move_iterator(arguments.end()));
  request.environment = environment;
  request.directory = directory;
  request.deadline = deadline;
  return request;
}

process_request toolchain::query(std::vector<std::string> arguments,
                                 std::chrono::milliseconds deadline) const {
  arguments.insert(arguments.begin(), "-w");
  auto request = run(std::move(arguments), deadline);
  std::erase(request.argv, "-shared");
  return request;
}

expected<void> check_flags(std::span<const std::string> flags) {
  constexpr std::array<std::string_view, 12> whole = {
      "-c",       "-S",       "-E", "-", "-v", "-###", "-r", "--version", "--help", "-fsyntax-only",
      "-pipe-to", "-emit-ast"};
  constexpr std::array<std::string_view, 7> prefixes = {
      "-o", "-M", "-save-temps", "--save-temps", "-dump", "-print-", "--output"};
  constexpr std::array<std::string_view, 4> unkeyable = {"-wrapper", "-fmodules", "-fmodule-",
                                                         "-ivfsoverlay"};
  const auto starts = [](const std::string& flag, const auto& words) {
    return std::any_of(words.begin(), words.end(),
                       [&](auto word) { return flag.starts_with(word); });
  };
  for (const auto& flag : flags) {
    if (contains_name(whole, flag) || starts(flag, prefixes))
      return fail(errc::invalid_argument,
                  "compiler flag " + flag + " changes what a run makes; leave it out");
    if (starts(flag, unkeyable))
      return fail(errc::unsupported,
                  "compiler flag " + flag + " has inputs that no key can hold; leave it out");
  }
  return {};
}

std::vector<std::string> compiler_environment(std::span<const std::string> variables) {
  std::map<std::string, std::string> kept = {{"LC_ALL", "C"}, {"SOURCE_DATE_EPOCH", "0"}};
  for (const auto& variable : variables)
    if (const auto name = name_of(variable);
        contains_name(keyed_names, name) || contains_name(passed_names, name))
      kept.insert_or_assign(std::string(name), std::string(value_of(variable)));
  std::vector<std::string> environment;
  for (const auto& [name, text] : kept)
    environment.push_back(name + "=" + text);
  return environment;
}

std::vector<std::string> keyed_variables(std::span<const std::string> environment) {
  std::vector<std::string> keyed;
  for (const auto& variable : environment)
    if (const auto name = name_of(variable); contains_name(keyed_names, name))
      keyed.push_back(is_search_path(name)
                          ? std::string(name) + "=" + normal_search_path(value_of(variable))
                          : variable);
  return keyed;
}

std::vector<std::string> searched_tools() { return {tool_names.begin(), tool_names.end()}; }

std::vector<std::string> host_variables() {
  std::vector<std::string> variables;
  for (char** at = environ; at && *at; ++at)
    variables.emplace_back(*at);
  return variables;
}

expected<toolchain> identify(const toolchain_request& request, file_view& files,
                             actors::process_runner& runner, fact_memo& memo,
                             std::stop_token stop) {
  if (auto good = check_flags(request.flags); !good) return fail(good.error());
  toolchain result;
  result.directory = request.directory;
  result.flags = request.flags;
  result.environment = compiler_environment(request.variables);
  auto compiler = find_compiler(request, path_variable(result.environment));
  if (!compiler) return fail(compiler.error());
  result.compiler = std::move(*compiler);

  const auto key = memo_key(result);
  if (const auto known = recall(key, files, memo)) {
    if (auto answers = learn(result, request, *known, files); !answers)
      return fail(answers.error());
    return result;
  }
  const auto fresh = ask_all(result, request, runner, stop);
  if (!fresh) return fail(fresh.error());
  const auto answers = learn(result, request, *fresh, files);
  if (!answers) return fail(answers.error());
  if (result.direct) remember(key, *fresh, result, *answers, files, memo);
  return result;
}

} // namespace hearth::fingerprints
