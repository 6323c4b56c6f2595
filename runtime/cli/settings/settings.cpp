#include "runtime/cli/settings/settings.hpp"

#include "messages/size_text.hpp"
#include "messages/time_text.hpp"
#include "messages/toml_depth.hpp"
#include "runtime/api/remote_urls.hpp"
#include "runtime/cli/settings/remote_settings.hpp"
#include "runtime/front/local_store.hpp"
#include "runtime/net/remote_endpoint.hpp"
#include "runtime/os/files/plain_file.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
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

// The texts of one remote tier, by key of `remote_settings`.
using remote_texts = std::map<std::string, source>;

// What a configuration file has.
struct file_settings {
  std::map<std::string, source> texts; // by key
  std::vector<remote_texts> remotes;   // its tables `[[remotes]]`
};

// A member of a table of the remote tiers is a key without its start: `url`, `mode`, `deadline`.
expected<remote_texts> read_remote(const std::string& path, const toml::node& node) {
  const auto* const table = node.as_table();
  const auto place = [&](const toml::node& at, std::string_view name) {
    return fmt::format("{}:{}: remotes: {}", path, at.source().begin.line, name);
  };
  if (!table) return fail(errc::malformed, place(node, "a table is expected: [[remotes]]"));
  remote_texts texts;
  for (const auto& [name, member] : *table) {
    const auto where = place(member, name.str());
    const auto key =
        name.str() == "url" ? std::string("remote") : "remote_" + std::string(name.str());
    if (name.str() != "url" && !is_known(key))
      return fail(errc::malformed,
                  where + ": unknown member; url is known, and the keys of the remote tier without "
                          "'remote_', as mode or deadline");
    auto text = text_of(member);
    if (!text) return fail(text.error().within(where));
    texts.emplace(key, source{std::move(*text), where});
  }
  if (!texts.contains("remote")) return fail(errc::malformed, place(node, "url is missing"));
  return texts;
}

expected<std::vector<remote_texts>> read_remotes(const std::string& path, const toml::node& node,
                                                 const std::string& where) {
  const auto* const all = node.as_array();
  if (!all) return fail(errc::malformed, where + ": tables are expected: [[remotes]]");
  std::vector<remote_texts> remotes;
  for (const auto& one : *all) {
    auto texts = read_remote(path, one);
    if (!texts) return fail(texts.error());
    remotes.push_back(std::move(*texts));
  }
  return remotes;
}

expected<file_settings> read_file(const std::string& path) {
  const auto table = parse_file(path);
  if (!table) return fail(table.error());
  file_settings settings;
  for (const auto& [name, node] : *table) {
    const auto where =
        fmt::format("{}:{}: {}", path, node.source().begin.line, std::string_view(name.str()));
    if (name.str() == "remotes") {
      auto remotes = read_remotes(path, node, where);
      if (!remotes) return fail(remotes.error());
      settings.remotes = std::move(*remotes);
      if (table->contains("remote"))
        return fail(errc::malformed, where + ": give 'remote' or [[remotes]], not both");
      continue;
    }
    if (!is_known(name.str()))
      return fail(errc::malformed,
                  where + ": unknown key; store, disk_budget, memory_budget, jobs, "
                          "patience, watch, keep_details, tuning_tag, remotes and those of the "
                          "remote tier are known");
    auto text = text_of(node);
    if (!text) return fail(text.error().within(where));
    settings.texts.emplace(name.str(), source{std::move(*text), where});
  }
  return settings;
}

// Takes a setting from the first place that has it: option, variable, file.
class chooser {
public:
  chooser(const environment& variables, file_settings file)
      : variables_(variables)
      , file_(std::move(file)) {}

  std::optional<source> operator()(const std::string& key, const std::string& option,
                                   const std::optional<std::string>& given) const {
    if (given) return source{*given, option};
    if (auto variable = of_environment(key)) return variable;
    return of_file(key);
  }

  std::optional<source> of_environment(const std::string& key) const {
    const auto variable = variable_of(key);
    const auto text = variables_(variable);
    if (!text || text->empty()) return std::nullopt;
    return source{*text, "$" + variable};
  }
  std::optional<source> of_file(const std::string& key) const {
    const auto at = file_.texts.find(key);
    return at == file_.texts.end() ? std::nullopt : std::optional(at->second);
  }
  const std::vector<remote_texts>& remotes_of_file() const { return file_.remotes; }

private:
  const environment& variables_;
  file_settings file_;
};

expected<chooser> chooser_of(const given_options& given, const environment& variables) {
  const auto path = given.config_file ? given.config_file : variables("HEARTH_CONFIG");
  if (!path || path->empty()) return chooser(variables, file_settings{});
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

// --- remote tiers ------------------------------------------------------------------------------

// What the command line says of remote tiers.
struct given_remotes {
  remote_texts of_all;              // before the first `--remote`
  std::vector<remote_texts> each{}; // one for each `--remote`
};

expected<given_remotes> group(const given_options& given) {
  given_remotes groups;
  for (const auto& [key, text] : given.remote) {
    const auto settings = remote_settings();
    const auto known = std::find_if(settings.begin(), settings.end(),
                                    [&](const auto& one) { return one.key == key; });
    const std::string option(known->option);
    if (key == "remote") groups.each.emplace_back();
    auto& into = groups.each.empty() ? groups.of_all : groups.each.back();
    if (!into.emplace(key, source{text, option}).second)
      return fail(errc::invalid_argument,
                  option + ": given twice for one --remote; those behind a --remote belong to it");
  }
  return groups;
}

std::vector<remote_texts> at_urls(const source& from) {
  std::vector<remote_texts> all;
  for (auto& url : remote_urls(from.text))
    all.push_back({{"remote", {std::move(url), from.where}}});
  return all;
}

// The remote tiers, nearest first, each with what is said of it alone.
struct named_remotes {
  std::vector<remote_texts> each;
  bool by_tables = false; // of the file: variables and options count more
};

named_remotes name_remotes(const chooser& choose, const given_remotes& groups) {
  if (!groups.each.empty()) return {groups.each};
  if (const auto from = choose.of_environment("remote")) return {at_urls(*from)};
  if (const auto from = choose.of_file("remote")) return {at_urls(*from)};
  return {choose.remotes_of_file(), true};
}

// Of the command line, a tier's own option counts more than one of all tiers; then variables; then
// the file, where a tier's own member counts more than a key of all tiers.
expected<void> set_one_remote(const chooser& choose, const given_remotes& groups,
                              const remote_texts& own, bool by_table, remote_config& into) {
  const auto find = [](const remote_texts& texts, const std::string& key) {
    const auto at = texts.find(key);
    return at == texts.end() ? std::nullopt : std::optional(at->second);
  };
  for (const auto& one : remote_settings()) {
    const std::string key(one.key);
    std::optional<source> from;
    if (!by_table || key == "remote") from = find(own, key);
    if (!from && key == "remote") continue;
    if (!from) from = find(groups.of_all, key);
    if (!from) from = choose.of_environment(key);
    if (!from) from = find(own, key);
    if (!from) from = choose.of_file(key);
    if (!from) continue;
    if (auto ok = one.set(from->text, into); !ok) return fail(ok.error().within(from->where));
  }
  return {};
}

std::string address_of(const remote_config& one) {
  const auto endpoint = net::parse_remote_url(one.url);
  return (endpoint ? net::describe(*endpoint) : std::string()) + " with the prefix " + one.prefix;
}

expected<void> check_together(const std::vector<remote_config>& all) {
  constexpr std::size_t max_remotes = 8;
  if (all.size() > max_remotes)
    return fail(errc::invalid_argument, "remote: at most 8 remote tiers can be given, one behind "
                                        "the other");
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].signing_key_file.empty() != all.front().signing_key_file.empty())
      return fail(errc::invalid_argument,
                  "remote_signing_keys: give it for every remote tier, or for none");
    for (std::size_t k = 0; k < i; ++k)
      if (address_of(all[k]) == address_of(all[i]))
        return fail(errc::invalid_argument, "remote: " + address_of(all[i]) + " is given twice");
  }
  return {};
}

expected<void> set_remotes(const chooser& choose, const given_options& given, remote_config& into) {
  const auto groups = group(given);
  if (!groups) return fail(groups.error());
  const auto named = name_remotes(choose, *groups);
  const auto common = into;
  std::vector<remote_config> all;
  for (const auto& own : named.each) {
    all.push_back(common);
    if (auto ok = set_one_remote(choose, *groups, own, named.by_tables, all.back()); !ok) return ok;
  }
  if (all.empty()) return set_one_remote(choose, *groups, {}, false, into);
  if (auto ok = check_together(all); !ok) return ok;
  into = std::move(all.front());
  into.farther.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
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
  if (auto ok = set_remotes(choose, given, result.remote); !ok) return fail(ok.error());
  return result;
}

expected<void> put_over(config& settings, const given_options& given) {
  const environment none = [](std::string_view) { return std::nullopt; };
  const chooser choose(none, file_settings{});
  if (auto ok = set_places(choose, given, settings); !ok) return ok;
  if (auto ok = set_remotes(choose, given, settings.remote); !ok) return ok;
  if (settings.remote.farther.empty()) return {};
  return fail(errc::invalid_argument, "--remote: a server has one upstream; give one --remote");
}

expected<std::string> tuning_tag(const given_options& given, const environment& variables) {
  const auto choose = chooser_of(given, variables);
  if (!choose) return fail(choose.error());
  const auto tag = (*choose)("tuning_tag", "--tuning-tag", given.tuning_tag);
  return tag ? tag->text : std::string();
}

} // namespace hearth::cli
