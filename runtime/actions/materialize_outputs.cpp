#include "runtime/actions/action.hpp"
#include "runtime/os/files/pending_file.hpp"
#include "runtime/os/files/plain_file.hpp"

#include <system_error>

namespace hearth {
namespace {

namespace fs = std::filesystem;

expected<void> prepare_place(const fs::path& target) {
  std::error_code failure;
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), failure);
  if (failure)
    return fail(error_of_errno(failure.value(), "cannot make " + target.parent_path().string()));
  return os::check_replaceable(target);
}

expected<os::pending_file> write_aside(const action_output& output, const fs::path& target) {
  if (auto ready = prepare_place(target); !ready) return fail(ready.error());
  auto file = os::pending_file::begin(target, output.executable ? 0777 : 0666);
  if (!file) return file;
  if (auto written = file->write(output.bytes.payload()); !written) return fail(written.error());
  return file;
}

} // namespace

expected<void> materialize_outputs(const action_outcome& outcome, const fs::path& directory,
                                   os::replacement how) {
  std::vector<os::pending_file> files;
  for (const auto& output : outcome.outputs) {
    if (!output.bytes) continue; // a file of an earlier run stays, as it does without us
    auto file = write_aside(output, directory / output.name);
    if (!file) return fail(file.error());
    files.push_back(std::move(*file));
  }
  return os::pending_file::commit_all(files, how);
}

} // namespace hearth
