// Bundles: artifacts carried between machines in one file (docs/bundle-format.md).
//
//   hearth::export_bundle(rt, "warm.bundle");              // all that the store holds
//   hearth::import_bundle(rt, "warm.bundle");              // elsewhere
//
// Any thread; not from an actor. Files are streamed: what is held is two blocks, one artifact, and,
// of an import, at most 64 MiB that are on their way to the store. `-` is stdin or stdout.
#pragma once

#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/recording.hpp"
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

namespace hearth {

class runtime;
namespace storage {
class store;
}

/// Told now and then how many bytes of how many are done.
using bundle_progress = std::function<void(std::uint64_t done, std::uint64_t all)>;

struct export_options {
  std::optional<std::string> cache{}; ///< this named cache alone, in all its versions
  /// These entries alone, of `cache` (else `default`) in version 0. One that is not there is an
  /// error, `not_found`, and then nothing is written.
  std::vector<key> keys{};
  storage::signing_keys sign{}; ///< with the first of these; none: not signed
  bundle_progress progress{};
};

struct export_report {
  std::uint64_t records = 0, payload_bytes = 0;
  std::uint64_t damaged = 0; ///< entries that could not be read: left out
};

/// Writes a bundle of entries of the store. An existing file is replaced when all is written.
/// Errors: `io` without a store; those of writing.
expected<export_report> export_bundle(runtime& from, const std::string& file,
                                      const export_options& options = {});
expected<export_report> export_bundle(storage::store& from, const std::string& file,
                                      const export_options& options);

/// Writes a bundle of what a session recorded.
expected<export_report> write_bundle(const recording& session, const std::string& file,
                                     const storage::signing_keys& sign = {});

/// Takes a record of a type of the host's; whether it is new.
using record_handler =
    std::function<expected<bool>(const storage::record_head& head, const artifact& value)>;

struct import_options {
  /// The bundle must be signed by one of these. None: signatures are not looked at.
  storage::signing_keys signed_by{};
  /// What the host does with records of its own types.
  std::map<std::string, record_handler, std::less<>> types{};
  bundle_progress progress{};
};

struct import_report {
  std::uint64_t added = 0, existed = 0, payload_bytes = 0;
  /// Records of types that neither Hearth nor the host knows, by type: kept for the next export.
  std::map<std::string, std::uint64_t, std::less<>> unknown;
};

/// Verifies the whole bundle, then inserts its records on disk; what is there already stays.
/// Errors: `malformed`, and then nothing was imported; those of the store, with what was imported
/// before.
expected<import_report> import_bundle(runtime& into, const std::string& file,
                                      const import_options& options = {});

/// What a verified bundle holds, without its payloads.
struct bundle_summary {
  storage::bundle_end end;
  std::uint64_t payload_bytes = 0;
};

/// Calls `visit` for each record, then checks the end: what was visited counts only when there is
/// no error. Errors: as `import_bundle`.
expected<bundle_summary> list_bundle(const std::string& file,
                                     const std::function<void(const storage::record_head&)>& visit,
                                     const storage::signing_keys& signed_by = {});

} // namespace hearth
