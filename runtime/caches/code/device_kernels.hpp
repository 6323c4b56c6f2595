// Device kernels by name: the binary, its name for the driver, and the parameters of its launch. No
// device is needed: binaries are bytes.
//
// Any thread; copies share the cache. A binary is stored under its digest, so that kernels can
// share it, in every tier of the underlying named cache.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/value.hpp"
#include "messages/visibility.hpp"
#include "runtime/handle/cache.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

enum class device_binary : std::uint8_t { cubin, hsaco, spv };
/// "cubin", "hsaco", "spv": also the ending of its files.
std::string_view to_string(device_binary format) noexcept;

/// The format of a device's kernels: of "cuda" cubin, or hsaco where the driver is AMD's
/// (`is_hip`); of "xpu" spv; empty for other devices, whose kernels are no files of their own.
std::optional<device_binary> device_binary_of(std::string_view device, bool is_hip) noexcept;

struct device_kernel {
  device_binary format = device_binary::cubin;
  std::string mangled_name;
  value::map parameters; ///< launch parameters: grid, block, shared memory, ...
  artifact binary;
};

class device_kernels {
public:
  explicit device_kernels(cache entries)
      : entries_(std::move(entries)) {}

  /// Stores a kernel under a name, in place of an earlier one. Errors: `invalid_value` without a
  /// binary; those of `cache`.
  expected<void> save(const std::string& name, const device_kernel& kernel) const;
  /// The kernel of that name; empty when there is none, or its binary is missing. Errors:
  /// `malformed` and `corrupt` for a stored entry that is no kernel; those of `cache`.
  expected<std::optional<device_kernel>> find(const std::string& name) const;
  /// Writes the kernel's binary to `<base>/<hash[1:3]>/<hash>.<format>`, by its content, for a
  /// driver that loads files; an existing file is left alone. Errors: `not_found`, those of `find`
  /// and of writing.
  expected<std::filesystem::path> write_file(const std::string& name,
                                             const std::filesystem::path& base) const;

private:
  cache entries_;
};

} // namespace hearth
