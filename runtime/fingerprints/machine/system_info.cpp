#include "runtime/fingerprints/machine/system_info.hpp"

#include "runtime/fingerprints/contents.hpp"
#include "runtime/fingerprints/machine/machine.hpp"
#include "runtime/os/find_program.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sys/utsname.h>

namespace hearth::fingerprints {
namespace {

namespace fs = std::filesystem;

constexpr std::array compiler_names{"cc",  "c++", "gcc",  "g++",   "clang", "clang++",
                                    "ifx", "icx", "nvcc", "hipcc", "ptxas", "gfortran"};

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string_view trimmed_value(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\"";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The value of the first line "name<separator>value"; empty without one.
std::string field_of(std::string_view text, std::string_view name, char separator) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto split = line.find(separator);
    if (split != std::string_view::npos && trimmed_value(line.substr(0, split)) == name)
      return std::string(trimmed_value(line.substr(split + 1)));
  }
  return {};
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure))
    all.push_back(at->path());
  std::sort(all.begin(), all.end());
  return all;
}

key_field compilers_found() {
  key_field::map found;
  for (const char* name : compiler_names)
    if (const auto path = os::find_program(name, os::search_path(), ""))
      if (const auto content = field_of_file(*path)) found.emplace(name, *content);
  return found;
}

void add_nvidia(key_field::map& to, const fs::path& root) {
  const auto driver = field_of(text_of(root / "proc/driver/nvidia/version"), "NVRM version", ':');
  if (driver.empty()) return;
  key_field::list models;
  for (const auto& one : folders_in(root / "proc/driver/nvidia/gpus"))
    models.emplace_back(field_of(text_of(one / "information"), "Model", ':'));
  to.emplace("gpu_driver", "nvidia " + driver);
  to.emplace("gpus", std::move(models));
}

void add_amd(key_field::map& to, const fs::path& root) {
  const auto driver = std::string(trimmed_value(text_of(root / "sys/module/amdgpu/version")));
  key_field::list targets;
  for (const auto& one : folders_in(root / "sys/class/kfd/kfd/topology/nodes")) {
    const auto target = field_of(text_of(one / "properties"), "gfx_target_version", ' ');
    if (!target.empty() && target != "0") targets.emplace_back("gfx " + target);
  }
  if (targets.empty()) return;
  to.emplace("gpu_driver", "amdgpu " + driver);
  to.emplace("gpus", std::move(targets));
}

key_field set_of_texts(const std::vector<std::string>& texts) {
  return key_field::set_of(key_field::list(texts.begin(), texts.end()));
}

} // namespace

key_field system_details(const fs::path& root) {
  struct utsname names {};
  ::uname(&names);
  const auto host =
      machine_of(text_of(root / "proc/cpuinfo"), static_cast<const char*>(names.machine),
                 static_cast<const char*>(names.sysname));
  const auto release = text_of(root / "etc/os-release");
  key_field::map all{
      {"platform", host.system},
      {"machine", host.architecture},
      {"os", field_of(release, "ID", '=') + " " + field_of(release, "VERSION_ID", '=')},
      {"cpu", set_of_texts(host.models)},
      {"isa", set_of_texts(host.features)},
      {"compilers", compilers_found()},
  };
  add_nvidia(all, root);
  if (!all.contains("gpus")) add_amd(all, root);
  return all;
}

const key_field& system_info() {
  static const auto known = system_details();
  return known;
}

const digest& system_key() {
  static const auto known = sha256(encode(system_info()));
  return known;
}

} // namespace hearth::fingerprints
