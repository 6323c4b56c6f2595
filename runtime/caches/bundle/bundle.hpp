// Bundles: artifacts carried between machines in one file (docs/bundle-format.md).
//
//   hearth::export_bundle(rt, "warm.bundle");              // all that the store holds
//   hearth::import_bundle(rt, "warm.bundle");              // elsewhere
//
// Any thread, except an actor's. Files are streamed: memory holds two blocks, one artifact and,
// during an import, at most 64 MiB of inserts in flight. `-` is stdin or stdout.
#pragma once

#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/recording.hpp"
#include "messages/visibility.hpp"
#include "storage/bundle/bundle_end.hpp"
#include "storage/bundle/record_head.hpp"
#include "storage/signing/signing.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

class runtime;
namespace storage {
class store;
}

/// Called from time to time with the number of bytes done and the total.
using bundle_progress = std::function<void(std::uint64_t done, std::uint64_t all)>;

struct export_options {
  std::optional<std::string> cache{}; ///< only this named cache, in all its versions
  /// Only these entries, of `cache` (else `default`) in version 0. A missing entry is the error
  /// `not_found`, and nothing is written.
  std::vector<key> keys{};
  storage::signing_keys sign{}; ///< the first key signs; none: not signed
  bundle_progress progress{};
};

struct export_report {
  std::uint64_t records = 0, payload_bytes = 0;
  std::uint64_t damaged = 0; ///< unreadable entries, which are left out
};

/// Writes a bundle of entries of the store. An existing file is replaced when all is written.
/// Errors: `io` without a store; those of writing.
expected<export_report> export_bundle(runtime& from, const std::string& file,
                                      const export_options& options = {});
expected<export_report> export_bundle(storage::store& from, const std::string& file,
                                      const export_options& options);

/// Writes a bundle of the artifacts that a session recorded.
expected<export_report> write_bundle(const recording& session, const std::string& file,
                                     const storage::signing_keys& sign = {});

/// The same as bytes, for a host that carries them itself.
expected<std::string> bundle_bytes(const recording& session,
                                   const storage::signing_keys& sign = {});

/// Stores a record of one of the host's types. Returns whether it is new.
using record_handler =
    std::function<expected<bool>(const storage::record_head& head, const artifact& value)>;

struct import_options {
  /// The bundle must be signed by one of these. None: signatures are not checked.
  storage::signing_keys signed_by{};
  /// The handlers of the host's own types of records.
  std::map<std::string, record_handler, std::less<>> types{};
  bundle_progress progress{};
};

struct import_report {
  /// A set counts as added if the store lacked one of its members.
  std::uint64_t added = 0, existed = 0, payload_bytes = 0;
  /// Records of Hearth's own types (`entry`, `graph`, `tuning`, `plan`), by type.
  std::map<std::string, std::uint64_t, std::less<>> types;
  /// Records of types that neither Hearth nor the host knows, by type: stored for the next export.
  std::map<std::string, std::uint64_t, std::less<>> unknown;
};

/// Verifies the whole bundle, then inserts its records on disk; existing entries stay, and sets are
/// joined with those of the store (docs/architecture.md, "Entries that grow"). Errors:
/// `malformed`, and then nothing was imported; those of the store, with the number of records
/// imported so far.
expected<import_report> import_bundle(runtime& into, const std::string& file,
                                      const import_options& options = {});

/// The same from bytes, which `bundle_bytes` has made or a file had.
expected<import_report> import_bundle_bytes(runtime& into, std::string_view bytes,
                                            const import_options& options = {});

/// The summary of a verified bundle.
struct bundle_summary {
  storage::bundle_end end;
  std::uint64_t payload_bytes = 0;
};

/// Calls `visit` for each record, then checks the end: the visited records are valid only if no
/// error is returned. Errors: as `import_bundle`.
expected<bundle_summary> list_bundle(const std::string& file,
                                     const std::function<void(const storage::record_head&)>& visit,
                                     const storage::signing_keys& signed_by = {});

} // namespace hearth
