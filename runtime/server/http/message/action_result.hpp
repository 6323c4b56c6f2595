// The blobs that Bazel's ActionResult names, found in its protobuf bytes without a schema. Pure
// functions, any thread. The format: build/bazel/remote/execution/v2/remote_execution.proto.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

/// Most blobs that one message may name.
inline constexpr std::size_t max_named_blobs = 65'536;

struct named_blob {
  std::string digest;   ///< SHA-256, 64 lower-case hexadecimal digits
  bool is_tree = false; ///< a Tree, which names blobs itself
};

/// The blobs that a result names: output files, trees and root directories, standard output and
/// standard error. Errors: `malformed` (not a message, a length beyond its end, a digest that is
/// none), `too_large` (more than `max_named_blobs`).
expected<std::vector<named_blob>> blobs_of_result(std::string_view bytes);
/// The files that a Tree names: an output folder with all below it. The same errors.
expected<std::vector<named_blob>> blobs_of_tree(std::string_view bytes);

} // namespace hearth::server
