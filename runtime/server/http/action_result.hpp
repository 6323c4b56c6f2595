// The blobs that Bazel's ActionResult names, found in its protobuf bytes without a schema. Pure
// functions, any thread. The format: build/bazel/remote/execution/v2/remote_execution.proto.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

/// Most blobs that one result may name.
inline constexpr std::size_t max_named_blobs = 65'536;

/// The SHA-256 digests, 64 lower-case hexadecimal digits each, of the blobs that a result names:
/// output files, trees and root directories, standard output and standard error. What a tree names
/// is not followed. Errors: `malformed` (not a message, a length beyond its end, a digest that is
/// none), `too_large` (more than `max_named_blobs`).
expected<std::vector<std::string>> blobs_of_result(std::string_view bytes);

} // namespace hearth::server
