// Reads and writes bundles: files, stdin and stdout. Used by one thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/caches/bundle/bundle.hpp"
#include "runtime/os/files/descriptor.hpp"
#include "runtime/os/files/pending_file.hpp"
#include "runtime/os/files/rereadable_file.hpp"
#include "storage/bundle/bundle_reader.hpp"
#include "storage/bundle/bundle_writer.hpp"

#include <optional>
#include <string>

namespace hearth {

/// The output of a bundle: a file that replaces an older one when it is complete, or stdout ("-")
/// or a device, which is written at once.
class bundle_output {
public:
  /// Errors: those of making a file beside `path`.
  static expected<bundle_output> begin(const std::string& path);
  /// Writes to the output; valid as long as this object.
  storage::byte_sink sink();
  /// Renames the file to its place. Errors: those of syncing and renaming it.
  expected<void> commit();

private:
  std::optional<os::pending_file> file_;
  os::descriptor stream_;
};

/// Reads `file` from its position on, and reports how far it has read to `progress`.
storage::byte_source source_of(os::rereadable_file& file, const bundle_progress& progress = {});

/// Reads the artifact that follows `head`. Errors: `too_large` when memory is short; those of
/// reading.
expected<artifact> read_artifact(storage::bundle_reader& in, const storage::record_head& head);

/// Checks that one of `keys` signed the bundle with this end; without keys nothing is checked.
/// Errors: `malformed`.
expected<void> check_signature(const storage::bundle_end& end, const storage::signing_keys& keys);

} // namespace hearth
