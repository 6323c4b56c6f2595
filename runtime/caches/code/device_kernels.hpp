// Kernels of devices by name: the binary, the name that the driver knows it by, and the parameters
// of its launch. Nothing here needs a device: binaries are bytes.
//
// Any thread; copies share the cache. A binary is kept under its content, so that kernels share
// one, in every tier of the named cache that this is made over.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/value.hpp"
#include "runtime/handle/cache.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hearth {

enum class device_binary : std::uint8_t { cubin, hsaco, spv };
/// "cubin", ...: the ending of its files, too.
std::string_view to_string(device_binary format) noexcept;

struct device_kernel {
  device_binary format = device_binary::cubin;
  std::string mangled_name;
  value::map parameters; ///< of the launch: grid, block, shared memory, ...
  artifact binary;
};

class device_kernels {
public:
  explicit device_kernels(cache entries)
      : entries_(std::move(entries)) {}

  /// Keeps a kernel under a name; what had that name is replaced. Errors: `invalid_value` without a
  /// binary; those of `cache`.
  expected<void> save(const std::string& name, const device_kernel& kernel) const;
  /// The kernel of that name. Nothing when there is none, or its binary is gone. Errors:
  /// `malformed` and `corrupt`, what is kept is no kernel; those of `cache`.
  expected<std::optional<device_kernel>> find(const std::string& name) const;
  /// Writes the kernel's binary to `<base>/<hash[1:3]>/<hash>.<format>`, by its content, for a
  /// driver that loads files; a file that is there is left alone. Errors: `not_found`, as `find`,
  /// and those of writing.
  expected<std::filesystem::path> write_file(const std::string& name,
                                             const std::filesystem::path& base) const;

private:
  cache entries_;
};

} // namespace hearth
