#include "runtime/actions/tool_identity.hpp"

#include "runtime/fingerprints/contents.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/toolchain/toolchain.hpp"
#include "runtime/os/find_program.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace hearth {
namespace {

namespace fs = std::filesystem;

std::string path_of(const action& asked) {
  if (const auto own = asked.environment.find("PATH"); own != asked.environment.end())
    return own->second;
  return std::string(os::search_path());
}

// Whether the program is one of the action's own texts, whose content is part of the inputs.
bool is_own_input(const action& asked) {
  const auto& name = asked.command.front();
  if (name.find('/') == std::string::npos) return false;
  const auto is_it = [&](const fs::path& other) {
    return place_of(asked, other) == place_of(asked, name);
  };
  return std::any_of(asked.texts.begin(), asked.texts.end(),
                     [&](const auto& text) { return is_it(text.first); });
}

bool is_binary(const std::string& program) {
  constexpr std::string_view magic = "\x7f"
                                     "ELF";
  const auto bytes = fingerprints::read_prefix(program, magic.size());
  return bytes && *bytes == magic;
}

std::vector<std::string> variables_of(const action& asked, const std::string& path) {
  std::vector<std::string> all;
  for (const auto& [name, text] : asked.environment)
    all.push_back(name + "=" + text);
  for (const auto& [name, text] : asked.other_variables)
    all.push_back(name + "=" + text);
  if (!asked.environment.contains("PATH")) all.push_back("PATH=" + path);
  return all;
}

expected<fingerprints::toolchain> ask_compiler(const action& asked, const std::string& compiler,
                                               const std::string& path, const tool_ports& tools) {
  fingerprints::toolchain_request request;
  request.compiler = compiler;
  request.directory = asked.directory.empty() ? "/" : asked.directory.string();
  request.variables = variables_of(asked, path);
  fingerprints::file_view files;
  return fingerprints::identify(request, files, tools.processes, tools.facts, tools.stop);
}

// A part of the key, and what it is made of.
struct tool_details {
  key_field::map keyed;
  key_field::map shown;
};

expected<tool_details> other_toolchains(const action& asked, const std::string& path,
                                        const tool_ports& tools) {
  tool_details all;
  for (const auto& name : asked.toolchains) {
    const auto compiler = ask_compiler(asked, name, path, tools);
    if (!compiler) return fail(compiler.error());
    all.keyed.insert_or_assign(name, key_field(compiler->identity.hex()));
    all.shown.insert_or_assign(name, compiler->details());
  }
  return all;
}

// The identity of a compiler replaces PATH: it includes the programs that PATH selects.
expected<tool_details> details_of(const action& asked, const std::string& program,
                                  const std::string& path, const tool_ports& tools) {
  if (is_compiler_name(fs::path(program).filename().string()) && is_binary(program)) {
    const auto compiler = ask_compiler(asked, program, path, tools);
    if (!compiler) return fail(compiler.error());
    if (compiler->understood)
      return tool_details{{{"toolchain", compiler->identity.hex()}},
                          {{"toolchain", compiler->details()}}};
  }
  const auto content = fingerprints::field_of_file(program);
  if (!content) return fail(content.error());
  key_field::map both{{"content", *content}, {"path", path}};
  return tool_details{both, both};
}

bool is_system_folder(const std::string& word) {
  return word.starts_with("-isystem") || word.starts_with("-idirafter");
}

bool names_system_folders(const process_request& run) {
  return std::any_of(run.argv.begin(), run.argv.end(), is_system_folder);
}

} // namespace

bool is_compiler_name(std::string_view name) {
  constexpr std::array<std::string_view, 6> names{"gcc", "g++", "cc", "c++", "clang", "clang++"};
  const auto version = name.find_last_not_of("0123456789.");
  if (version != name.npos && name[version] == '-' && version + 1 < name.size())
    name = name.substr(0, version);
  const auto target = name.rfind('-');
  const auto bare = target == name.npos ? name : name.substr(target + 1);
  return std::find(names.begin(), names.end(), bare) != names.end();
}

expected<tool_identity> identify_tool(const action& asked, const tool_ports& tools) {
  const auto path = path_of(asked);
  tool_details details;
  if (is_own_input(asked)) {
    details.keyed = details.shown = {{"path", path}};
  } else {
    const auto program = os::find_program(asked.command.front(), path, asked.directory.string());
    if (!program) return fail(program.error());
    auto found = details_of(asked, *program, path, tools);
    if (!found) return fail(found.error());
    details = std::move(*found);
  }
  if (!asked.toolchains.empty()) {
    auto others = other_toolchains(asked, path, tools);
    if (!others) return fail(others.error());
    details.keyed.emplace("toolchains", std::move(others->keyed));
    details.shown.emplace("toolchains", std::move(others->shown));
  }
  const bool is_compiler = details.keyed.contains("toolchain");
  return tool_identity{key_field(std::move(details.keyed)), key_field(std::move(details.shown)),
                       path, is_compiler};
}

bool may_tell_folder(const process_request& run) {
  // Options with which a compiler tells no place of a file: not in debug information, in coverage
  // or profiles, nor, by following the links of a folder, in a dependency file. What is not known
  // may.
  constexpr std::string_view tell_nothing[] = {
      "-D", "-E", "-I",    "-L",        "-M",       "-O",     "-S",       "-U",       "-W",
      "-c", "-f", "-l",    "-m",        "-o",       "-s",     "-x",       "-w",       "-ansi",
      "-v", "-P", "-pipe", "-pedantic", "-pthread", "-nostd", "-include", "-imacros", "-iquote"};
  constexpr std::string_view tell_places[] = {"-Wa,",
                                              "-Wp,",
                                              "-fprofile",
                                              "-fcoverage",
                                              "-ftest-coverage",
                                              "-fdebug",
                                              "-fplugin",
                                              "-fdiagnostics-absolute",
                                              "-fpass-plugin",
                                              "-fembed",
                                              "-frecord",
                                              "-fcrash",
                                              "-mllvm",
                                              "-specs",
                                              "-save-temps",
                                              "-stdlib"};
  const auto begins = [](const std::string& word, const auto& starts) {
    return std::any_of(std::begin(starts), std::end(starts),
                       [&](std::string_view start) { return word.starts_with(start); });
  };
  // An assembler's source may ask for debug information by itself.
  const auto is_assembler = [](const std::string& word) {
    return word.ends_with(".s") || word.ends_with(".S") || word.ends_with(".sx") ||
           word.find("assembler") != word.npos;
  };
  // With these, whose links are followed, what is packed cannot be looked through for a name. gcc
  // packs the folder's own name into its intermediate code, clang does not.
  const bool has_system_folders = names_system_folders(run);
  const bool may_be_gcc = run.argv.front().find("clang") == std::string::npos;
  const auto packs = [&](const std::string& word) {
    return (word.starts_with("-flto") && (may_be_gcc || has_system_folders)) ||
           (word.starts_with("-gz") && has_system_folders);
  };
  const auto tells_place = [&](const std::string& word) {
    if (is_assembler(word) || packs(word)) return true;
    if (is_system_folder(word)) return false;
    if (!word.starts_with('-')) return word.starts_with('@');
    return begins(word, tell_places) || !begins(word, tell_nothing);
  };
  const auto is_path = [](const std::string& variable) {
    return variable.starts_with("CPATH=") || variable.starts_with("CCC_") ||
           variable.substr(0, variable.find('=')).ends_with("INCLUDE_PATH");
  };
  return std::any_of(run.argv.begin() + 1, run.argv.end(), tells_place) ||
         std::any_of(run.environment.begin(), run.environment.end(), is_path);
}

watching watching_of_compiler(const process_request& run) {
  return may_tell_folder(run) || names_system_folders(run) ? watching::files_and_links
                                                           : watching::files;
}

} // namespace hearth
