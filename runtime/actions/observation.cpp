#include "runtime/actions/observation.hpp"

#include "messages/dependency_file.hpp"
#include "messages/sighting.hpp"
#include "runtime/actions/action_key.hpp"
#include "runtime/fingerprints/watched/inputs.hpp"
#include "runtime/fingerprints/watched/questions.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view unknown_start = "what the command read is unknown";

// Whether the dependency file leaves headers out that may change: those of <> and of -isystem.
bool omits_system_headers(const action& asked) {
  return std::any_of(asked.command.begin(), asked.command.end(), [](const std::string& word) {
    return word == "-MMD" || word == "--write-user-dependencies" || word.starts_with("-Wp,-MMD");
  });
}

expected<std::string> observe_listed(const action& asked, std::string_view dependencies,
                                     const fingerprints::start_of_run& start) {
  const auto names = read_dependencies(dependencies);
  if (!names) return fail(names.error().within(asked.dependency_file.string()));
  const auto declared = declared_places(asked);
  std::vector<fingerprints::named_file> read;
  for (const auto& name : *names)
    if (const auto place = place_of(asked, name); !declared.contains(place))
      read.push_back({fs::path(name).lexically_normal().generic_string(), place.string()});
  fingerprints::file_view files;
  return fingerprints::observe(read, start, files);
}

using fingerprints::file_question;

// Whether a text has the name of the base folder, in either form.
bool names(const launcher::base_folder& base, std::string_view text) {
  return text.find(base.real) != text.npos || text.find(base.spelled) != text.npos;
}

// Whether what a compile printed or made has that name.
bool told_name(const action_request::run_record& run, const launcher::base_folder& base) {
  return names(base, run.process.output) || names(base, run.process.errors) ||
         std::any_of(run.outputs.begin(), run.outputs.end(),
                     [&](const artifact& one) { return one && names(base, one.payload()); });
}

// Whether a compile was told that name: by its words and variables, or by the files that it read.
// What has not got it has made it of the working folder's.
bool was_told_name(const std::set<file_question>& questions, const action& asked,
                   const command_words& words, const launcher::base_folder& base) {
  const auto is_named = [&](std::string_view text) { return names(base, text); };
  const auto is_named_in = [&](const file_question& one) {
    if (one.what != file_question::kind::content) return false;
    const auto path = fingerprints::path_of(base.working, one.name);
    if (fingerprints::is_of_system(path) && !fingerprints::is_below(path, base.real)) return false;
    const auto text = os::read_whole_file(path, std::numeric_limits<std::size_t>::max());
    return text && is_named(*text);
  };
  const auto& variables = asked.environment;
  return std::any_of(words.deciding.begin(), words.deciding.end(), is_named) ||
         std::any_of(variables.begin(), variables.end(),
                     [&](const auto& one) { return is_named(one.second); }) ||
         std::any_of(questions.begin(), questions.end(), is_named_in);
}

// A compile that cannot have told where its folder is has a result for all folders: what it asked
// about by absolute names, made of that of its folder, is left out, since it asked by relative ones
// too.
void settle_folder(std::set<file_question>& questions, const action& asked,
                   const command_words& words, const action_request::run_record& run) {
  const auto own = asked.directory.string();
  const auto base = asked.base.value_or(launcher::base_folder{own, own, own});
  const file_question own_place{file_question::kind::place, "."};
  const auto is_of_folder = [&](const file_question& one) {
    if (one.what == file_question::kind::place)
      return fingerprints::is_below(fingerprints::path_of(base.working, one.name), base.real);
    return one.name.size() > 1 && one.name.starts_with('/') &&
           (fingerprints::is_below(one.name, base.real) ||
            fingerprints::is_below(base.real, one.name));
  };
  const bool has_asked = std::any_of(questions.begin(), questions.end(), is_of_folder);
  const bool may_tell =
      words.may_tell_places && !launcher::maps_working_folder(asked.command, base);
  if (has_asked && may_tell) {
    if (asked.base) questions.insert(own_place); // the words of another checkout may be the same
  } else if (told_name(run, base)) {             // an assembler may, of inline assembly with .file
    questions.insert(own_place);
  } else if (has_asked && !was_told_name(questions, asked, words, base)) {
    std::erase_if(questions, is_of_folder);
  } else if (has_asked && asked.base) {
    questions.insert(own_place);
  }
}

// `settle`: called with the questions, some of which may not count.
expected<std::string> observe_run(const scratch_view& view, const action_request::run_record& run,
                                  const fingerprints::start_of_run& start,
                                  fingerprints::fact_memo& memo,
                                  const std::function<void(std::set<file_question>&)>& settle) {
  if (!run.process.blind_spot.empty())
    return fail(errc::unsupported, "what it read is unknown: " + run.process.blind_spot);
  const auto seen = read_sightings(run.process.sightings);
  if (!seen) return fail(seen.error());
  const fingerprints::watched_place place{run.scratch, view, !run.changes.empty()};
  const auto questions = fingerprints::questions_of(*seen, place);
  if (!questions) return fail(questions.error());
  const auto& programs = questions->programs;
  const bool with_status = std::any_of(programs.begin(), programs.end(), [](const auto& program) {
    return fingerprints::reads_status(fs::path(program).filename().string());
  });
  auto settled = questions->asked;
  if (settle) settle(settled);
  fingerprints::file_view files;
  auto inputs = fingerprints::watched_inputs(settled, with_status, start, {view, files, memo});
  // What went or came before it was read shows now.
  const auto again = fingerprints::questions_of(*seen, place);
  if (!again) return fail(again.error());
  if (!(*again == *questions))
    return fail(errc::busy, "a file that was looked at changed while the command ran");
  return inputs;
}

} // namespace

expected<std::string> observe_watched(const scratch_view& view,
                                      const action_request::run_record& run,
                                      const fingerprints::start_of_run& start,
                                      fingerprints::fact_memo& memo) {
  return observe_run(view, run, start, memo, {});
}

expected<std::string> observe(const action& asked, const scratch_view& view,
                              const command_words& words, const action_request::run_record& run,
                              const fingerprints::start_of_run& start,
                              fingerprints::fact_memo& memo) {
  const auto& unseen = run.process.blind_spot;
  if (!run.process.sightings.empty() && unseen.empty())
    return observe_run(view, run, start, memo, [&](std::set<file_question>& questions) {
      if (asked.is_compile) settle_folder(questions, asked, words, run);
    });
  if (!asked.dependency_file.empty()) {
    if (!run.process.succeeded())
      return fail(errc::unsupported, "a command that failed lists no inputs");
    if (omits_system_headers(asked))
      return fail(errc::unsupported,
                  "-MMD does not list the system headers that were read; use -MD");
    return observe_listed(asked, run.dependencies, start);
  }
  fingerprints::file_view files;
  if (!asked.sees_undeclared) return fingerprints::observe({}, start, files);
  return fail(errc::unsupported, unknown_inputs(unseen));
}

void add_quiet_variables(std::vector<std::string>& environment) {
  for (const std::string name : {"CCACHE_DISABLE=", "HEARTH_DISABLE=", "PYTHONDONTWRITEBYTECODE="})
    if (std::none_of(environment.begin(), environment.end(),
                     [&](const std::string& one) { return one.starts_with(name); }))
      environment.push_back(name + "1");
}

std::string unknown_inputs(const std::string& why) {
  return std::string(unknown_start) + " (" + why +
         "): declare all of it with --in and --strict, or name a dependency file with --depfile";
}

bool tells_of_unknown_inputs(std::string_view text) {
  return text.find(unknown_start) != text.npos;
}

std::vector<std::string> read_in(const std::string& observation) {
  if (auto watched = fingerprints::inputs_in_words(observation)) return std::move(*watched);
  return fingerprints::names_in(observation);
}

std::string change_since(const std::string& observation, const action& asked,
                         const scratch_view& view, fingerprints::file_view& files,
                         fingerprints::fact_memo& memo) {
  if (auto change = fingerprints::change_in(observation, sha256(observation), {view, files, memo}))
    return std::move(*change);
  const auto path_of = [&](const std::string& name) { return place_of(asked, name).string(); };
  return fingerprints::holds(observation, path_of, files) ? "" : "a file that it read changed";
}

} // namespace hearth
