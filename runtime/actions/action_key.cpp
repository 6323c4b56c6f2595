#include "runtime/actions/action_key.hpp"

#include "messages/replace_all.hpp"
#include "runtime/actions/compile_in_folder.hpp"
#include "runtime/actions/hidden_inputs.hpp"
#include "runtime/actions/observation.hpp"
#include "runtime/actions/tool_identity.hpp"
#include "runtime/actions/undeclared.hpp"
#include "runtime/fingerprints/contents.hpp"
#include "runtime/fingerprints/machine/machine.hpp"
#include "runtime/fingerprints/toolchain/search_paths.hpp"
#include "runtime/fingerprints/watched/inputs.hpp"
#include "runtime/os/files/plain_file.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <system_error>

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t key_format = 1;
// The name of the working directory of an action without a folder.
constexpr const char* bare_folder = "/action";

fs::path folder_of(const action& asked) {
  return asked.directory.empty() ? fs::path(bare_folder) : asked.directory;
}

std::string text_of(const fs::path& path) { return path.generic_string(); }

expected<void> check_names(const action& asked) {
  if (asked.command.empty() || asked.command.front().empty())
    return fail(errc::invalid_argument, "an action without a command: name a program");
  if (!folder_of(asked).is_absolute())
    return fail(errc::invalid_argument, "an action's directory has to be an absolute path");
  std::set<fs::path> places;
  for (const auto& output : asked.outputs)
    if (output.empty() || !output.has_filename() || !places.insert(place_of(asked, output)).second)
      return fail(errc::invalid_argument,
                  "output '" + output.string() + "' is named twice or is no file: name each once");
  for (const auto& output : asked.outputs)
    if (auto good = os::check_replaceable(place_of(asked, output)); !good)
      return fail(good.error().within("output"));
  for (const auto& [name, text] : asked.texts)
    if (!places.insert(place_of(asked, name)).second)
      return fail(errc::invalid_argument, "'" + name + "' is both given and made: rename one");
  return {};
}

// --- the key -----------------------------------------------------------------------------------

expected<key_field> field_of_input(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    auto tree = fingerprints::field_of_tree(path);
    if (!tree) return fail(tree.error());
    return key_field(std::move(*tree));
  }
  const auto file = fingerprints::field_of_file(path);
  if (!file) return fail(file.error());
  return key_field(*file);
}

expected<key_field> field_of_inputs(const action& asked) {
  key_field::map inputs;
  for (const auto& name : asked.inputs) {
    auto content = field_of_input(place_of(asked, name));
    if (!content) return fail(content.error().within("input"));
    inputs.insert_or_assign(text_of(name.lexically_normal()), std::move(*content));
  }
  for (const auto& [name, text] : asked.texts)
    inputs.insert_or_assign(name, key_field(file_field{sha256(text), text.size()}));
  return key_field(std::move(inputs));
}

key_field texts_of(const std::vector<std::string>& texts) {
  return key_field::list(texts.begin(), texts.end());
}

std::vector<std::string> names_of(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths)
    names.push_back(text_of(path.lexically_normal()));
  return names;
}

// A compiler searches the same folders when a list repeats one; what another program makes of the
// text is unknown.
key_field environment_of(const action& asked, bool is_compiler) {
  key_field::map all;
  for (const auto& [name, text] : asked.environment)
    all.emplace(name, is_compiler && fingerprints::is_search_path(name)
                          ? fingerprints::normal_search_path(text)
                          : text);
  return key_field(std::move(all));
}

// The target platform: this machine's identity for a "=native" flag, else architecture and system.
key_field platform_of(const action& asked) {
  const auto& machine = fingerprints::this_machine();
  const bool is_native =
      std::any_of(asked.command.begin(), asked.command.end(),
                  [](const auto& word) { return word.find("=native") != std::string::npos; });
  if (is_native) return key_field(machine.identity().hex());
  return key_field::list{machine.architecture, machine.system};
}

expected<structural_key> key_of(const action& asked, const tool_identity& tool, key_field inputs,
                                const deciding_words& words) {
  key_builder fields;
  fields.add("command", texts_of(words.command))
      .add("environment", environment_of(asked, tool.is_compiler))
      .add("format", key_format)
      .add("inputs", std::move(inputs))
      .add("outputs", texts_of(words.outputs))
      .add("placeholders", asked.placeholders)
      .add("platform", platform_of(asked))
      .add("program", tool.details);
  if (!asked.dependency_file.empty())
    fields.add("dependency_file", text_of(asked.dependency_file.lexically_normal()));
  if (!asked.sees_undeclared) fields.add("sees", "declared");
  if (!words.place.empty()) fields.add("runs_in", words.place);
  if (asked.keep_failures) fields.add("keeps_failures", true);
  return fields.build();
}

key_field shown_details(const structural_key& key, const tool_identity& tool) {
  const auto* details = key.details.as<key_field::map>();
  auto shown = details ? *details : key_field::map{};
  shown.insert_or_assign("program", tool.shown);
  return key_field(std::move(shown));
}

// --- the request -------------------------------------------------------------------------------

// The name in a scratch directory that represents a path of the host.
std::string in_scratch(const fs::path& path) { return "root" + path.string(); }

scratch_view view_of(const action& asked) {
  scratch_view view;
  view.folder = folder_of(asked).lexically_normal().string();
  view.shows_all = asked.sees_undeclared && !asked.directory.empty();
  for (const auto& input : asked.inputs)
    view.shown.push_back(place_of(asked, input).string());
  for (const auto& output : asked.outputs)
    view.places.push_back(place_of(asked, output).string());
  for (const auto& [name, text] : asked.texts)
    view.places.push_back(place_of(asked, name).string());
  if (!asked.dependency_file.empty())
    view.places.push_back(place_of(asked, asked.dependency_file).string());
  return view;
}

// Replaces the absolute path of an output in the command by its relative path.
void make_relative(std::vector<std::string>& command, const fs::path& place, const fs::path& from) {
  const auto absolute = place.string();
  const auto relative = place.lexically_relative(from).string();
  for (auto& word : command)
    replace_all(word, absolute, relative);
}

process_request process_of(const action& asked, const tool_identity& tool) {
  process_request process;
  process.argv = asked.command;
  const auto folder = folder_of(asked).lexically_normal();
  for (const auto& output : asked.outputs)
    if (output.is_absolute() && !asked.is_compile)
      make_relative(process.argv, place_of(asked, output), folder);
  for (const auto& [name, text] : asked.environment)
    process.environment.push_back(name + "=" + text);
  for (const auto& [name, text] : asked.other_variables)
    process.environment.push_back(name + "=" + text);
  if (!asked.environment.contains("PATH")) process.environment.push_back("PATH=" + tool.path);
  process.deadline = asked.timeout.count() > 0 ? asked.timeout : std::chrono::hours(24 * 365);
  process.output_limit = asked.output_limit;
  process.streams_apart = true;
  process.limits = asked.limits;
  return process;
}

// Returns a function that checks the declared inputs against the key and encodes the discovered
// ones.
auto observer_of(const action& asked, const key_field& inputs, const scratch_view& view,
                 const command_words& words,
                 const std::shared_ptr<const fingerprints::start_of_run>& start,
                 const std::shared_ptr<fingerprints::fact_memo>& facts) {
  return [asked, inputs, view, words, start,
          facts](const action_request::run_record& run) -> expected<std::string> {
    const auto now = field_of_inputs(asked);
    if (!now) return fail(now.error());
    if (!(*now == inputs)) return fail(errc::busy, "an input changed while the command ran");
    if (!start) return std::string();
    auto observed = observe(asked, view, words, run, *start, *facts);
    if (!observed || !asked.refuses_hidden_inputs) return observed;
    for (const auto& output : run.outputs)
      if (output && is_precompiled_by_clang(output.payload()))
        return fail(errc::unsupported, "a precompiled header of clang has times of files in it");
    const auto read = fingerprints::files_in(*observed, view.folder);
    const auto why = hidden_input_of(read, asked.is_dated, asked.command);
    if (why.empty()) return observed;
    return fail(errc::unsupported, why);
  };
}

// A command that is no compile in its own folder. Says in the request how it runs.
deciding_words run_elsewhere(const action& asked, bool may_be_covered, action_request& request) {
  using overlay = action_request::overlay;
  // Within a watched command, which sees the mount of an overlay, there is only a view; and a
  // dependency file alone does not tell whether the folder's name counts.
  const bool is_watched = request.process.watch != watching::none;
  may_be_covered = may_be_covered && (is_watched || asked.dependency_file.empty());
  if (may_be_covered)
    request.overlaid = asked.is_compile ? overlay::required : overlay::if_possible;
  const auto* const place = !may_be_covered    ? ""
                            : asked.is_compile ? "its folder, covered, as a compile"
                                               : "its folder, covered";
  auto command = asked.command;
  if (asked.base)
    for (auto& word : command)
      word = launcher::key_argument(word, *asked.base);
  return {std::move(command), names_of(asked.outputs), place};
}

// Whether a compile beneath an overlay changed nothing but its outputs. Anything else would be
// lost. `changes`: the overlay's folder; empty: there was none.
expected<void> check_changes(const action& asked, const fs::path& changes) {
  if (changes.empty()) return {};
  std::set<fs::path> known; // the outputs, and the folders on the way to them
  for (const auto& output : asked.outputs)
    for (auto path = place_of(asked, output).lexically_relative(asked.directory.lexically_normal());
         !path.empty(); path = path.parent_path())
      known.insert(path);
  std::error_code failure;
  for (fs::recursive_directory_iterator at(changes, failure), end; !failure && at != end;
       at.increment(failure)) {
    const auto name = at->path().lexically_relative(changes);
    if (!known.contains(name))
      return fail(errc::unsupported, "it changes another file than its outputs: " + name.string());
  }
  if (failure) return fail(error_of_errno(failure.value(), "cannot list " + changes.string()));
  return {};
}

watching watching_of(const process_request& process, const tool_identity& tool,
                     const tool_ports& tools) {
  if (!tools.watches) return watching::none;
  return tool.is_compiler ? watching_of_compiler(process) : watching::files_and_links;
}

// As the command sees its folder: what it reaches from there is named relative to it.
action with_real_folder(action asked) {
  if (!asked.directory.is_absolute()) return asked;
  std::error_code failure;
  auto real = fs::canonical(asked.directory, failure);
  if (!failure) asked.directory = std::move(real);
  return asked;
}

std::shared_ptr<const fingerprints::start_of_run> start_of(const action& asked) {
  auto start = std::make_shared<fingerprints::start_of_run>();
  if (asked.begun_ns != 0) start->time_ns = std::min(start->time_ns, asked.begun_ns);
  return start;
}

} // namespace

fs::path place_of(const action& asked, const fs::path& name) {
  return (folder_of(asked) / name).lexically_normal();
}

std::string subject_of(const action& asked) {
  auto subject = "action " + asked.directory.string();
  for (const auto& output : asked.outputs)
    subject += "\n" + output.string();
  if (asked.outputs.empty() && !asked.command.empty())
    subject += "\n" + fs::path(asked.command.front()).filename().string();
  return subject;
}

std::set<fs::path> declared_places(const action& asked) {
  std::set<fs::path> all;
  for (const auto& name : asked.inputs)
    all.insert(place_of(asked, name));
  for (const auto& [name, text] : asked.texts)
    all.insert(place_of(asked, name));
  for (const auto& name : asked.outputs)
    all.insert(place_of(asked, name));
  if (!asked.dependency_file.empty()) all.insert(place_of(asked, asked.dependency_file));
  return all;
}

expected<prepared_action> prepare(const action& given, const tool_ports& tools) {
  const auto asked = with_real_folder(given);
  if (auto good = check_names(asked); !good) return fail(good.error());
  const bool discovers_inputs = tools.watches || !asked.dependency_file.empty();
  const auto start = discovers_inputs ? start_of(asked) : nullptr;
  const auto tool = identify_tool(asked, tools);
  if (!tool) return fail(tool.error());
  auto inputs = field_of_inputs(asked);
  if (!inputs) return fail(inputs.error());
  prepared_action result{{}, {}, {}, view_of(asked)};
  auto& request = result.request;
  request.label = asked.command.front();
  for (const auto& output : asked.outputs)
    request.label += " " + output.string();
  request.process = process_of(asked, *tool);
  request.process.watch = watching_of(request.process, *tool, tools);
  if (request.process.watch != watching::none) add_quiet_variables(request.process.environment);
  request.placeholders = asked.placeholders;
  request.view = result.view;
  for (const auto& output : asked.outputs)
    request.outputs.push_back({action_request::no_argument, in_scratch(place_of(asked, output)),
                               !asked.optional_outputs.contains(output)});
  for (const auto& [name, text] : asked.texts)
    request.files.push_back({in_scratch(place_of(asked, name)), artifact::make(text)});
  if (!asked.dependency_file.empty())
    request.dependency_file = in_scratch(place_of(asked, asked.dependency_file));
  const bool is_plain = request.view.shows_all && asked.texts.empty() && !asked.placeholders;
  const bool is_watched = request.process.watch != watching::none;
  std::optional<deciding_words> words;
  if (tool->is_compiler && is_plain && tools.can_watch && is_watched)
    words = run_in_folder(asked, request);
  if (!words) words = run_elsewhere(asked, is_plain && tools.can_watch, request);
  if (asked.is_compile) {
    const bool runs_there =
        request.view.folder.empty() || request.overlaid == action_request::overlay::required;
    if (!tool->is_compiler || !is_watched || !runs_there)
      return fail(errc::unsupported, request.label + ": it cannot run in its own folder");
    request.accept = [asked](const action_request::run_record& run) {
      return check_changes(asked, run.changes);
    };
  }
  auto key = key_of(asked, *tool, *inputs, *words);
  if (!key) return fail(key.error());
  result.shown = shown_details(*key, *tool);
  result.key = std::move(*key);
  request.observe = observer_of(asked, *inputs, result.view,
                                {std::move(words->command), may_tell_folder(request.process)},
                                start, tools.lasting_facts);
  if (!asked.sees_undeclared && request.process.watch != watching::none) {
    result.undeclared = std::make_shared<std::vector<std::string>>();
    request.after_run = [asked, to = result.undeclared](const action_request::run_record& run) {
      *to = undeclared_in(asked, run);
    };
  }
  if (start) request.before_start = [start] { start->wait_until_changes_show(); };
  if (asked.keep_failures) request.failures = action_request::failure_keeping::result;
  return result;
}

} // namespace hearth
