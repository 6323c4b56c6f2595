#include "runtime/process/scratch_view.hpp"

#include "actors/ports/programs.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <vector>

namespace hearth::process {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view root_name = "root";

error cannot(const std::string& what, const std::error_code& why) {
  return error_of_errno(why.value(), what);
}

bool is_within(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

class builder {
public:
  builder(const fs::path& scratch, const scratch_view& view)
      : root_(scratch / root_name)
      , view_(view)
      , places_(view.places.begin(), view.places.end()) {}

  expected<void> build() {
    add_real(view_.folder);
    for (const auto& place : view_.places)
      add_real(fs::path(place).parent_path());
    if (!view_.shows_all)
      for (const auto& shown : view_.shown)
        add_real(fs::path(shown).parent_path());
    for (const auto& folder : real_)
      if (auto made = make_folder(folder); !made) return made;
    return view_.shows_all ? link_around() : link_shown();
  }

private:
  fs::path inside(const fs::path& path) const { return root_ / path.relative_path(); }

  // Makes a folder, and all folders above it, real folders in the scratch directory, not links.
  void add_real(const fs::path& folder) {
    for (auto at = folder; real_.insert(at).second && at != at.root_path();)
      at = at.parent_path();
  }

  expected<void> make_folder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(inside(folder), failure);
    if (failure) return fail(cannot("cannot make " + inside(folder).string(), failure));
    return {};
  }

  bool is_above(const fs::path& folder) const {
    return folder != view_.folder && is_within(view_.folder, folder);
  }

  expected<void> link_around() {
    for (const auto& folder : real_)
      if (auto linked = link_entries(folder); !linked) return linked;
    return {};
  }

  expected<void> link_entries(const fs::path& folder) {
    std::error_code failure;
    std::vector<fs::path> entries;
    for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
         at.increment(failure))
      entries.push_back(at->path());
    // The entries of a folder that cannot be listed are hidden from the program.
    if (failure || (is_above(folder) && entries.size() > max_entries_above)) return {};
    for (const auto& entry : entries)
      if (auto shown = show(entry); !shown) return shown;
    return {};
  }

  // If files are made inside a shown folder, its entries are linked one by one.
  expected<void> link_shown() {
    for (const auto& path : view_.shown) {
      if (auto shown = show(path); !shown) return shown;
      for (const auto& folder : real_)
        if (is_within(folder, path))
          if (auto linked = link_entries(folder); !linked) return linked;
    }
    return {};
  }

  expected<void> show(const fs::path& path) {
    if (real_.contains(path)) return {};
    if (places_.contains(path.string())) return copy_if_shown(path);
    std::error_code failure;
    fs::create_symlink(path, inside(path), failure);
    if (failure && failure != std::errc::file_exists)
      return fail(cannot("cannot link " + inside(path).string(), failure));
    return {};
  }

  // A program that changes a file in place gets a copy, so that the host's file stays unchanged.
  expected<void> copy_if_shown(const fs::path& path) {
    if (std::find(view_.shown.begin(), view_.shown.end(), path.string()) == view_.shown.end())
      return {};
    std::error_code failure;
    fs::copy_file(path, inside(path), fs::copy_options::overwrite_existing, failure);
    if (failure) return fail(cannot("cannot copy " + path.string(), failure));
    return {};
  }

  fs::path root_;
  const scratch_view& view_;
  std::set<std::string> places_;
  std::set<fs::path> real_;
};

} // namespace

std::optional<folder_cover> cover_of(const fs::path& scratch, const scratch_view& view) {
  folder_cover cover{view.folder,
                     (scratch / actors::changes_folder).string(),
                     scratch / "kernel",
                     scratch / "tmp",
                     {},
                     {}};
  if (is_within(scratch, view.folder)) return std::nullopt;
  for (const auto& place : view.places) {
    const auto folder = fs::path(place).parent_path();
    std::error_code failure;
    if (!is_within(folder, view.folder) || fs::weakly_canonical(folder, failure) != folder ||
        failure)
      return std::nullopt;
    cover.folders.push_back(folder.string());
    // A file that is shown is one that the program changes.
    if (std::find(view.shown.begin(), view.shown.end(), place) == view.shown.end())
      cover.hidden.push_back(place);
  }
  return cover;
}

expected<std::string> build_view(const fs::path& scratch, const scratch_view& view) {
  if (auto built = builder(scratch, view).build(); !built) return fail(built.error());
  return std::string(root_name) + view.folder;
}

} // namespace hearth::process
