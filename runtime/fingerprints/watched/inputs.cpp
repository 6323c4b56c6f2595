#include "runtime/fingerprints/watched/inputs.hpp"

#include "messages/hash.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace hearth::fingerprints {
namespace {

namespace fs = std::filesystem;
using kind = file_question::kind;

constexpr std::int64_t form = 4; // of the bytes

// The group of the questions about the command's own files: all that are not of the system.
constexpr std::string_view own_group = "";

std::string group_of(const std::string& name) {
  if (!name.starts_with('/') || !is_of_system(name)) return std::string(own_group);
  const auto folder = name.substr(0, name.rfind('/'));
  return folder.empty() ? "/" : folder;
}

std::string base_of(const std::string& name) { return name.substr(name.rfind('/') + 1); }

struct question_group {
  std::vector<file_question> asked;
  std::vector<std::string> answers; ///< of own files, in order
  digest all;                       ///< of the answers about files of the system
};

using groups = std::map<std::string, question_group>;

struct recorded_inputs {
  groups by_folder;
  bool with_status = false;
};

std::int64_t to_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void append(std::string& to, std::uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

class input_answers {
public:
  input_answers(const input_reader& in, bool with_status)
      : in_(in)
      , with_status_(with_status)
      , folders_of_places_(folders_of(in.view.places)) {}

  std::string path(const file_question& asked) const {
    return path_of(in_.view.folder, asked.name);
  }

  // The first byte says what there is: absent, folder, file, executable file, unreadable, special,
  // names, symbolic link, no link; a path is itself.
  expected<std::string> answer(const file_question& asked) const {
    const auto at = path(asked);
    switch (asked.what) {
    case kind::content: return content(at);
    case kind::listing: return listing(at);
    case kind::link: return link(at);
    case kind::place: return at;
    }
    return std::string();
  }

  // What changes whenever the answer does, in a few system calls.
  std::string mark(const file_question& asked, std::int64_t now_ns, bool& is_reliable_now) const {
    const auto at = path(asked);
    if (asked.what == kind::link) return link(at);
    if (asked.what == kind::place) return at;
    const auto stamp = in_.files.stamp(at);
    if (!stamp) return stamp_mark(stamp);
    const bool is_folder = stamp->is_directory && asked.what == kind::content && !with_status_;
    if (is_folder) return folder_mark();
    is_reliable_now = is_reliable_now && is_reliable(*stamp, now_ns);
    return stamp_mark(stamp);
  }

  // Whether the file may have been another when the command ran.
  bool may_have_changed(const file_question& asked, const start_of_run& start) const {
    const auto at = path(asked);
    if (asked.what == kind::link) {
      struct stat found {};
      return ::lstat(at.c_str(), &found) == 0 && S_ISLNK(found.st_mode) &&
             to_ns(found.st_ctim) > start.time_ns;
    }
    if (asked.what == kind::place) return false;
    const bool is_listing = asked.what != kind::content;
    // Names were read after the first stamp of their folder.
    const auto stamp = is_listing ? system_files().stamp(at) : in_.files.stamp(at);
    if (!stamp) return false;
    const bool is_timeless = !with_status_ || changes_by_itself(at);
    if (stamp->is_directory && !is_listing && is_timeless) return false;
    return fingerprints::may_have_changed(*stamp, start);
  }

private:
  expected<std::string> content(const std::string& at) const {
    const auto stamp = in_.files.stamp(at);
    if (!stamp) return std::string("a");
    struct stat found {};
    if (::stat(at.c_str(), &found) != 0) return std::string("a");
    if (stamp->is_directory) return "d" + status(found, at);
    const auto bytes = in_.files.content(at);
    if (!bytes) {
      if (bytes.error().code() == errc::permission) return "u" + status(found);
      if (bytes.error().code() == errc::unsupported) return "o" + status(found);
      return fail(bytes.error());
    }
    const bool is_executable = (found.st_mode & 0111) != 0;
    return (is_executable ? "x" : "f") + std::string(bytes->content.view()) + status(found);
  }

  // Folders that change when commands run: those of outputs, and of temporary files. The program
  // does not see the times of its own folder and of those above, but of their images.
  bool changes_by_itself(const std::string& folder) const {
    return folder == "/tmp" || folders_of_places_.contains(folder) ||
           (!folder.empty() && is_below(in_.view.folder, folder));
  }

  std::string status(const struct stat& found, const std::string& folder = {}) const {
    if (!with_status_) return {};
    const auto time = changes_by_itself(folder) ? 0 : to_ns(found.st_mtim);
    const auto names = S_ISDIR(found.st_mode) ? 0 : std::uint64_t{found.st_nlink};
    std::string all;
    for (const std::uint64_t number :
         {std::uint64_t{found.st_mode}, std::uint64_t{found.st_uid}, std::uint64_t{found.st_gid},
          names, static_cast<std::uint64_t>(time)})
      append(all, number);
    return all;
  }

  // The files that the command makes are no input: they are there after the first run.
  bool is_place(const std::string& path) const {
    const auto& places = in_.view.places;
    return std::find(places.begin(), places.end(), path) != places.end();
  }

  // The files that the command makes are not there when it starts, and their folders are.
  std::string listing(const std::string& at) const {
    std::map<std::string, char> names; // with what they are
    for (const auto& folder : folders_of_places_)
      if (folder.substr(0, folder.rfind('/')) == (at == "/" ? "" : at))
        names.emplace(base_of(folder), 'd');
    std::error_code failure;
    for (fs::directory_iterator entry(at, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (is_place(entry->path().string())) continue;
      std::error_code ignored;
      names.emplace(entry->path().filename().string(),
                    letter_of(entry->symlink_status(ignored).type()));
    }
    if (failure && !folders_of_places_.contains(at)) return "a";
    std::string all;
    for (const auto& [name, what] : names)
      all.append(1, what).append(name).append(1, '\0');
    return "l" + std::string(sha256(all).view());
  }

  static char letter_of(fs::file_type what) {
    switch (what) {
    case fs::file_type::directory: return 'd';
    case fs::file_type::symlink: return 'l';
    case fs::file_type::regular: return 'f';
    default: return 'o';
    }
  }

  std::string link(const std::string& at) const {
    const auto found = in_.files.link(at);
    if (found.what != link_state::kind::link) return link_mark(found);
    struct stat itself {};
    if (with_status_ && ::lstat(at.c_str(), &itself) != 0) return "a";
    return link_mark(found) + status(itself);
  }

  const input_reader& in_;
  bool with_status_;
  std::set<std::string> folders_of_places_;
};

void append_answer(std::string& to, const file_question& asked, const std::string& answer) {
  to += static_cast<char>(asked.what);
  to.append(asked.name).append(1, '\0');
  append(to, answer.size());
  to += answer;
}

// --- the form of the bytes ----------------------------------------------------------------------

value encode_group(const question_group& group) {
  std::string names;
  for (const auto& asked : group.asked)
    names.append(1, static_cast<char>(asked.what)).append(base_of(asked.name)).append(1, '\0');
  return value::map{{"answers", binary{std::string(group.all.view())}}, {"names", binary{names}}};
}

std::string encode_inputs(const recorded_inputs& inputs) {
  value::map own, system;
  for (const auto& [folder, group] : inputs.by_folder) {
    if (folder != own_group) {
      system.emplace(folder, encode_group(group));
      continue;
    }
    for (std::size_t i = 0; i < group.asked.size(); ++i)
      own.emplace(static_cast<char>(group.asked[i].what) + group.asked[i].name,
                  binary{group.answers[i]});
  }
  return encode(value::map{{"form", form},
                           {"own", std::move(own)},
                           {"status", inputs.with_status},
                           {"system", std::move(system)}});
}

bool is_kind(char byte) { return std::string_view("cklp").find(byte) != std::string_view::npos; }

std::optional<question_group> read_own(const value::map& from) {
  question_group group;
  for (const auto& [name, answer] : from) {
    const auto* bytes = answer.as<binary>();
    if (!bytes || name.size() < 2 || !is_kind(name.front())) return std::nullopt;
    group.asked.push_back({kind{name.front()}, name.substr(1)});
    group.answers.push_back(bytes->bytes);
  }
  return group;
}

std::optional<question_group> read_system(const std::string& folder, const value& from) {
  const auto* answers = from.find("answers");
  const auto* names = from.find("names");
  const auto* sum = answers ? answers->as<binary>() : nullptr;
  const auto* all = names ? names->as<binary>() : nullptr;
  if (!sum || !all || !folder.starts_with('/')) return std::nullopt;
  const auto read = digest::of_bytes(sum->bytes);
  if (!read) return std::nullopt;
  question_group group;
  group.all = *read;
  for (std::string_view rest = all->bytes; !rest.empty();) {
    const auto end = rest.find('\0');
    if (end == rest.npos || end < 2 || !is_kind(rest.front())) return std::nullopt;
    auto name = folder == "/" ? folder : folder + "/";
    name += rest.substr(1, end - 1);
    group.asked.push_back({kind{rest.front()}, std::move(name)});
    rest.remove_prefix(end + 1);
  }
  return group;
}

// The bytes of `watched_inputs`, whose groups are taken apart one after the other: a result may
// have many of them, and most that no longer hold say so in their first group.
class packed_inputs {
public:
  static std::optional<packed_inputs> decode(std::string_view bytes) {
    auto decoded = decode_value(bytes);
    if (!decoded) return std::nullopt;
    const auto* has_form = decoded->find("form");
    const auto* status = decoded->find("status");
    const auto* number = has_form ? has_form->as<std::int64_t>() : nullptr;
    const auto* with_status = status ? status->as<bool>() : nullptr;
    if (!number || *number != form || !with_status) return std::nullopt;
    return packed_inputs(std::move(*decoded), *with_status);
  }

  bool with_status() const { return with_status_; }

  // Calls `visit` with each folder and its group, until it returns false; the command's own files
  // come first. Returns false if it did, or if the bytes are not of `watched_inputs`.
  template <class Visit>
  bool each(Visit visit) const {
    const auto* own = map_of("own");
    const auto* system = map_of("system");
    if (!own || !system) return false;
    if (!own->empty()) {
      auto group = read_own(*own);
      if (!group || !visit(std::string(own_group), std::move(*group))) return false;
    }
    for (const auto& [folder, packed] : *system) {
      auto group = read_system(folder, packed);
      if (!group || !visit(folder, std::move(*group))) return false;
    }
    return true;
  }

private:
  packed_inputs(value all, bool with_status)
      : all_(std::move(all))
      , with_status_(with_status) {}

  const value::map* map_of(std::string_view name) const {
    const auto* member = all_.find(name);
    return member ? member->as<value::map>() : nullptr;
  }

  value all_;
  bool with_status_;
};

std::optional<recorded_inputs> decode_inputs(std::string_view bytes) {
  const auto packed = packed_inputs::decode(bytes);
  if (!packed) return std::nullopt;
  recorded_inputs inputs;
  inputs.with_status = packed->with_status();
  const auto keep = [&](const std::string& folder, question_group group) {
    return inputs.by_folder.emplace(folder, std::move(group)).second;
  };
  return packed->each(keep) ? std::optional(std::move(inputs)) : std::nullopt;
}

// --- large files --------------------------------------------------------------------------------

constexpr std::int64_t large_bytes = 256 << 10;

std::string content_memo_key(const std::string& path) { return "content of " + path; }

// Programs and libraries are large and hardly change: their content is remembered.
void recall_large(const std::string& path, const input_reader& in) {
  const auto stamp = in.files.stamp(path);
  if (!stamp || stamp->is_directory || stamp->size < large_bytes) return;
  const auto bytes = in.memo.load(content_memo_key(path));
  const auto decoded = decode_value(bytes.value_or(""));
  const auto known = decoded ? read_content(*decoded) : std::nullopt;
  if (known) in.files.trust(path, *known);
}

void remember_large(const std::string& path, const input_reader& in) {
  const auto stamp = in.files.stamp(path);
  if (!stamp || stamp->is_directory || stamp->size < large_bytes) return;
  const auto content = in.files.content(path);
  if (!content || !content->reliable) return;
  const auto bytes = encode(to_value(*content));
  const auto key = content_memo_key(path);
  if (in.memo.load(key) != bytes) in.memo.save(key, bytes);
}

// --- checking -----------------------------------------------------------------------------------

// The same questions have other answers in another folder, and for other files that are made.
std::string memo_key(const digest& inputs, const scratch_view& view) {
  std::string where = view.folder;
  for (const auto& place : view.places)
    where.append(1, '\0').append(place);
  return "inputs " + inputs.hex() + " in " + sha256(where).hex();
}

// The marks of all groups, as they were when everything held.
using known_marks = std::map<std::string, std::string>;

known_marks load_marks(const std::string& key, const input_reader& in) {
  known_marks known;
  const auto bytes = in.memo.load(key);
  const auto decoded = decode_value(bytes.value_or(""));
  const auto* members = decoded ? decoded->as<value::map>() : nullptr;
  if (members)
    for (const auto& [folder, mark] : *members)
      if (const auto* text = mark.as<binary>()) known.emplace(folder, text->bytes);
  return known;
}

void save_marks(const std::string& key, const known_marks& marks, const input_reader& in) {
  value::map members;
  for (const auto& [folder, mark] : marks)
    members.emplace(folder, binary{mark});
  in.memo.save(key, encode(std::move(members)));
}

struct group_mark {
  std::string sum;
  bool is_reliable = true;
};

group_mark mark_of(const question_group& group, const input_answers& from, std::int64_t now_ns) {
  std::string all;
  group_mark result;
  for (const auto& asked : group.asked)
    append_answer(all, asked, from.mark(asked, now_ns, result.is_reliable));
  result.sum = fast_hash_128(all).view(); // compared on this host alone
  return result;
}

// What has changed of a group; empty: nothing.
std::string change_in_group(const std::string& folder, const question_group& group,
                            const input_answers& from, const input_reader& in) {
  std::string all;
  for (std::size_t i = 0; i < group.asked.size(); ++i) {
    const auto& asked = group.asked[i];
    if (asked.what == kind::content) recall_large(from.path(asked), in);
    const auto answer = from.answer(asked);
    if (!answer) return asked.name + " cannot be read";
    if (folder == own_group && *answer != group.answers[i]) {
      const auto& before = group.answers[i];
      if (before == "a") return asked.name + " appeared";
      if (*answer == "a") return asked.name + " is gone";
      return asked.name + " changed";
    }
    if (folder != own_group) append_answer(all, asked, *answer);
  }
  if (folder != own_group && sha256(all) != group.all) return "a file in " + folder + " changed";
  return {};
}

// What a question asked, and its answer if that is known, behind the name.
std::string remark(kind asked, const std::string* answer) {
  const char first = answer && !answer->empty() ? answer->front() : '\0';
  switch (asked) {
  case kind::listing: return " (the names in it)";
  case kind::place: return " (where it is)";
  case kind::link: return first == 's' ? " (where the link leads)" : " (whether it is a link)";
  case kind::content: break;
  }
  if (first == 'a') return " (not there)";
  return first == 'd' ? " (a folder)" : "";
}

} // namespace

bool reads_status(std::string_view program) {
  constexpr std::string_view names[] = {
      "7z",    "[",      "ar",      "bmake",    "bsdtar",  "busybox", "cmake",       "cp",  "cpio",
      "date",  "diff",   "dir",     "dpkg-deb", "du",      "find",    "genisoimage", "git", "gmake",
      "gtar",  "gzip",   "install", "jar",      "ls",      "make",    "mksquashfs",  "mv",  "ninja",
      "pax",   "pigz",   "pr",      "rsync",    "samu",    "star",    "stat",        "tar", "test",
      "touch", "toybox", "unzip",   "vdir",     "xorriso", "zip"};
  // "gcc-ar", "llvm-ar", "x86_64-linux-gnu-ar".
  return program.ends_with("-ar") ||
         std::find(std::begin(names), std::end(names), program) != std::end(names);
}

expected<std::string> watched_inputs(const std::set<file_question>& questions, bool with_status,
                                     const start_of_run& start, const input_reader& in) {
  const input_answers from(in, with_status);
  recorded_inputs inputs;
  inputs.with_status = with_status;
  std::map<std::string, std::string> system_answers;
  for (const auto& asked : questions) {
    const auto at = from.path(asked);
    if (asked.what == kind::content) recall_large(at, in);
    auto answer = from.answer(asked);
    if (!answer) return fail(answer.error());
    if (from.may_have_changed(asked, start))
      return fail(errc::busy, at + " changed while the command ran");
    if (asked.what == kind::content && answer->starts_with('o'))
      return fail(errc::unsupported, at + " is no regular file: what was read of it is unknown");
    const auto folder = group_of(asked.name);
    auto& group = inputs.by_folder[folder];
    group.asked.push_back(asked);
    if (folder == own_group)
      group.answers.push_back(std::move(*answer));
    else
      append_answer(system_answers[folder], asked, *answer);
    if (asked.what == kind::content) remember_large(at, in);
  }
  for (const auto& [folder, answers] : system_answers)
    inputs.by_folder[folder].all = sha256(answers);
  return encode_inputs(inputs);
}

std::optional<std::vector<std::string>> inputs_in_words(std::string_view bytes) {
  const auto inputs = decode_inputs(bytes);
  if (!inputs) return std::nullopt;
  std::vector<std::string> all;
  for (const auto& [folder, group] : inputs->by_folder)
    for (std::size_t i = 0; i < group.asked.size(); ++i) {
      const auto& asked = group.asked[i];
      const auto* const answer = folder == own_group ? &group.answers[i] : nullptr;
      all.push_back(asked.name + remark(asked.what, answer));
    }
  std::stable_partition(all.begin(), all.end(),
                        [](const std::string& name) { return !name.starts_with('/'); });
  return all;
}

std::vector<std::string> files_in(std::string_view bytes, std::string_view folder) {
  const auto inputs = decode_inputs(bytes);
  std::set<std::string> all; // one may be asked about by a relative and by an absolute name
  if (inputs)
    for (const auto& [group_folder, group] : inputs->by_folder)
      for (const auto& asked : group.asked)
        if (asked.what == kind::content) all.insert(path_of(folder, asked.name));
  return {all.begin(), all.end()};
}

bool add_marks(packed_marks& to, std::string_view bytes, const input_reader& in) {
  const auto inputs = decode_inputs(bytes);
  if (!inputs || inputs->with_status) return false;
  const input_answers from(in, false);
  const auto now_ns = file_clock_ns();
  bool is_reliable_now = true;
  for (const auto& [folder, group] : inputs->by_folder)
    for (const auto& asked : group.asked) {
      if (asked.what == kind::place) continue; // the same for a command in the same folder
      to.add(asked.what, from.path(asked), from.mark(asked, now_ns, is_reliable_now));
      if (!is_reliable_now) return false;
    }
  return true;
}

std::optional<std::string> change_in(std::string_view bytes, const digest& hash,
                                     const input_reader& in) {
  const auto inputs = packed_inputs::decode(bytes);
  if (!inputs) return std::nullopt;
  const input_answers from(in, inputs->with_status());
  const auto key = memo_key(hash, in.view);
  auto known = load_marks(key, in);
  const auto now_ns = file_clock_ns();
  bool is_renewed = false;
  std::string change;
  const auto holds = [&](const std::string& folder, const question_group& group) {
    auto mark = mark_of(group, from, now_ns);
    const auto at = known.find(folder);
    if (at != known.end() && at->second == mark.sum) return true;
    change = change_in_group(folder, group, from, in);
    if (!change.empty()) return false;
    if (!mark.is_reliable) return true;
    known[folder] = std::move(mark.sum);
    return is_renewed = true;
  };
  const bool is_same = inputs->each(holds);
  if (!is_same && change.empty()) return std::nullopt;
  if (is_same && is_renewed) save_marks(key, known, in);
  return change;
}

} // namespace hearth::fingerprints
