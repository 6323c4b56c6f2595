#include "runtime/fingerprints/watched/questions.hpp"

#include "runtime/fingerprints/files/file_source.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
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

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// Files that the kernel makes up: their content is no input.
bool is_of_kernel(std::string_view path) {
  return is_below(path, "/proc") || is_below(path, "/sys") ||
         (path.starts_with("/dev/") && !is_below(path, "/dev/shm"));
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// The program that the kernel starts to run this one: that of "#!", or the loader of a binary.
std::string interpreter_of(const std::string& program) {
  constexpr std::size_t first_page = 4096;
  const auto head = read_prefix(program, first_page);
  if (!head) return {};
  if (head->starts_with("#!")) {
    const auto begin = head->find_first_not_of(" \t", 2);
    if (begin == head->npos) return {};
    return head->substr(begin, head->find_first_of(" \t\n", begin) - begin);
  }
  Elf64_Ehdr header;
  if (head->size() < sizeof header || !head->starts_with(ELFMAG)) return {};
  std::memcpy(&header, head->data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const auto at = header.e_phoff + i * sizeof part;
    if (header.e_phentsize != sizeof part || at + sizeof part > head->size()) return {};
    std::memcpy(&part, head->data() + at, sizeof part);
    if (part.p_type == PT_INTERP && part.p_offset < head->size())
      return std::string(head->c_str() + part.p_offset);
  }
  return {};
}

enum class entry_kind { absent, link, folder, other };

struct entry {
  entry_kind what = entry_kind::absent;
  std::string text; // of a link
};

class seen_paths {
public:
  explicit seen_paths(const watched_place& place)
      : view_(place.view)
      , scratch_(place.scratch) {
    std::error_code failure;
    const auto resolved = fs::canonical(scratch_, failure);
    if (!failure) resolved_scratch_ = resolved.string();
    for (const auto& one : view_.places)
      for (auto at = parent_of(one); folders_of_places_.insert(at).second && !at.empty();)
        at = parent_of(at);
  }

  expected<void> add(const std::vector<sighting>& seen) {
    // First those in the scratch directory: they tell which folders the program reached from its
    // own.
    for (const bool in_scratch : {true, false})
      for (const auto& one : seen)
        if (within_scratch(one.path).has_value() == in_scratch)
          if (auto added = add(one); !added) return added;
    return {};
  }

  std::set<file_question> questions() const {
    std::set<file_question> all;
    for (const auto& [asked, spelled] : asked_)
      add_names(all, asked, spelled);
    return all;
  }

private:
  // How the program spelled a path: relative to its folder or not.
  struct spelling {
    bool relative = false, absolute = false;
  };
  // One path that is being followed.
  struct walk {
    const sighting& seen;
    std::vector<std::string> left; // components, the next one last
    std::string at{};              // the host's path so far; empty: the root
    bool in_scratch = false;
    spelling how{};
    int links = 0;
    bool is_loose = false; // not the host's entry itself was looked at
  };

  // The path in `root` of a path in the scratch directory; empty outside `root`.
  std::optional<std::string> within_scratch(const std::string& path) const {
    for (const auto& scratch : {scratch_, resolved_scratch_}) {
      // The folder of all scratch directories was made by this process, too.
      if (scratch.empty() || !is_below(path, parent_of(scratch))) continue;
      const auto root = scratch + "/root";
      return is_below(path, root) ? path.substr(root.size()) + "/" : std::string();
    }
    return std::nullopt;
  }

  static void push(std::vector<std::string>& left, std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
      const auto end = std::min(path.find('/'), path.size());
      const auto part = path.substr(0, end);
      if (!part.empty() && part != ".") parts.emplace_back(part);
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    left.insert(left.end(), parts.rbegin(), parts.rend());
  }

  expected<void> add(const sighting& seen) {
    walk now{seen, {}};
    const auto inner = within_scratch(seen.path);
    if (inner && inner->empty()) return {}; // a temporary file
    now.in_scratch = inner.has_value();
    now.how = {now.in_scratch || seen.was_relative, !now.in_scratch && !seen.was_relative};
    push(now.left, inner ? *inner : seen.path);
    while (!now.left.empty()) {
      auto next = std::move(now.left.back());
      now.left.pop_back();
      if (next == "..") {
        if (!now.in_scratch && !now.at.empty()) ask(now, kind::link, now.at);
        now.at = parent_of(now.at);
        continue;
      }
      const auto is_over = step(now, now.at + "/" + next);
      if (!is_over) return fail(is_over.error());
      if (*is_over) return {};
    }
    return arrive(now);
  }

  // Goes on to `next`. True: there is nothing more to ask.
  expected<bool> step(walk& now, const std::string& next) {
    if (is_place(next)) return true;
    if (now.in_scratch) {
      const auto where = pass_scratch(now, next);
      if (where != passage::to_host) return where == passage::ends;
    }
    if (is_of_kernel(next)) return true;
    const auto& found = look(next);
    if (found.what == entry_kind::absent) {
      ask(now, kind::content, next);
      if (now.seen.was_there) return fail(changed(next));
      return true;
    }
    if (found.what != entry_kind::link) {
      now.at = next;
      return false;
    }
    ask(now, kind::link, next);
    if (now.left.empty() && !now.seen.follows) return same_as_seen(now, next, true);
    if (++now.links > max_links) return true;
    follow(now, found.text);
    return false;
  }

  static void follow(walk& now, const std::string& text) {
    push(now.left, text);
    if (!text.starts_with('/')) return;
    now.at.clear();
    now.how = {false, true};
  }

  enum class passage { stays, to_host, ends };

  // In the scratch directory, where `next` may be the host's entry, or one that the program made.
  passage pass_scratch(walk& now, const std::string& next) {
    const auto found = look(scratch_ + "/root" + next);
    if (found.what == entry_kind::link && found.text == next) {
      now.in_scratch = false;
      now.is_loose = now.left.empty() && !now.seen.follows;
      if (!is_of_system(next) || is_of_system(view_.folder)) reached_.insert(next);
      return passage::to_host;
    }
    const bool is_own_folder = found.what == entry_kind::folder &&
                               (folders_of_places_.contains(next) || is_above_folder(next) ||
                                look(next).what == entry_kind::folder);
    if (is_own_folder) {
      now.at = next;
      return passage::stays;
    }
    // Made by the program, or absent there: then so it is on the host, or is hidden.
    if (view_.shows_all) ask(now, kind::content, next);
    if (found.what == entry_kind::link && ++now.links <= max_links) {
      now.is_loose = true; // it may have been made after the first look
      const auto inner = within_scratch(found.text);
      if (inner)
        now.at.clear();
      else if (found.text.starts_with('/'))
        now.in_scratch = false;
      follow(now, inner ? *inner : found.text);
      if (inner) now.how = {true, false};
      return passage::stays;
    }
    return passage::ends;
  }

  expected<void> arrive(const walk& now) {
    const auto path = now.at.empty() ? std::string("/") : now.at;
    if (now.in_scratch) {
      if (now.seen.was_listed && view_.shows_all) ask(now, kind::listing, path);
      return {};
    }
    if (path == "/dev") return {};
    ask(now, kind::content, path);
    if (now.seen.was_listed) ask(now, kind::listing, path);
    if (!now.seen.follows) ask(now, kind::link, path);
    if (now.seen.was_run && now.seen.was_there) {
      const auto interpreter = interpreter_of(path);
      const sighting run{interpreter, true, false, false, false, false};
      if (interpreter.starts_with('/'))
        if (auto added = add_interpreter(run); !added) return added;
    }
    const auto same = same_as_seen(now, path, !now.seen.follows);
    if (!same) return fail(same.error());
    return {};
  }

  // An interpreter is looked at by the kernel: when and what it was then is unknown.
  expected<void> add_interpreter(const sighting& run) {
    if (!interpreters_.insert(run.path).second) return {};
    struct stat found {};
    auto now = run;
    now.was_there = ::stat(run.path.c_str(), &found) == 0;
    now.device = found.st_dev;
    now.inode = found.st_ino;
    return add(now);
  }

  // Fails if the path is another file than the one that the program saw first.
  static expected<bool> same_as_seen(const walk& now, const std::string& path, bool as_link) {
    if (now.is_loose) return true;
    struct stat found {};
    const bool is_there =
        ::fstatat(AT_FDCWD, path.c_str(), &found, as_link ? AT_SYMLINK_NOFOLLOW : 0) == 0;
    // "a/" is not there if a is a file.
    if (!now.seen.was_there && now.seen.path.ends_with('/') && !S_ISDIR(found.st_mode)) return true;
    if (!now.seen.was_there || !is_there || found.st_dev != now.seen.device ||
        found.st_ino != now.seen.inode)
      return fail(changed(path));
    return true;
  }

  static error changed(const std::string& path) {
    return {errc::busy, path + " changed while the command ran"};
  }

  bool is_place(const std::string& path) const {
    return std::find(view_.places.begin(), view_.places.end(), path) != view_.places.end();
  }

  bool is_above_folder(const std::string& path) const { return is_below(view_.folder, path); }

  const entry& look(const std::string& path) {
    const auto [at, is_new] = entries_.try_emplace(path);
    if (!is_new) return at->second;
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) return at->second;
    at->second.what = S_ISLNK(found.st_mode)   ? entry_kind::link
                      : S_ISDIR(found.st_mode) ? entry_kind::folder
                                               : entry_kind::other;
    if (!S_ISLNK(found.st_mode)) return at->second;
    std::error_code failure;
    at->second.text = fs::read_symlink(path, failure).string();
    return at->second;
  }

  void ask(const walk& now, kind what, const std::string& path) {
    auto& spelled = asked_[{path, what}];
    spelled.relative |= now.how.relative;
    spelled.absolute |= now.how.absolute;
  }

  // Whether the program came to this path from its working folder.
  bool was_reached(const std::string& path) const {
    if (is_below(path, view_.folder)) return true;
    for (auto at = path; !at.empty(); at = parent_of(at))
      if (reached_.contains(at)) return true;
    return false;
  }

  // A path that the program spelled as absolute may be one that it made from its folder's, so both
  // have to be as they were. One that it spelled relative to a folder elsewhere is absolute.
  void add_names(std::set<file_question>& to, const std::pair<std::string, kind>& asked,
                 const spelling& spelled) const {
    const auto& [path, what] = asked;
    const bool is_ours = was_reached(path);
    if (spelled.absolute || !is_ours) to.insert({what, path});
    if (is_ours) to.insert({what, fs::path(path).lexically_relative(view_.folder).string()});
  }

  const scratch_view& view_;
  std::string scratch_, resolved_scratch_;
  std::unordered_set<std::string> folders_of_places_;
  std::unordered_set<std::string> reached_; // the host's paths of links that were followed
  std::unordered_set<std::string> interpreters_;
  std::unordered_map<std::string, entry> entries_;
  std::map<std::pair<std::string, kind>, spelling> asked_;
};

} // namespace

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

expected<std::set<file_question>> questions_of(const std::vector<sighting>& seen,
                                               const watched_place& place) {
  seen_paths paths(place);
  if (auto added = paths.add(seen); !added) return fail(added.error());
  return paths.questions();
}

} // namespace hearth::fingerprints
