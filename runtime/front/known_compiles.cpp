#include "runtime/front/known_compiles.hpp"

#include "messages/digest.hpp"
#include "runtime/fingerprints/files/file_stamp.hpp"
#include "runtime/fingerprints/toolchain/toolchain.hpp"
#include "runtime/fingerprints/watched/inputs.hpp"
#include "runtime/os/find_program.hpp"

#include <charconv>
#include <string_view>
#include <vector>

namespace hearth::front {
namespace {

constexpr char form = '1'; // of the records

void append(std::string& to, std::string_view text) {
  to.append(std::to_string(text.size())).append(1, ':').append(text);
}

// All that the answer depends on but files: words, variables and names.
std::string name_of(const action& asked, std::string_view path) {
  std::string all;
  append(all, asked.directory.native());
  for (const auto& word : asked.command)
    append(all, word);
  all += '\n';
  for (const auto& output : asked.outputs)
    append(all, output.native());
  all += asked.is_dated ? "\nd" : "\n-";
  std::vector<std::string> others;
  for (const auto& [name, text] : asked.environment) {
    append(all, name);
    append(all, text);
  }
  all += '\n';
  for (const auto& [name, text] : asked.other_variables)
    others.push_back(name + "=" + text);
  for (const auto& variable : fingerprints::keyed_variables(others))
    append(all, variable);
  append(all, path);
  return "compile " + sha256(all).hex();
}

} // namespace

known_compiles::known_compiles(fingerprints::fact_memo& facts, const action& asked)
    : facts_(facts)
    , asked_(asked)
    , path_(asked.environment.contains("PATH") ? asked.environment.at("PATH")
                                               : std::string(os::search_path()))
    , fact_(name_of(asked, path_)) {}

std::optional<action_outcome> known_compiles::find(entry_source& in) const {
  const auto record = facts_.load(fact_);
  if (!record) return std::nullopt;
  // The form, the size of the result's key, a colon, the key, the marks.
  std::string_view all = *record;
  std::size_t size = 0;
  const auto read =
      std::from_chars(all.data() + (all.empty() ? 0 : 1), all.data() + all.size(), size);
  if (all.empty() || all.front() != form || read.ec != std::errc()) return std::nullopt;
  all.remove_prefix(static_cast<std::size_t>(read.ptr - all.data()));
  if (all.size() <= size) return std::nullopt;
  const auto result = key::decode(all.substr(1, size));
  if (!result || !fingerprints::marks_hold(all.substr(1 + size))) return std::nullopt;
  return stored_outcome(asked_, in.get(*result));
}

void known_compiles::remember(const std::string& observation, const key& result,
                              const scratch_view& view) {
  fingerprints::packed_marks marks;
  fingerprints::file_view files;
  const auto now_ns = fingerprints::file_clock_ns();
  // The result may be of another PATH that selects the same compiler and assembler, or equal ones:
  // so what this one selects is not among what was looked at.
  const auto directory = asked_.directory.string();
  for (const auto folder : os::folders_in(path_))
    if (!marks.add_now(fingerprints::path_in(directory, folder.empty() ? "." : folder), now_ns))
      return;
  auto programs = fingerprints::searched_tools();
  programs.push_back(asked_.command.front());
  for (const auto& name : programs)
    if (const auto found = os::find_program(name, path_, directory))
      if (!marks.add_now(*found, now_ns)) return;
  if (!fingerprints::add_marks(marks, observation, {view, files, facts_})) return;
  const auto bytes = marks.bytes();
  if (bytes.empty()) return;
  std::string record(1, form);
  append(record, result.encoded());
  facts_.save(fact_, record + bytes);
}

} // namespace hearth::front
