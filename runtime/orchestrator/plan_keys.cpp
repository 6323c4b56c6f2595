#include "runtime/orchestrator/plan_keys.hpp"

#include "runtime/caches/facts/key_history.hpp"

namespace hearth::orchestrator {
namespace {

// Changes when the meaning of a key, or the way of compiling and trying a kernel, changes.
constexpr std::int64_t key_format = 1;

value::array texts(std::span<const std::string> items) {
  value::array result;
  for (const auto& item : items)
    result.push_back(item);
  return result;
}

value buffer_details(const plan_buffer& buffer) {
  value::array shape;
  for (const auto& dimension : buffer.shape)
    shape.push_back(dimension.text());
  return value::map{{"output", buffer.output},
                    {"shape", std::move(shape)},
                    {"type", static_cast<int>(buffer.type)}};
}

} // namespace

std::vector<std::string> link_arguments() { return {"-shared", "-fPIC"}; }

value::map shared_details(const fingerprints::toolchain& compiler,
                          const fingerprints::machine& host) {
  return {
      {"environment", texts(fingerprints::keyed_variables(compiler.environment))},
      {"flags", texts(compiler.flags)},
      {"format", key_format},
      {"link", texts(link_arguments())},
      {"machine", host.identity().hex()},
      {"toolchain", compiler.identity.hex()},
  };
}

value::map entry_details(value::map shared, const plan_kernel& kernel, const plan_entry& entry) {
  value::array buffers;
  for (const auto& buffer : kernel.buffers)
    buffers.push_back(buffer_details(buffer));
  shared["buffers"] = std::move(buffers);
  shared["entry"] = kernel.entry;
  shared["reference"] = kernel.reference;
  shared["symbols"] = texts(kernel.symbols);
  shared["tolerance"] = kernel.tolerance;
  if (entry.guard)
    shared["guard"] =
        value::array{static_cast<std::int64_t>(*entry.guard), kernel.guards[*entry.guard].text()};
  return shared;
}

key_field shown_details(const fingerprints::toolchain& compiler, const fingerprints::machine& host,
                        const value::map& entry) {
  key_field::map shown;
  for (const auto& [name, member] : entry)
    shown.emplace(name, field_of(member));
  key_field::map variables;
  for (const auto& one : fingerprints::keyed_variables(compiler.environment)) {
    const auto split = one.find('=');
    variables.emplace(one.substr(0, split), one.substr(split + 1));
  }
  shown.insert_or_assign("environment", std::move(variables));
  shown.insert_or_assign("machine", field_of(host.to_value()));
  shown.insert_or_assign("toolchain", compiler.details());
  return key_field(std::move(shown));
}

value::map config_details(const plan_config& config, const std::string& sources) {
  value::array macros;
  for (const auto& macro : config)
    macros.push_back(value::array{macro.name, macro.text});
  return {{"macros", std::move(macros)}, {"sources", sources}};
}

digest key_digest(const value::map& details) { return sha256(encode(value{details})); }

value::map config_object(const plan_config& config) {
  value::map result;
  for (const auto& macro : config)
    result[macro.name] = macro.as_written;
  return result;
}

std::string config_text(const plan_config& config) {
  std::string text;
  for (const auto& macro : config)
    text += (text.empty() ? "" : " ") + macro.name + "=" + macro.text;
  return text;
}

} // namespace hearth::orchestrator
