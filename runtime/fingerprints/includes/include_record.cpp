#include "runtime/fingerprints/includes/include_record.hpp"

#include "messages/value.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sys/stat.h>

namespace hearth::fingerprints {
namespace {

constexpr std::string_view precompiled_suffix = ".gch";

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The name of `path` relative to `folder`, if the compiler could have joined the two.
std::optional<std::string_view> name_below(std::string_view path, std::string_view folder) {
  if (folder.empty()) return path.starts_with('/') ? std::nullopt : std::optional(path);
  if (!path.starts_with(folder)) return std::nullopt;
  path.remove_prefix(folder.size());
  if (!folder.ends_with('/')) {
    if (!path.starts_with('/')) return std::nullopt;
    path.remove_prefix(1);
  }
  return path;
}

bool is_link(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

// Whether a compiler could open `path`: a file, or for a precompiled header also a folder of them.
bool is_there(const std::string& path, file_view& view) {
  const auto stamp = view.stamp(path);
  return stamp && (!stamp->is_directory || path.ends_with(precompiled_suffix));
}

// Joins names, each followed by a NUL, which file names cannot contain.
std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    (text += name) += '\0';
  return text;
}

// Whether `holds` is true of every name in a list; stops at the first that fails.
template <class Holds>
bool all_of_names(std::string_view list, Holds holds) {
  while (!list.empty()) {
    const auto name = list.substr(0, list.find('\0'));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (!holds(name)) return false;
  }
  return true;
}

bool has_name(std::string_view list, std::string_view name) {
  return !all_of_names(list, [&](std::string_view one) { return one != name; });
}

class fact_collector {
public:
  fact_collector(std::span<const scanned_file> files, const search_settings& settings,
                 file_view& view)
      : files_(files)
      , settings_(settings)
      , view_(view) {}

  std::map<std::string, folder_facts> collect() {
    search("stdc-predef.h"); // GCC includes it by itself
    for (const auto& name : settings_.forced) {
      note("", name);
      search(name);
    }
    for (const auto& file : files_) {
      for (const auto& one : file.text->names) {
        if (one.quoted) note(folder_of(file.name), one.name);
        search(one.name);
      }
      if (file.text->includes_by_macro) note_computed(file);
    }
    return facts();
  }

private:
  struct noted_folder {
    folder_facts facts;
    std::set<std::string> present, absent, links;
  };

  std::map<std::string, folder_facts> facts() const {
    std::map<std::string, folder_facts> result;
    for (const auto& [path, one] : folders_) {
      auto facts = one.facts;
      facts.present = joined(one.present);
      facts.absent = joined(one.absent);
      facts.links = joined(one.links);
      result.emplace_hint(result.end(), path, std::move(facts));
    }
    return result;
  }

  // Notes the name in each folder of the search path, once per name.
  void search(const std::string& name) {
    if (!searched_.insert(name).second) return;
    for (const auto& folder : settings_.include_directories)
      note(folder, name);
  }

  // The names that a macro spelled are unknown, but the files that they found are in the closure:
  // notes each file's name relative to every folder.
  void note_computed(const scanned_file& by) {
    std::set<std::string_view> from;
    for (const auto& file : files_)
      from.insert(folder_of(file.name));
    from.insert(settings_.include_directories.begin(), settings_.include_directories.end());
    for (const auto& file : files_)
      for (const auto folder : from)
        if (const auto name = name_below(file.name, folder)) {
          note(folder_of(by.name), *name);
          search(std::string(*name));
        }
  }

  void note(std::string_view folder, std::string_view name) {
    const auto path = path_in(path_in(settings_.directory, folder), name);
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || slash + 1 == path.size()) return;
    auto& at = folder_at(slash == 0 ? "/" : path.substr(0, slash));
    if (!at.facts.stamp) return;
    const auto base = path.substr(slash + 1);
    note_entry(at, path, base);
    note_entry(at, path + std::string(precompiled_suffix), base + std::string(precompiled_suffix));
  }

  noted_folder& folder_at(const std::string& path) {
    const auto [at, fresh] = folders_.try_emplace(path);
    if (!fresh) return at->second;
    if (const auto stamp = view_.stamp(path); stamp && stamp->is_directory) {
      at->second.facts.stamp = stamp;
      at->second.facts.reliable = is_reliable(*stamp, file_clock_ns());
    }
    return at->second;
  }

  void note_entry(noted_folder& at, const std::string& path, const std::string& base) {
    if (at.present.contains(base) || at.absent.contains(base)) return;
    (is_there(path, view_) ? at.present : at.absent).insert(base);
    if (is_link(path)) at.links.insert(base);
  }

  std::span<const scanned_file> files_;
  const search_settings& settings_;
  file_view& view_;
  std::set<std::string> searched_;
  std::map<std::string, noted_folder> folders_;
};

record_state check_folder(const std::string& path, folder_facts& facts, file_view& view) {
  auto now = view.stamp(path);
  if (now && !now->is_directory) now.reset();
  if (!facts.stamp) return now ? record_state::stale : record_state::holds;
  const auto there = [&](std::string_view name) { return is_there(path_in(path, name), view); };
  const auto not_there = [&](std::string_view name) { return !there(name); };
  const auto as_noted = [&](std::string_view name) {
    return there(name) == has_name(facts.present, name);
  };
  if (facts.reliable && now == facts.stamp)
    return all_of_names(facts.links, as_noted) ? record_state::holds : record_state::stale;
  if (!now || !all_of_names(facts.present, there) || !all_of_names(facts.absent, not_there))
    return record_state::stale;
  facts.stamp = now;
  facts.reliable = is_reliable(*now, file_clock_ns());
  return facts.reliable ? record_state::renewed : record_state::holds;
}

record_state check_file(const std::string& path, file_content& known, file_view& view) {
  view.trust(path, known);
  const auto now = view.content(path);
  if (!now || now->content != known.content) return record_state::stale;
  const bool renewed = now->reliable && (!known.reliable || now->stamp != known.stamp);
  known = *now;
  return renewed ? record_state::renewed : record_state::holds;
}

value to_value(const folder_facts& facts) {
  if (!facts.stamp) return {};
  return value::array{to_value(*facts.stamp), facts.reliable, binary{facts.present},
                      binary{facts.absent}, binary{facts.links}};
}

std::optional<folder_facts> read_facts(const value& from) {
  folder_facts facts;
  if (from.is_nil()) return facts;
  const auto* parts = from.as<value::array>();
  if (!parts || parts->size() != 5) return std::nullopt;
  facts.stamp = read_stamp((*parts)[0]);
  const auto* reliable = (*parts)[1].as<bool>();
  if (!facts.stamp || !reliable) return std::nullopt;
  facts.reliable = *reliable;
  const std::array<std::string*, 3> lists = {&facts.present, &facts.absent, &facts.links};
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto* text = (*parts)[i + 2].as<binary>();
    if (!text) return std::nullopt;
    *lists[i] = text->bytes;
  }
  return facts;
}

} // namespace

std::map<std::string, folder_facts> gather_facts(std::span<const scanned_file> files,
                                                 const search_settings& settings, file_view& view) {
  return fact_collector(files, settings, view).collect();
}

std::vector<std::string> precompiled_headers(const std::map<std::string, folder_facts>& folders) {
  std::vector<std::string> paths;
  for (const auto& [folder, facts] : folders)
    all_of_names(facts.present, [&, &in = folder](std::string_view name) {
      if (name.ends_with(precompiled_suffix)) paths.push_back(path_in(in, name));
      return true;
    });
  return paths;
}

bool is_steady(const include_record& record, const std::string& directory, std::int64_t start_ns) {
  const auto steady = [&](const std::string& path, const file_stamp& stamp) {
    return std::max(stamp.mtime_ns, stamp.ctime_ns) < start_ns && stamp_now(path) == stamp;
  };
  return std::all_of(record.files.begin(), record.files.end(),
                     [&](const auto& file) {
                       return steady(path_in(directory, file.first), file.second.stamp);
                     }) &&
         std::all_of(record.folders.begin(), record.folders.end(), [&](const auto& folder) {
           const auto& stamp = folder.second.stamp;
           return stamp ? steady(folder.first, *stamp) : !stamp_now(folder.first);
         });
}

record_state check(include_record& record, const std::string& directory, file_view& view) {
  auto state = record_state::holds;
  for (auto& [path, facts] : record.folders) {
    const auto one = check_folder(path, facts, view);
    if (one == record_state::stale) return one;
    if (one == record_state::renewed) state = one;
  }
  for (auto& [name, content] : record.files) {
    const auto one = check_file(path_in(directory, name), content, view);
    if (one == record_state::stale) return one;
    if (one == record_state::renewed) state = one;
  }
  return state;
}

std::string encode(const include_record& record) {
  value::map folders;
  for (const auto& [path, facts] : record.folders)
    folders.emplace_hint(folders.end(), path, to_value(facts));
  return hearth::encode(
      value::map{{"files", by_path(record.files)}, {"folders", std::move(folders)}});
}

std::optional<include_record> decode_include_record(std::string_view bytes) {
  const auto content = decode_value(bytes);
  if (!content) return std::nullopt;
  auto files = read_by_path(content->find("files"), read_content);
  auto folders = read_by_path(content->find("folders"), read_facts);
  if (!files || !folders || files->empty()) return std::nullopt;
  return include_record{std::move(*files), std::move(*folders)};
}

} // namespace hearth::fingerprints
