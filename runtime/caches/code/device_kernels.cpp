#include "runtime/caches/code/device_kernels.hpp"

#include "messages/digest.hpp"
#include "runtime/fingerprints/code_files.hpp"
#include "runtime/handle/replace_entry.hpp"

#include <array>

namespace hearth {
namespace {

constexpr std::array formats{device_binary::cubin, device_binary::hsaco, device_binary::spv};

std::optional<device_binary> format_named(std::string_view name) {
  for (const auto format : formats)
    if (to_string(format) == name) return format;
  return std::nullopt;
}

std::string content_digest(const artifact& binary) {
  return std::string(sha256(binary.payload()).view());
}

key name_key(const std::string& name) { return key::tuple({"kernel", name}); }
key binary_key(std::string_view digest) { return key::tuple({"binary", key::bytes(digest)}); }

artifact encode_kernel(const device_kernel& kernel, const std::string& digest) {
  return artifact::make(encode(value{value::map{{"format", to_string(kernel.format)},
                                                {"mangled_name", kernel.mangled_name},
                                                {"parameters", kernel.parameters},
                                                {"binary", binary{digest}}}}));
}

// Decodes all fields but the binary, and returns the digest of the binary.
expected<std::string> decode_kernel(const artifact& kept, device_kernel& into) {
  const auto decoded = decode_value(kept.payload());
  if (!decoded) return fail(decoded.error().within("device kernel"));
  const auto* format = decoded->find("format");
  const auto* name = decoded->find("mangled_name");
  const auto* parameters = decoded->find("parameters");
  const auto* digest = decoded->find("binary");
  const bool whole = format && format->as<std::string>() && name && name->as<std::string>() &&
                     parameters && parameters->as<value::map>() && digest && digest->as<binary>();
  const auto known = whole ? format_named(*format->as<std::string>()) : std::nullopt;
  if (!known) return fail(errc::malformed, "device kernel: a field is missing or unknown");
  into.format = *known;
  into.mangled_name = *name->as<std::string>();
  into.parameters = *parameters->as<value::map>();
  return digest->as<binary>()->bytes;
}

} // namespace

std::optional<device_binary> device_binary_of(std::string_view device, bool is_hip) noexcept {
  if (device == "cuda") return is_hip ? device_binary::hsaco : device_binary::cubin;
  if (device == "xpu") return device_binary::spv;
  return std::nullopt;
}

std::string_view to_string(device_binary format) noexcept {
  switch (format) {
  case device_binary::cubin: return "cubin";
  case device_binary::hsaco: return "hsaco";
  case device_binary::spv: return "spv";
  }
  return "unknown";
}

expected<void> device_kernels::save(const std::string& name, const device_kernel& kernel) const {
  if (!kernel.binary) return fail(errc::invalid_value, "a kernel '" + name + "' without a binary");
  const auto digest = content_digest(kernel.binary);
  // The binary is stored first, so that a name never leads to a missing one.
  if (auto kept = entries_.insert(binary_key(digest), kernel.binary); !kept)
    return fail(kept.error());
  const auto named = replace_entry(entries_, name_key(name), encode_kernel(kernel, digest));
  if (!named) return fail(named.error());
  return {};
}

expected<std::optional<device_kernel>> device_kernels::find(const std::string& name) const {
  const auto named = entries_.get(name_key(name));
  if (!named) return fail(named.error());
  if (!named->hit()) return std::nullopt;
  device_kernel kernel;
  const auto digest = decode_kernel(named->value, kernel);
  if (!digest) return fail(digest.error());
  const auto binary = entries_.get(binary_key(*digest));
  if (!binary) return fail(binary.error());
  if (!binary->hit()) return std::nullopt;
  if (content_digest(binary->value) != *digest)
    return fail(errc::corrupt, "the binary of kernel '" + name + "' is not the one that was kept");
  kernel.binary = binary->value;
  return kernel;
}

expected<std::filesystem::path>
device_kernels::write_file(const std::string& name, const std::filesystem::path& base) const {
  const auto kernel = find(name);
  if (!kernel) return fail(kernel.error());
  if (!*kernel) return fail(errc::not_found, "there is no kernel '" + name + "'");
  const auto type = to_string((*kernel)->format);
  const auto written = fingerprints::write_code(base, (*kernel)->binary.payload(), type, type);
  if (!written) return fail(written.error());
  return written->path;
}

} // namespace hearth
