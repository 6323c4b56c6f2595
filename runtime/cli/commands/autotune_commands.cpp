#include "runtime/cli/commands/autotune_commands.hpp"

#include "runtime/caches/autotune/best_config.hpp"
#include "runtime/caches/autotune/known_tunings.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/open_store.hpp"
#include "runtime/handle/runtime.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <utility>

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// --- the store's tunings -----------------------------------------------------------------------

// A runtime over the store, and the tunings in it.
struct opened_tunings {
  explicit opened_tunings(config settings)
      : rt(std::move(settings)) {}
  runtime rt;
  std::optional<known_tunings> tunings;
};

expected<std::unique_ptr<opened_tunings>> open(config settings) {
  settings.log = nullptr; // the command itself reports an unusable store
  settings.jobs = 1;
  settings.remote = {};
  auto made = std::make_unique<opened_tunings>(std::move(settings));
  if (!made->rt.has_disk())
    return fail(errc::io, "the store cannot be used: " + made->rt.disk_problem().text());
  auto tunings = known_tunings::open(made->rt);
  if (!tunings) return fail(tunings.error());
  made->tunings = std::move(*tunings);
  return made;
}

expected<named_tunings> known(const config& settings) {
  if (has_no_store(settings.store)) return named_tunings{};
  const auto store = open(settings);
  if (!store) return fail(store.error());
  std::uint64_t unreadable = 0;
  auto all = (*store)->tunings->all(unreadable);
  if (all && unreadable > 0)
    say(fmt::format("hearth: {} tunings cannot be read and are left out\n", unreadable));
  return all;
}

// Selects the tunings whose name starts with `name`, or whose kernel has that name.
named_tunings named(const named_tunings& all, const std::string& name) {
  named_tunings some;
  for (const auto& one : all)
    if (one.first.starts_with(name) || one.second.label == name) some.insert(one);
  return some;
}

error no_such(const std::string& name) {
  return {errc::not_found, "no tuning '" + printable(name) + "'; see hearth autotune list"};
}

status say_no(const error& why) {
  say(fmt::format("hearth: {}\n", why.text()));
  return no;
}

// --- output ------------------------------------------------------------------------------------

json json_of(const std::string& name, const autotune_record& record) {
  auto object = display_json(value{to_fields(record)});
  object["name"] = name;
  return object;
}

std::string arguments_text(const autotune_record& record) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& one) {
    text += (text.empty() ? "" : " ") + name + "=" + one;
  };
  for (const auto& [name, argument] : record.config.arguments)
    add(name, display_json(argument).dump(-1, ' ', false, json::error_handler_t::replace));
  if (record.config.num_warps) add("num_warps", std::to_string(*record.config.num_warps));
  if (record.config.num_stages) add("num_stages", std::to_string(*record.config.num_stages));
  return text;
}

std::vector<std::string> row_of(const std::string& name, const autotune_record& record) {
  constexpr std::size_t shown_of_name = 12;
  const auto time = [](std::int64_t ns) { return ns > 0 ? human_time(ns) : std::string("-"); };
  return {printable(name.substr(0, shown_of_name)),
          record.label.empty() ? "-" : printable(record.label),
          printable(arguments_text(record)),
          record.config.found_by_coordesc ? "descent" : "all",
          time(record.kernel_time_ns),
          time(record.time_taken_ns)};
}

// --- files -------------------------------------------------------------------------------------

// Whether the name can be a file name in the folder of an export.
bool is_file_name(const std::string& name) {
  return name.ends_with(best_config_suffix) && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

expected<std::vector<fs::path>> files_in(const fs::path& place) {
  std::error_code problem;
  if (!fs::is_directory(place, problem)) return std::vector<fs::path>{place};
  std::vector<fs::path> files;
  for (fs::directory_iterator at(place, problem), end; !problem && at != end; at.increment(problem))
    if (at->path().extension() == best_config_suffix) files.push_back(at->path());
  if (problem) return fail(errc::io, place.string() + ": " + problem.message());
  std::sort(files.begin(), files.end());
  return files;
}

expected<void> read_into(const fs::path& file, named_tunings& into) {
  const auto name = file.filename().string();
  if (!is_file_name(name))
    return fail(errc::invalid_argument,
                file.string() + ": a tuning's file ends in " + std::string(best_config_suffix));
  auto record = read_best_config(file);
  if (!record) return fail(record.error());
  if (!into.emplace(name, std::move(*record)).second)
    return fail(errc::invalid_argument, file.string() + ": another file of that name is given");
  return {};
}

// Reads all files. Fails at the first unreadable one, so that nothing is imported then.
expected<named_tunings> read_all(const std::vector<std::string>& places) {
  named_tunings read;
  for (const auto& place : places) {
    const auto files = files_in(place);
    if (!files) return fail(files.error());
    for (const auto& file : *files)
      if (auto ok = read_into(file, read); !ok) return fail(ok.error());
  }
  return read;
}

expected<named_tunings> chosen(const named_tunings& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  named_tunings some;
  for (const auto& name : names) {
    const auto found = named(all, name);
    if (found.empty()) return fail(no_such(name));
    some.insert(found.begin(), found.end());
  }
  return some;
}

expected<void> write_tunings(const named_tunings& tunings, const fs::path& directory) {
  std::error_code problem;
  fs::create_directories(directory, problem);
  if (problem) return fail(errc::io, directory.string() + ": " + problem.message());
  for (const auto& [name, record] : tunings) {
    if (!is_file_name(name))
      return fail(errc::invalid_argument, "'" + printable(name) + "' cannot be a file's name");
    if (auto written = write_best_config(directory / name, record); !written) return written;
  }
  return {};
}

// Reports an error of a file named on the command line; a missing one is bad input.
status bad_file(const error& why) {
  return report(why.code() == errc::not_found ? error{errc::invalid_argument, why.text()} : why);
}

} // namespace

status list_tunings(const config& settings, const autotune_arguments& arguments) {
  const auto all = known(settings);
  if (!all) return store_trouble(all.error());
  if (arguments.json) {
    auto objects = json::array();
    for (const auto& [name, record] : *all)
      objects.push_back(json_of(name, record));
    return print(dump(objects), yes);
  }
  std::vector<std::vector<std::string>> rows{{"NAME", "KERNEL", "CONFIG", "BY", "TIME", "TOOK"}};
  for (const auto& [name, record] : *all)
    rows.push_back(row_of(name, record));
  std::ostringstream out;
  print_table(out, rows, {false, false, false, false, true, true});
  return print(out.str(), yes);
}

status show_tuning(const config& settings, const autotune_arguments& arguments) {
  const auto all = known(settings);
  if (!all) return store_trouble(all.error());
  const auto some = named(*all, arguments.name);
  if (some.empty()) return say_no(no_such(arguments.name));
  if (some.size() > 1)
    return report({errc::invalid_argument, fmt::format("{} tunings are called '{}': give more of "
                                                       "the name",
                                                       some.size(), printable(arguments.name))});
  const auto& [name, record] = *some.begin();
  if (arguments.json) return print(dump(json_of(name, record)), yes);
  const auto text = best_config_text(record);
  return text ? print(*text + "\n", yes) : report(text.error());
}

status export_tunings(const config& settings, const autotune_arguments& arguments) {
  const auto all = known(settings);
  if (!all) return store_trouble(all.error());
  const auto some = chosen(*all, arguments.names);
  if (!some) return say_no(some.error());
  if (auto written = write_tunings(*some, arguments.directory); !written)
    return report(written.error());
  if (arguments.json) return print(dump({{"exported", some->size()}}), yes);
  return print(fmt::format("{} exported\n", some->size()), yes);
}

status import_tunings(const config& settings, const autotune_arguments& arguments) {
  const auto read = read_all(arguments.files);
  if (!read) return bad_file(read.error());
  const auto store = open(settings);
  if (!store) return store_trouble(store.error());
  const auto counts = (*store)->tunings->take_in(*read);
  if (!counts) return store_trouble(counts.error());
  if (arguments.json)
    return print(
        dump({{"added", counts->added}, {"replaced", counts->replaced}, {"same", counts->same}}),
        yes);
  return print(fmt::format("{} added, {} replaced, {} the same\n", counts->added, counts->replaced,
                           counts->same),
               yes);
}

} // namespace hearth::cli
