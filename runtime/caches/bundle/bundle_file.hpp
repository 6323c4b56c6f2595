// Where bundles are written to and read from: files, stdin and stdout. Used by one thread.
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

/// A file that is replaced when it is whole; stdout and devices are written as it comes.
class bundle_output {
public:
  static expected<bundle_output> begin(const std::string& path);
  storage::byte_sink sink();
  expected<void> commit();

private:
  std::optional<pending_file> file_;
  descriptor stream_;
};

/// Reads `file` from where it stands, and tells how far that is.
storage::byte_source source_of(rereadable_file& file, const bundle_progress& progress = {});

/// The artifact whose head came last. Errors: `too_large` when memory is short; those of reading.
expected<artifact> read_artifact(storage::bundle_reader& in, const storage::record_head& head);

/// Whether the bundle that ends so was signed by one of `keys`; without keys it need not be.
expected<void> check_signature(const storage::bundle_end& end, const storage::signing_keys& keys);

} // namespace hearth
