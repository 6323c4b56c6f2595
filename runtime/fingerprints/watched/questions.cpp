#include "runtime/fingerprints/watched/questions.hpp"

#include "runtime/fingerprints/files/file_source.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

namespace hearth::fingerprints {
namespace {

namespace fs = std::filesystem;
using kind = file_question::kind;

constexpr int max_links = 40; // as the kernel follows

// Files that the kernel makes up, and the counters of Java's machines: no input.
bool is_no_input(std::string_view path) {
  return is_below(path, "/proc") || is_below(path, "/sys") ||
         (path.starts_with("/dev/") && !is_below(path, "/dev/shm")) ||
         path.starts_with("/tmp/hsperfdata_");
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Whether a path goes up somewhere.
bool goes_up(std::string_view path) {
  return path.find("/../") != path.npos || path.ends_with("/..");
}

enum class entry_kind { absent, link, folder, other };

// What is at a path now, symbolic links not followed.
struct entry {
  entry_kind what = entry_kind::absent;
  std::uint64_t device = 0, inode = 0;
  std::string text; // of a link
};

class seen_paths {
public:
  explicit seen_paths(const watched_place& place)
      : view_(place.view)
      , scratch_(place.scratch)
      , is_covered_(place.is_covered)
      , folders_of_places_(folders_of(place.view.places)) {
    reached_[view_.folder].relative = true;
  }

  expected<void> add(const std::vector<sighting>& seen) {
    for (const auto& one : seen)
      if (auto added = add(one); !added) return added;
    return {};
  }

  watched_questions questions() const {
    watched_questions all{{}, programs_};
    for (const auto& [asked, spelled] : asked_)
      add_names(all.asked, asked, spelled);
    return all;
  }

private:
  // How the program came to a path: from its working folder, or by an absolute name.
  struct spelling {
    bool relative = false, absolute = false;
  };
  // One path that is being followed.
  struct walk {
    const sighting& seen;
    std::vector<std::string> left{}; // components, the next one last
    std::string at{};                // the host's path so far; empty: the root
    spelling how{};
    int links = 0;
  };

  expected<void> add(const sighting& seen) {
    // The folder of all scratch directories was made by this process, too.
    if (!scratch_.empty() && is_below(seen.path, parent_of(scratch_)) && !goes_up(seen.path))
      return add_in_scratch(seen);
    if (is_covered_ && seen.was_run) programs_.insert(seen.path); // it may have made it itself
    auto base = seen.path.substr(0, seen.base);
    // A folder that the command has made itself is below one of the host's.
    while (is_covered_ && is_below(base, view_.folder) && look(base).what == entry_kind::absent)
      base = parent_of(base);
    walk now{seen, reversed_components(std::string_view(seen.path).substr(base.size()))};
    if (base.empty()) {
      now.how.absolute = true;
    } else if (seen.from_scratch) {
      now.how.relative = reached_[base].relative = true;
      shown_.insert(base);
      now.at = parent_of(base);
      now.left.push_back(base.substr(now.at.size() + 1));
    } else {
      now.how = spelling_of(base);
      now.at = base == "/" ? "" : base;
    }
    while (!now.left.empty()) {
      const auto next = std::move(now.left.back());
      now.left.pop_back();
      if (next == "..") {
        if (!now.at.empty()) ask(now.how, kind::link, now.at);
        now.at = parent_of(now.at);
        continue;
      }
      const auto is_over = step(now, now.at + "/" + next);
      if (!is_over) return fail(is_over.error());
      if (*is_over) return {};
    }
    return arrive(now);
  }

  // What lies in the scratch directory: a folder that the view has made, a link that shows the
  // host's entry, or what the program made or missed: then the host has none there, unless the
  // program has removed the link to it.
  expected<void> add_in_scratch(const sighting& seen) {
    if (seen.was_run) programs_.insert(seen.path);
    const auto root = scratch_ + "/root";
    if (!is_below(seen.path, root) || !view_.shows_all) return {}; // temporary, or declared
    constexpr spelling how{true, false};
    auto left = reversed_components(std::string_view(seen.path).substr(root.size()));
    std::string at;
    while (!left.empty()) {
      at += "/" + left.back();
      left.pop_back();
      if (is_place(at)) return {};
      if (is_below(view_.folder, at) || folders_of_places_.contains(at)) continue;
      if (left.empty() && seen.is_shown) shown_.insert(at);
      if (left.empty() && seen.is_shown && !seen.follows)
        return fail(errc::unsupported, "it saw a symbolic link where the host has " + at);
      if (!shown_.contains(at) && look(at).what != entry_kind::absent) return fail(changed(at));
      ask(how, kind::content, at);
      if (left.empty() && !seen.follows) ask(how, kind::link, at);
      if (left.empty() && seen.told_place) ask(how, kind::place, at);
      return {};
    }
    if (seen.was_listed) ask(how, kind::listing, at.empty() ? "/" : at);
    return {};
  }

  // Goes on to `next`. True: there is nothing more to ask.
  expected<bool> step(walk& now, const std::string& next) {
    if (is_no_input(next)) return true;
    if (is_covered_ && is_place(next))
      return true; // it was not there, or is made of what is declared
    const auto& found = look(next);
    if (is_made_folder(next)) {
      now.at = next;
      return false;
    }
    if (found.what == entry_kind::absent) {
      ask(now.how, kind::content, next);
      if (is_covered_ && now.seen.told_place) ask(now.how, kind::place, view_.folder);
      if (now.seen.was_there) return fail(changed(next));
      return true;
    }
    if (found.what != entry_kind::link) {
      now.at = next;
      return false;
    }
    ask(now.how, kind::link, next);
    if (now.left.empty() && !now.seen.follows) return same_as_seen(now, next);
    if (++now.links > max_links) return true;
    follow(now, found.text);
    return false;
  }

  static void follow(walk& now, const std::string& text) {
    auto parts = reversed_components(text);
    now.left.insert(now.left.end(), std::make_move_iterator(parts.begin()),
                    std::make_move_iterator(parts.end()));
    if (!text.starts_with('/')) return;
    now.at.clear();
    now.how = {false, true};
  }

  expected<void> arrive(const walk& now) {
    const auto path = now.at.empty() ? std::string("/") : now.at;
    if (path == "/dev") return {};
    auto& reached = reached_[path];
    reached.relative |= now.how.relative;
    reached.absolute |= now.how.absolute;
    if (now.seen.was_listed) ask(now.how, kind::listing, path);
    if (is_made_folder(path)) return {};
    ask(now.how, kind::content, path);
    if (!now.seen.follows) ask(now.how, kind::link, path);
    if (now.seen.told_place) ask(now.how, kind::place, path);
    if (now.seen.was_run) programs_.insert({now.seen.path, path});
    const auto same = same_as_seen(now, path);
    if (!same) return fail(same.error());
    return {};
  }

  // Fails if the path is another file than the one that the program saw first. It is no link, or
  // one that the program did not follow.
  expected<bool> same_as_seen(const walk& now, const std::string& path) {
    const auto& found = look(path);
    // "a/" is not there if a is a file.
    const bool is_folder = found.what == entry_kind::folder;
    if (!now.seen.was_there && now.seen.path.ends_with('/') && !is_folder) return true;
    if (!now.seen.was_there || found.what == entry_kind::absent ||
        found.device != now.seen.device || found.inode != now.seen.inode)
      return fail(changed(path));
    return true;
  }

  static error changed(const std::string& path) {
    return {errc::busy, path + " changed while the command ran"};
  }

  bool is_place(const std::string& path) const {
    return std::find(view_.places.begin(), view_.places.end(), path) != view_.places.end();
  }

  // Whether a folder was made for files that the command makes.
  bool is_made_folder(const std::string& path) {
    return is_covered_ && folders_of_places_.contains(path) &&
           look(path).what == entry_kind::absent;
  }

  const entry& look(const std::string& path) {
    const auto [at, is_new] = entries_.try_emplace(path);
    if (!is_new) return at->second;
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) return at->second;
    at->second.device = found.st_dev;
    at->second.inode = found.st_ino;
    at->second.what = S_ISLNK(found.st_mode)   ? entry_kind::link
                      : S_ISDIR(found.st_mode) ? entry_kind::folder
                                               : entry_kind::other;
    if (!S_ISLNK(found.st_mode)) return at->second;
    std::error_code failure;
    at->second.text = fs::read_symlink(path, failure).string();
    return at->second;
  }

  void ask(const spelling& how, kind what, const std::string& path) {
    auto& spelled = asked_[{path, what}];
    spelled.relative |= how.relative;
    spelled.absolute |= how.absolute;
  }

  // How the program came to a folder that it started from.
  spelling spelling_of(const std::string& folder) const {
    for (auto at = folder; !at.empty(); at = parent_of(at))
      if (const auto known = reached_.find(at); known != reached_.end()) return known->second;
    return {false, true};
  }

  // Whether the program may have made an absolute name of this path from that of its folder.
  bool may_be_ours(const std::string& path) const {
    if (is_below(path, view_.folder)) return true;
    if (is_of_system(path) && !is_of_system(view_.folder)) return false;
    for (auto at = path; !at.empty(); at = parent_of(at))
      if (const auto known = reached_.find(at); known != reached_.end() && known->second.relative)
        return true;
    return false;
  }

  // A path that the program spelled as absolute may be one that it made from its folder's, so both
  // have to be as they were.
  void add_names(std::set<file_question>& to, const std::pair<std::string, kind>& asked,
                 const spelling& spelled) const {
    const auto& [path, what] = asked;
    if (spelled.absolute) to.insert({what, path});
    if (spelled.relative || may_be_ours(path))
      to.insert({what, fs::path(path).lexically_relative(view_.folder).string()});
  }

  const scratch_view& view_;
  const std::string& scratch_;
  const bool is_covered_;
  const std::set<std::string> folders_of_places_;
  std::unordered_map<std::string, spelling> reached_; // the host's paths that were come to
  std::unordered_set<std::string>
      shown_; // the host's entries that links in the scratch directory show
  std::set<std::string> programs_;
  std::unordered_map<std::string, entry> entries_;
  std::map<std::pair<std::string, kind>, spelling> asked_;
};

} // namespace

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_of_system(std::string_view path) {
  constexpr std::array<std::string_view, 10> folders{"/usr", "/lib",  "/lib32", "/lib64", "/libx32",
                                                     "/bin", "/sbin", "/opt",   "/etc",   "/nix"};
  return std::any_of(folders.begin(), folders.end(),
                     [&](std::string_view folder) { return is_below(path, folder); });
}

std::string path_of(std::string_view folder, std::string_view name) {
  if (name.starts_with('/')) return std::string(name);
  auto path = (fs::path(folder) / name).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back(); // of "."
  return path;
}

std::set<std::string> folders_of(const std::vector<std::string>& places) {
  std::set<std::string> all;
  for (const auto& one : places)
    for (auto at = parent_of(one); !at.empty() && all.insert(at).second;)
      at = parent_of(at);
  return all;
}

expected<watched_questions> questions_of(const std::vector<sighting>& seen,
                                         const watched_place& place) {
  seen_paths paths(place);
  if (auto added = paths.add(seen); !added) return fail(added.error());
  return paths.questions();
}

} // namespace hearth::fingerprints
