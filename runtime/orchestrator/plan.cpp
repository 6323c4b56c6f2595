#include "runtime/orchestrator/plan.hpp"

#include "messages/time_text.hpp"
#include "messages/toml_depth.hpp"
#include "runtime/orchestrator/plan_place.hpp"
#include "runtime/orchestrator/plan_requests.hpp"
#include "runtime/os/files/plain_file.hpp"
#include "runtime/os/files/whole_file.hpp"
#include "runtime/process/worker/trial_buffers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <toml++/toml.h>

namespace hearth::orchestrator {
namespace {

// A value of the plan, and its place.
struct item {
  const toml::node* node = nullptr;
  std::string key;

  plan_place place() const { return {node->source().begin.line, key}; }
};

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto continues = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), continues);
}

std::optional<element_type> element_type_of(std::string_view name) {
  constexpr std::array<std::string_view, 5> names{"f32", "f64", "i32", "i64", "u8"};
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<element_type>(at - names.begin());
}

// Parses a timeout: above 0, at most a day.
std::optional<std::chrono::milliseconds> parse_timeout(std::string_view text) {
  const auto time = parse_milliseconds(text);
  return time && *time <= std::chrono::hours(24) ? time : std::nullopt;
}

// A real number as a C literal; a whole number keeps its decimal point.
std::string real_text(double number) {
  char digits[32];
  const char* end = std::to_chars(digits, std::end(digits), number).ptr;
  std::string text(static_cast<const char*>(digits), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// Fills a plan from a parsed file. Its functions return false once `failure` is set.
class reader {
public:
  explicit reader(plan& work)
      : work_(work) {}

  bool read(const toml::table& root) {
    const item whole{&root, ""};
    item toolchain;
    std::vector<item> kernels;
    return only(whole, {"toolchain", "kernel"}) && need(whole, "toolchain", toolchain) &&
           read_toolchain(toolchain) && need_list(whole, "kernel", max_plan_kernels, kernels) &&
           std::all_of(kernels.begin(), kernels.end(),
                       [this](const item& kernel) { return read_kernel(kernel); });
  }

  error failure;

private:
  // --- values ----------------------------------------------------------------------------------

  bool refuse(const item& at, errc code, std::string_view what) {
    failure = plan_error(work_.path, at.place(), code, what);
    return false;
  }
  bool refuse(const item& at, std::string_view what) { return refuse(at, errc::malformed, what); }

  static std::string key_of(const item& table, std::string_view name) {
    return table.key.empty() ? std::string(name) : table.key + "." + std::string(name);
  }

  // Checks that a table has only known keys; refuses the first other one.
  bool only(const item& at, std::initializer_list<std::string_view> known) {
    const auto* table = at.node->as_table();
    if (!table) return refuse(at, "has to be a table");
    const toml::key* first = nullptr;
    for (const auto& [key, node] : *table) {
      const bool is_known = std::find(known.begin(), known.end(), key.str()) != known.end();
      if (!is_known && (!first || key.source().begin < first->source().begin)) first = &key;
    }
    if (!first) return true;
    std::vector<std::string> names(known.begin(), known.end());
    failure = plan_error(work_.path, {first->source().begin.line, key_of(at, first->str())},
                         errc::malformed, "unknown key; known are " + joined(names));
    return false;
  }

  static std::optional<item> find(const item& table, std::string_view name) {
    const auto* node = table.node->as_table()->get(name);
    if (!node) return std::nullopt;
    return item{node, key_of(table, name)};
  }

  bool need(const item& table, std::string_view name, item& found) {
    auto member = find(table, name);
    if (!member) return refuse({table.node, key_of(table, name)}, "is missing");
    found = std::move(*member);
    return true;
  }

  bool text(const item& at, std::string& result) {
    const auto* node = at.node->as_string();
    if (!node) return refuse(at, "has to be a text in quotes");
    if (node->get().find('\0') != std::string::npos) return refuse(at, "holds a zero byte");
    if (node->get().empty()) return refuse(at, "is empty");
    result = node->get();
    return true;
  }

  bool need_text(const item& table, std::string_view name, std::string& result) {
    item found;
    return need(table, name, found) && text(found, result);
  }

  bool identifier(const item& at, std::string& result) {
    if (!text(at, result)) return false;
    return is_identifier(result) || refuse(at, "'" + result + "' is no identifier of C");
  }

  bool list(const item& at, std::size_t max, std::vector<item>& result) {
    const auto* array = at.node->as_array();
    if (!array && at.key == "kernel") return refuse(at, "has to be a list; write [[kernel]]");
    if (!array) return refuse(at, "has to be a list");
    if (array->size() > max)
      return refuse(at, errc::too_large,
                    "has " + std::to_string(array->size()) + " items; " + std::to_string(max) +
                        " are allowed");
    for (std::size_t i = 0; i < array->size(); ++i)
      result.push_back({array->get(i), at.key + "[" + std::to_string(i) + "]"});
    return true;
  }

  // Reads a list that must be present and not empty.
  bool need_list(const item& table, std::string_view name, std::size_t max,
                 std::vector<item>& result) {
    item found;
    if (!need(table, name, found) || !list(found, max, result)) return false;
    return !result.empty() || refuse(found, "is empty; give at least one");
  }

  // --- sections --------------------------------------------------------------------------------

  bool read_toolchain(const item& at) {
    auto& toolchain = work_.toolchain;
    if (!only(at, {"compiler", "flags", "timeout"}) ||
        !need_text(at, "compiler", toolchain.compiler))
      return false;
    std::vector<item> flags;
    if (const auto found = find(at, "flags"); found && !list(*found, max_plan_items, flags))
      return false;
    for (const auto& flag : flags)
      if (!text(flag, toolchain.flags.emplace_back())) return false;
    const auto timeout = find(at, "timeout");
    return !timeout || read_timeout(*timeout);
  }

  bool read_timeout(const item& at) {
    std::string written;
    if (!text(at, written)) return false;
    const auto parsed = parse_timeout(written);
    if (!parsed)
      return refuse(at, "'" + written +
                            "' is no timeout; write 500ms, 120s, 2min or 1h, a day at most");
    work_.toolchain.timeout = *parsed;
    return true;
  }

  bool read_kernel(const item& at) {
    auto& kernel = work_.kernels.emplace_back();
    kernel_places places;
    if (!only(at, {"name", "source", "entry", "reference", "tolerance", "symbols", "buffers",
                   "configs", "guards", "shapes"}) ||
        !read_name(at, kernel) || !read_source(at, kernel) || !read_functions(at, kernel) ||
        !read_tolerance(at, kernel) || !read_symbols(at, kernel) ||
        !read_buffers(at, kernel, places) || !read_configs(at, kernel) ||
        !read_guards(at, kernel, places) || !read_shapes(at, kernel, places))
      return false;
    auto added = add_requests(work_, work_.kernels.size() - 1, places);
    if (!added) failure = added.error();
    return added.has_value();
  }

  bool read_name(const item& at, plan_kernel& kernel) {
    item name;
    if (!need(at, "name", name) || !text(name, kernel.name)) return false;
    const auto is_control = [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    if (std::any_of(kernel.name.begin(), kernel.name.end(), is_control))
      return refuse(name, "holds a control character");
    return names_.insert(kernel.name).second ||
           refuse(name, "there is a kernel '" + kernel.name + "' already");
  }

  bool read_source(const item& at, plan_kernel& kernel) {
    item source;
    if (!need(at, "source", source) || !text(source, kernel.source)) return false;
    const auto path = std::filesystem::path(work_.directory) / kernel.source;
    std::error_code failed;
    const auto status = std::filesystem::status(path, failed);
    if (status.type() == std::filesystem::file_type::not_found)
      return refuse(source, errc::not_found, "there is no file " + path.string());
    if (failed)
      return refuse(source, errc_of_errno(failed.value()),
                    "cannot look at " + path.string() + ": " + failed.message());
    return std::filesystem::is_regular_file(status) ||
           refuse(source, path.string() + " is not a file");
  }

  bool read_functions(const item& at, plan_kernel& kernel) {
    item entry;
    if (!need(at, "entry", entry) || !identifier(entry, kernel.entry)) return false;
    const auto reference = find(at, "reference");
    return !reference || identifier(*reference, kernel.reference);
  }

  bool read_tolerance(const item& at, plan_kernel& kernel) {
    const auto tolerance = find(at, "tolerance");
    if (!tolerance) return true;
    if (!tolerance->node->is_number()) return refuse(*tolerance, "has to be a number");
    kernel.tolerance = *tolerance->node->value<double>();
    return (std::isfinite(kernel.tolerance) && kernel.tolerance >= 0) ||
           refuse(*tolerance, "has to be 0 or more, and finite");
  }

  bool read_symbols(const item& at, plan_kernel& kernel) {
    std::vector<item> symbols;
    if (const auto found = find(at, "symbols"); found && !list(*found, max_plan_symbols, symbols))
      return false;
    for (const auto& symbol : symbols) {
      std::string written;
      if (!text(symbol, written)) return false;
      auto name = canonical_symbol_name(written);
      if (!name) return refuse(symbol, "'" + written + "' is no name: " + name.error().text());
      if (index_of(kernel, *name)) return refuse(symbol, "'" + *name + "' is there twice");
      kernel.symbols.push_back(std::move(*name));
    }
    return true;
  }

  static std::optional<std::size_t> index_of(const plan_kernel& kernel, std::string_view symbol) {
    const auto at = std::find(kernel.symbols.begin(), kernel.symbols.end(), symbol);
    if (at == kernel.symbols.end()) return std::nullopt;
    return static_cast<std::size_t>(at - kernel.symbols.begin());
  }

  // Reads an expression that uses only the kernel's symbols.
  bool read_expression(const item& at, const std::string& written, const plan_kernel& kernel,
                       std::vector<guard_expression>& result) {
    auto parsed = guard_expression::parse(written);
    if (!parsed) return refuse(at, parsed.error().code(), parsed.error().text());
    for (std::size_t i = 0; i < parsed->names().size(); ++i)
      if (const auto& name = parsed->names()[i]; !index_of(kernel, name))
        return refuse(at, errc::unknown_name,
                      "column " + std::to_string(parsed->column_of_name(i)) + ": unknown symbol '" +
                          name + "'; symbols are " + joined(kernel.symbols));
    result.push_back(std::move(*parsed));
    return true;
  }

  bool read_buffers(const item& at, plan_kernel& kernel, kernel_places& places) {
    std::vector<item> buffers;
    if (!need_list(at, "buffers", worker::max_trial_buffers, buffers)) return false;
    for (const auto& buffer : buffers)
      if (!read_buffer(buffer, kernel, places)) return false;
    const bool has_output = std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                                        [](const plan_buffer& buffer) { return buffer.output; });
    return has_output || refuse(*find(at, "buffers"), "no buffer has output = true");
  }

  bool read_buffer(const item& at, plan_kernel& kernel, kernel_places& places) {
    auto& buffer = kernel.buffers.emplace_back();
    item type;
    std::string type_name;
    if (!only(at, {"type", "shape", "output"}) || !need(at, "type", type) || !text(type, type_name))
      return false;
    const auto known = element_type_of(type_name);
    if (!known)
      return refuse(type, "'" + type_name + "' is no type; write f32, f64, i32, i64 or u8");
    buffer.type = *known;
    if (const auto output = find(at, "output")) {
      if (!output->node->is_boolean()) return refuse(*output, "has to be true or false");
      buffer.output = output->node->as_boolean()->get();
    }
    return read_dimensions(at, kernel, buffer, places.dimensions.emplace_back());
  }

  bool read_dimensions(const item& at, const plan_kernel& kernel, plan_buffer& buffer,
                       std::vector<plan_place>& places) {
    item shape;
    std::vector<item> dimensions;
    if (!need(at, "shape", shape) || !list(shape, worker::max_trial_rank, dimensions)) return false;
    for (const auto& dimension : dimensions) {
      std::string written;
      if (const auto* number = dimension.node->as_integer())
        written = std::to_string(number->get());
      else if (!dimension.node->is_string())
        return refuse(dimension, "has to be an integer, or an expression in quotes");
      else if (!text(dimension, written))
        return false;
      if (!read_expression(dimension, written, kernel, buffer.shape)) return false;
      places.push_back(dimension.place());
    }
    return true;
  }

  bool read_configs(const item& at, plan_kernel& kernel) {
    std::vector<item> configs;
    if (!need_list(at, "configs", max_plan_items, configs)) return false;
    std::map<std::map<std::string, std::string>, std::string> seen; // macros -> key
    for (const auto& config : configs) {
      if (!read_config(config, kernel.configs.emplace_back())) return false;
      std::map<std::string, std::string> macros;
      for (const auto& macro : kernel.configs.back())
        macros[macro.name] = macro.text;
      const auto [first, is_new] = seen.try_emplace(std::move(macros), config.key);
      if (!is_new) return refuse(config, "is the same as " + first->second);
    }
    return true;
  }

  // A table sorts its members by name; their places restore the plan's order.
  bool read_config(const item& at, plan_config& config) {
    const auto* table = at.node->as_table();
    if (!table) return refuse(at, "has to be a table, such as { TILE = 16 }");
    std::vector<const toml::key*> keys;
    for (const auto& [key, node] : *table)
      keys.push_back(&key);
    std::sort(keys.begin(), keys.end(),
              [](const auto* a, const auto* b) { return a->source().begin < b->source().begin; });
    for (const auto* key : keys) {
      const item member{table->get(key->str()), key_of(at, key->str())};
      if (!is_identifier(key->str())) return refuse(member, "a macro needs a name of C");
      if (key->str() == "HEARTH_GUARD") return refuse(member, "this macro is set by the guard");
      if (!read_macro(member, config.emplace_back())) return false;
      config.back().name = key->str();
    }
    return true;
  }

  bool read_macro(const item& at, plan_macro& macro) {
    if (const auto* number = at.node->as_integer()) {
      macro.as_written = number->get();
      macro.text = std::to_string(number->get());
    } else if (const auto* flag = at.node->as_boolean()) {
      macro.as_written = flag->get();
      macro.text = flag->get() ? "true" : "false";
    } else if (const auto* real = at.node->as_floating_point()) {
      if (!std::isfinite(real->get())) return refuse(at, "has to be finite");
      macro.as_written = real->get();
      macro.text = real_text(real->get());
    } else if (const auto* words = at.node->as_string()) {
      if (words->get().find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos)
        return refuse(at, "holds a line break or a zero byte");
      macro.as_written = words->get();
      macro.text = words->get();
    } else {
      return refuse(at, "has to be an integer, a text, a real, true or false");
    }
    return true;
  }

  bool read_guards(const item& at, plan_kernel& kernel, kernel_places& places) {
    std::vector<item> guards;
    if (const auto found = find(at, "guards"); found && !list(*found, max_plan_items, guards))
      return false;
    for (const auto& guard : guards) {
      std::string written;
      if (!text(guard, written) || !read_expression(guard, written, kernel, kernel.guards))
        return false;
      places.guards.push_back(guard.place());
    }
    return true;
  }

  bool read_shapes(const item& at, plan_kernel& kernel, kernel_places& places) {
    std::vector<item> shapes;
    if (!need_list(at, "shapes", max_plan_items, shapes)) return false;
    for (const auto& shape : shapes) {
      if (!read_shape(shape, kernel)) return false;
      places.shapes.push_back(shape.place());
    }
    return true;
  }

  bool read_shape(const item& at, plan_kernel& kernel) {
    const auto* table = at.node->as_table();
    if (!table) return refuse(at, "has to be a table, such as { m = 256 }");
    std::vector<std::optional<std::int64_t>> values(kernel.symbols.size());
    for (const auto& [key, node] : *table) {
      const item member{&node, key_of(at, key.str())};
      const auto name = canonical_symbol_name(key.str());
      const auto index = name ? index_of(kernel, *name) : std::nullopt;
      if (!index)
        return refuse(member, errc::unknown_name,
                      "unknown symbol; symbols are " + joined(kernel.symbols));
      if (!node.is_integer()) return refuse(member, "has to be an integer");
      if (values[*index]) return refuse(member, "is there twice");
      values[*index] = node.as_integer()->get();
    }
    auto& sizes = kernel.shapes.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) return refuse(at, "gives no value for '" + kernel.symbols[i] + "'");
      sizes.push_back(*values[i]);
    }
    return true;
  }

  plan& work_;
  std::set<std::string> names_; // names of kernels
};

expected<std::string> read_text(const std::string& path) {
  const auto refuse = [&](errc code, std::string_view what) {
    return fail(plan_error(path, {}, code, what));
  };
  const auto file = os::open_input(path);
  if (!file) return fail(file.error().within("cannot read this plan"));
  auto text = os::read_rest(*file, path, max_plan_bytes);
  if (!text && text.error().code() == errc::too_large)
    return refuse(errc::too_large, "this plan is larger than 4 MiB");
  if (!text) return fail(text.error().within("cannot read this plan"));
  return text;
}

// Parses the file's text as TOML; toml++ throws its errors.
expected<toml::table> parse_toml(const std::string& path, const std::string& text) {
  if (const auto line = line_of_deep_toml_key(text); line != 0)
    return fail(
        plan_error(path, {line, {}}, errc::malformed, "bad TOML: a key has too many parts"));
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& bad) {
    const auto& at = bad.source().begin;
    return fail(plan_error(path, {at.line, {}}, errc::malformed,
                           "column " + std::to_string(at.column) +
                               ": bad TOML: " + std::string(bad.description())));
  }
}

} // namespace

expected<plan> load_plan(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return fail(text.error());
  const auto root = parse_toml(path, *text);
  if (!root) return fail(root.error());
  plan work;
  work.path = path;
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed).lexically_normal();
  if (failed) return fail(error_of_errno(failed.value(), "cannot find the folder of " + path));
  work.directory = whole.parent_path().string();
  reader reading(work);
  if (!reading.read(*root)) return fail(reading.failure);
  return work;
}

} // namespace hearth::orchestrator
