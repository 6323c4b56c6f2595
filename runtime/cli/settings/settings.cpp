#include "runtime/cli/settings/settings.hpp"

#include "messages/size_text.hpp"
#include "messages/time_text.hpp"
#include "messages/toml_depth.hpp"
#include "runtime/cli/settings/remote_settings.hpp"
#include "runtime/front/local_store.hpp"
#include "runtime/os/files/plain_file.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <toml++/toml.h>
#include <utility>

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;

// A setting's text and its place, for errors: "--jobs", "$HEARTH_JOBS", "x.toml:3: jobs".
struct source {
  std::string text;
  std::string where;
};

// The settings that have a variable and a key in the file, by key.
constexpr std::string_view known_keys[] = {"store",        "disk_budget", "memory_budget",
                                           "jobs",         "patience",    "watch",
                                           "keep_details", "tuning_tag"};

std::string variable_of(std::string_view key) {
  std::string name = "HEARTH_";
  for (const char c : key)
    name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

bool is_known(std::string_view key) {
  const auto remote = remote_settings();
  return std::find(std::begin(known_keys), std::end(known_keys), key) != std::end(known_keys) ||
         std::any_of(remote.begin(), remote.end(), [&](const auto& one) { return one.key == key; });
}

expected<std::string> text_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = node.value_exact<bool>()) return std::string(*flag ? "yes" : "no");
  return fail(errc::malformed, "a text, a number, or true or false is expected");
}

expected<toml::table> parse_file(const std::string& path) {
  constexpr std::size_t max_configuration_bytes = std::size_t{4} << 20;
  const auto file = os::open_input(path);
  if (!file) return fail(file.error().within("configuration file"));
  const auto text = os::read_rest(*file, path, max_configuration_bytes);
  if (!text) return fail(text.error().within("configuration file"));
  if (const auto line = line_of_deep_toml_key(*text); line != 0)
    return fail(errc::malformed, fmt::format("{}:{}: a key has too many parts", path, line));
  try {
    return toml::parse(*text, path);
  } catch (const toml::parse_error& problem) {
    return fail(errc::malformed,
                fmt::format("{}:{}: {}", path, problem.source().begin.line, problem.description()));
  }
}

expected<std::map<std::string, source>> read_file(const std::string& path) {
  const auto table = parse_file(path);
  if (!table) return fail(table.error());
  std::map<std::string, source> settings;
  for (const auto& [name, node] : *table) {
    const auto where =
        fmt::format("{}:{}: {}", path, node.source().begin.line, std::string_view(name.str()));
    if (!is_known(name.str()))
      return fail(errc::malformed,
                  where + ": unknown key; store, disk_budget, memory_budget, jobs, "
                          "patience, watch, keep_details, tuning_tag and those of the remote tier "
                          "are known");
    auto text = text_of(node);
    if (!text) return fail(text.error().within(where));
    settings.emplace(name.str(), source{std::move(*text), where});
  }
  return settings;
}

// Takes a setting from the first place that has it: option, variable, file.
class chooser {
public:
  chooser(const environment& variables, std::map<std::string, source> file)
      : variables_(variables)
      , file_(std::move(file)) {}

  std::optional<source> operator()(const std::string& key, const std::string& option,
                                   const std::optional<std::string>& given) const {
    if (given) return source{*given, option};
    const auto variable = variable_of(key);
    if (const auto text = variables_(variable); text && !text->empty())
      return source{*text, "$" + variable};
    const auto at = file_.find(key);
    return at == file_.end() ? std::nullopt : std::optional(at->second);
  }

private:
  const environment& variables_;
  std::map<std::string, source> file_;
};

expected<chooser> chooser_of(const given_options& given, const environment& variables) {
  const auto path = given.config_file ? given.config_file : variables("HEARTH_CONFIG");
  if (!path || path->empty()) return chooser(variables, {});
  auto file = read_file(*path);
  if (!file) return fail(file.error());
  return chooser(variables, std::move(*file));
}

expected<fs::path> default_store(const environment& variables) {
  auto place = front::store_of_user(variables("XDG_CACHE_HOME"), variables("HOME"));
  if (!place.empty()) return place;
  return fail(errc::invalid_argument,
              "no place for the store: give --store DIR, or set HEARTH_STORE or HOME");
}

expected<void> set_size(const std::optional<source>& from, std::uint64_t& into) {
  if (!from) return {};
  const auto size = parse_size(from->text);
  if (!size) return fail(size.error().within(from->where));
  if (*size == 0) return fail(errc::invalid_argument, from->where + ": a size above 0 is expected");
  into = *size;
  return {};
}

expected<void> set_choice(const std::optional<source>& from, bool& into) {
  if (!from) return {};
  if (from->text != "yes" && from->text != "no")
    return fail(errc::invalid_argument, from->where + ": '" + from->text + "' is not yes or no");
  into = from->text == "yes";
  return {};
}

expected<void> set_store(const std::optional<source>& from, fs::path& into) {
  if (!from) return {};
  if (from->text.empty())
    return fail(errc::invalid_argument, from->where + ": a directory is expected");
  into = from->text;
  return {};
}

expected<void> set_jobs(const std::optional<source>& from, unsigned& into) {
  if (!from) return {};
  const auto& text = from->text;
  unsigned number = 0;
  const auto end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end || number < 1 || number > 1024)
    return fail(errc::invalid_argument,
                from->where + ": '" + text + "' is not a number from 1 to 1024");
  into = number;
  return {};
}

expected<void> set_time(const std::optional<source>& from, std::chrono::milliseconds& into) {
  if (!from) return {};
  const auto time = parse_milliseconds(from->text);
  if (!time)
    return fail(errc::invalid_argument, from->where + ": '" + from->text +
                                            "' is not a time above 0; write 500ms, 90s or 5min");
  into = *time;
  return {};
}

// The store and the budgets.
expected<void> set_places(const chooser& choose, const given_options& given, config& into) {
  auto ok = set_store(choose("store", "--store", given.store), into.store);
  if (ok)
    ok =
        set_size(choose("disk_budget", "--disk-budget", given.disk_budget), into.disk_budget_bytes);
  if (ok)
    ok = set_size(choose("memory_budget", "--memory-budget", given.memory_budget),
                  into.memory_budget_bytes);
  return ok;
}

expected<void> set_remote(const chooser& choose, const given_options& given, remote_config& into) {
  for (const auto& one : remote_settings()) {
    const std::string key(one.key);
    const auto option = given.remote.find(key);
    const auto from =
        choose(key, std::string(one.option),
               option == given.remote.end() ? std::nullopt : std::optional(option->second));
    if (!from) continue;
    if (auto ok = one.set(from->text, into); !ok) return fail(ok.error().within(from->where));
  }
  return {};
}

} // namespace

std::optional<std::string> process_environment(std::string_view name) {
  const char* text = std::getenv(std::string(name).c_str());
  return text ? std::optional<std::string>(text) : std::nullopt;
}

expected<config> resolve(const given_options& given, const environment& variables) {
  const auto chosen = chooser_of(given, variables);
  if (!chosen) return fail(chosen.error());
  const auto& choose = *chosen;
  config result;
  if (auto ok = set_places(choose, given, result); !ok) return fail(ok.error());
  if (result.store.empty()) {
    auto fallback = default_store(variables);
    if (!fallback) return fail(fallback.error());
    result.store = std::move(*fallback);
  }
  if (auto ok = set_jobs(choose("jobs", "--jobs", given.jobs), result.jobs); !ok)
    return fail(ok.error());
  if (auto ok = set_time(choose("patience", "--patience", given.patience), result.patience); !ok)
    return fail(ok.error());
  if (auto ok = set_choice(choose("watch", "--watch", given.watch), result.watch_programs); !ok)
    return fail(ok.error());
  if (auto ok = set_choice(choose("keep_details", "--keep-details", given.keep_details),
                           result.keep_key_details);
      !ok)
    return fail(ok.error());
  if (auto ok = set_remote(choose, given, result.remote); !ok) return fail(ok.error());
  return result;
}

expected<void> put_over(config& settings, const given_options& given) {
  const environment none = [](std::string_view) { return std::nullopt; };
  const chooser choose(none, {});
  if (auto ok = set_places(choose, given, settings); !ok) return ok;
  return set_remote(choose, given, settings.remote);
}

expected<std::string> tuning_tag(const given_options& given, const environment& variables) {
  const auto choose = chooser_of(given, variables);
  if (!choose) return fail(choose.error());
  const auto tag = (*choose)("tuning_tag", "--tuning-tag", given.tuning_tag);
  return tag ? tag->text : std::string();
}

} // namespace hearth::cli
