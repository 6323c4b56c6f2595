#include "runtime/fingerprints/machine/accelerators.hpp"

#include "runtime/fingerprints/machine/property_text.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace hearth::fingerprints {
namespace {

namespace fs = std::filesystem;

// The number of the chip of an NVIDIA GPU, whose folder is named by its place on the bus.
unsigned device_at(const fs::path& root, const fs::path& place) {
  const auto text = text_of(root / "sys/bus/pci/devices" / place / "device");
  const auto digits = trimmed_value(text); // "0x2330"
  unsigned number = 0;
  if (digits.starts_with("0x"))
    std::from_chars(digits.data() + 2, digits.data() + digits.size(), number, 16);
  return number;
}

void add_nvidia(accelerators& to, const fs::path& root) {
  const auto driver = field_of(text_of(root / "proc/driver/nvidia/version"), "NVRM version", ':');
  if (driver.empty()) return;
  to.driver = "nvidia " + driver;
  for (const auto& one : folders_in(root / "proc/driver/nvidia/gpus")) {
    to.models.push_back(field_of(text_of(one / "information"), "Model", ':'));
    to.capabilities.push_back(nvidia_capability(device_at(root, one.filename())));
  }
}

void add_amd(accelerators& to, const fs::path& root) {
  for (const auto& one : folders_in(root / "sys/class/kfd/kfd/topology/nodes")) {
    const auto target = field_of(text_of(one / "properties"), "gfx_target_version", ' ');
    if (target.empty() || target == "0") continue;
    to.models.push_back("gfx " + target);
    to.capabilities.push_back(target);
  }
  if (to.models.empty()) return;
  to.driver = "amdgpu " + std::string(trimmed_value(text_of(root / "sys/module/amdgpu/version")));
}

// The version of a package of Python's, from the folder `NAME-VERSION.dist-info` in a folder of
// packages; the highest of several.
std::string package_version(const fs::path& packages, std::string_view name) {
  std::string found;
  const auto start = std::string(name) + "-";
  constexpr std::string_view end = ".dist-info";
  for (const auto& one : folders_in(packages)) {
    const auto folder = one.filename().string();
    if (folder.starts_with(start) && folder.ends_with(end))
      found =
          std::max(found, folder.substr(start.size(), folder.size() - start.size() - end.size()));
  }
  return found;
}

std::string triton_version(const fs::path& root) {
  std::string found;
  for (const auto* libraries : {"usr/lib", "usr/local/lib"})
    for (const auto& python : folders_in(root / libraries)) {
      if (!python.filename().string().starts_with("python3")) continue;
      for (const auto* packages : {"dist-packages", "site-packages"})
        found = std::max(found, package_version(python / packages, "triton"));
    }
  return found;
}

// The value of "version" of the member "cuda" in CUDA's version.json, which is written by a
// program: the first version in the file after the member's name.
std::string cuda_version(const fs::path& root) {
  const auto text = text_of(root / "usr/local/cuda/version.json");
  constexpr std::string_view member = "\"version\"";
  auto at = text.find("\"cuda\"");
  if (at != text.npos) at = text.find(member, at);
  if (at == text.npos) return {};
  const auto begin = text.find('"', at + member.size());
  const auto end = begin == text.npos ? text.npos : text.find('"', begin + 1);
  return end == text.npos ? std::string{} : text.substr(begin + 1, end - begin - 1);
}

} // namespace

std::string nvidia_capability(unsigned device) noexcept {
  struct chips {
    unsigned first, last;
    const char* capability;
  };
  // Volta, Turing, Ampere, Hopper, Ada, Blackwell, by NVIDIA's list of PCI numbers.
  constexpr chips known[] = {{0x1d81, 0x1dff, "7.0"},  {0x1e02, 0x1fff, "7.5"},
                             {0x20b0, 0x20ff, "8.0"},  {0x2182, 0x21ff, "7.5"},
                             {0x2203, 0x22ff, "8.6"},  {0x2302, 0x23ff, "9.0"},
                             {0x2414, 0x25ff, "8.6"},  {0x2684, 0x28ff, "8.9"},
                             {0x2901, 0x29ff, "10.0"}, {0x2b85, 0x2dff, "12.0"}};
  for (const auto& one : known)
    if (device >= one.first && device <= one.last) return one.capability;
  return {};
}

accelerators find_accelerators(const fs::path& root) {
  accelerators all;
  add_nvidia(all, root);
  if (all.models.empty()) add_amd(all, root);
  if (all.driver.empty()) return {};
  const auto add = [&](const char* name, std::string version) {
    if (!version.empty()) all.software.emplace(name, std::move(version));
  };
  add("cuda", cuda_version(root));
  add("hip", std::string(trimmed_value(text_of(root / "opt/rocm/.info/version"))));
  add("triton", triton_version(root));
  return all;
}

} // namespace hearth::fingerprints
