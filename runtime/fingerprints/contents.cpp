#include "runtime/fingerprints/contents.hpp"

#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/os/in_parallel.hpp"

#include <algorithm>
#include <thread>

namespace hearth::fingerprints {
namespace {

namespace fs = std::filesystem;

bool is_wanted(const fs::directory_entry& entry, const std::vector<std::string>& suffixes) {
  std::error_code failure;
  if (!entry.is_regular_file(failure)) return false;
  const auto name = entry.path().filename().string();
  return suffixes.empty() || std::any_of(suffixes.begin(), suffixes.end(), [&](const auto& suffix) {
           return name.ends_with(suffix);
         });
}

expected<std::vector<fs::path>> files_below(const fs::path& folder,
                                            const std::vector<std::string>& suffixes) {
  std::vector<fs::path> paths;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (!is_wanted(*at, suffixes)) continue;
    if (paths.size() == max_tree_files)
      return fail(errc::too_large, folder.string() + " holds more than " +
                                       std::to_string(max_tree_files) + " files");
    paths.push_back(at->path());
  }
  if (failure) return fail(error_of_errno(failure.value(), "cannot list " + folder.string()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The number of threads: one per core, but at most one per `worth_a_thread` files, plus one.
std::size_t threads_for(std::size_t files) {
  constexpr std::size_t worth_a_thread = 16;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::min(cores, 1 + files / worth_a_thread);
}

} // namespace

expected<file_field> field_of_file(const fs::path& path) {
  const auto known = file_view().content(path.string());
  if (!known) return fail(known.error());
  return file_field{known->content, static_cast<std::uint64_t>(known->stamp.size)};
}

expected<tree_field> field_of_tree(const fs::path& folder,
                                   const std::vector<std::string>& suffixes) {
  const auto paths = files_below(folder, suffixes);
  if (!paths) return fail(paths.error());
  std::vector<expected<file_field>> contents(paths->size());
  os::in_parallel(paths->size(), threads_for(paths->size()),
                  [&](std::size_t i) { contents[i] = field_of_file((*paths)[i]); });
  tree_field tree;
  for (std::size_t i = 0; i < paths->size(); ++i) {
    if (!contents[i]) return fail(contents[i].error());
    tree.files.emplace((*paths)[i].lexically_relative(folder).generic_string(), *contents[i]);
  }
  return tree;
}

} // namespace hearth::fingerprints
