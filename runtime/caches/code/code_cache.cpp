#include "runtime/caches/code/code_cache.hpp"

#include <utility>

namespace hearth {
namespace {

constexpr const char* prologue_name = "hearth-prologue.inc";
constexpr const char* source_name = "hearth-source.cpp";
constexpr const char* glue_name = "hearth-glue.inc";
constexpr const char* unit_name = "hearth-unit.cpp";
constexpr const char* header_name = "hearth-shared.hpp";
constexpr const char* precompiled_name = "hearth-shared.hpp.gch";
constexpr const char* object_name = "hearth-object.so";
constexpr const char* dependency_name = "hearth-object.d";

bool can_precompile(const code_options& options) {
  return options.compiler.find("clang") == std::string::npos;
}

void append(std::vector<std::string>& to, std::initializer_list<const char*> words) {
  to.insert(to.end(), words.begin(), words.end());
}

action base_of(const code_options& options) {
  action asked;
  asked.command = {options.compiler};
  asked.command.insert(asked.command.end(), options.flags.begin(), options.flags.end());
  append(asked.command, {"-fPIC", "-MD", "-MF", dependency_name});
  asked.directory = options.directory;
  asked.dependency_file = dependency_name;
  asked.timeout = options.timeout;
  return asked;
}

action precompile_of(const code_options& options) {
  auto asked = base_of(options);
  asked.texts[header_name] = options.shared_header;
  append(asked.command, {"-x", "c++-header", header_name, "-o", precompiled_name});
  asked.outputs = {precompiled_name};
  return asked;
}

// Each part is a file with its own name, so that the compiler's messages locate it.
std::string unit_of(const code_options& options) {
  const auto include = [](const char* name) { return "#include \"" + std::string(name) + "\"\n"; };
  std::string text;
  if (!options.prologue.empty()) text += include(prologue_name);
  text += include(source_name);
  if (!options.glue.empty()) text += include(glue_name);
  return text;
}

action compile_of(const code_options& options, const std::string& source,
                  const artifact& precompiled) {
  auto asked = base_of(options);
  asked.texts[source_name] = source;
  asked.texts[unit_name] = unit_of(options);
  if (!options.prologue.empty()) asked.texts[prologue_name] = options.prologue;
  if (!options.glue.empty()) asked.texts[glue_name] = options.glue;
  if (!options.shared_header.empty()) {
    asked.texts[header_name] = options.shared_header;
    if (precompiled) asked.texts[precompiled_name] = std::string(precompiled.payload());
    append(asked.command, {"-include", header_name});
  }
  append(asked.command, {"-shared", unit_name, "-o", object_name});
  asked.outputs = {object_name};
  return asked;
}

expected<artifact> only_output(const code_options& options, expected<action_outcome> outcome) {
  if (!outcome) return fail(outcome.error());
  if (outcome->timed_out) return fail(errc::timeout, options.compiler + " took too long");
  if (outcome->succeeded()) return outcome->outputs.front().bytes;
  const auto how = outcome->signal != 0 ? "was killed by signal " + std::to_string(outcome->signal)
                                        : "failed with status " + std::to_string(outcome->status);
  return fail(errc::compile_failed, options.compiler + " " + how + ":\n" + outcome->err);
}

} // namespace

struct code_cache::shared {
  code_options options;
  action_cache actions;
  module_cache modules;
};

expected<code_cache> code_cache::open(runtime& in, code_options options) {
  auto actions = action_cache::open(in);
  if (!actions) return fail(actions.error());
  return code_cache(
      std::make_shared<shared>(shared{std::move(options), std::move(*actions), module_cache(in)}));
}

expected<artifact> code_cache::compile(const std::string& source,
                                       const call_options& options) const {
  const auto& how = shared_->options;
  artifact precompiled;
  if (!how.shared_header.empty() && can_precompile(how)) {
    auto made = only_output(how, shared_->actions.run(precompile_of(how), options));
    if (!made) return fail(made.error());
    precompiled = std::move(*made);
  }
  return only_output(how, shared_->actions.run(compile_of(how, source, precompiled), options));
}

expected<loaded_module> code_cache::load(const std::string& source,
                                         const call_options& options) const {
  const auto object = compile(source, options);
  if (!object) return fail(object.error());
  return shared_->modules.load(*object);
}

void code_cache::clear() const { shared_->modules.clear(); }

} // namespace hearth
