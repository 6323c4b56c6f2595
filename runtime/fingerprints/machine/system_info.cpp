#include "runtime/fingerprints/machine/system_info.hpp"

#include "runtime/fingerprints/contents.hpp"
#include "runtime/fingerprints/machine/accelerators.hpp"
#include "runtime/fingerprints/machine/machine.hpp"
#include "runtime/fingerprints/machine/property_text.hpp"
#include "runtime/os/find_program.hpp"

#include <array>
#include <sys/utsname.h>

namespace hearth::fingerprints {
namespace {

namespace fs = std::filesystem;

constexpr std::array compiler_names{"cc",  "c++", "gcc",  "g++",   "clang", "clang++",
                                    "ifx", "icx", "nvcc", "hipcc", "ptxas", "gfortran"};

key_field compilers_found() {
  key_field::map found;
  for (const char* name : compiler_names)
    if (const auto path = os::find_program(name, os::search_path(), ""))
      if (const auto content = field_of_file(*path)) found.emplace(name, *content);
  return found;
}

key_field list_of(const std::vector<std::string>& texts) {
  return key_field::list(texts.begin(), texts.end());
}

void add_gpus(key_field::map& to, const accelerators& found) {
  if (found.driver.empty()) return;
  to.emplace("gpu_driver", found.driver);
  to.emplace("gpus", list_of(found.models));
  to.emplace("compute_capability", list_of(found.capabilities));
  key_field::map software;
  for (const auto& [name, version] : found.software)
    software.emplace(name, version);
  to.emplace("gpu_software", std::move(software));
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
  add_gpus(all, find_accelerators(root));
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
