#include "runtime/fingerprints/machine/machine.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <sys/utsname.h>

namespace hearth::fingerprints {
namespace {

using processor = std::map<std::string, std::string>;

// The fields that name a kind of processor on x86 and ARM, in the order of the output.
constexpr std::array<std::string_view, 9> model_fields = {
    "vendor_id",        "cpu family",  "model",    "model name", "CPU implementer",
    "CPU architecture", "CPU variant", "CPU part", "uarch"};
constexpr std::array<std::string_view, 3> feature_fields = {"flags", "Features", "isa"};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// One map for each paragraph that describes a processor.
std::vector<processor> processors_of(std::string_view cpuinfo) {
  std::vector<processor> all;
  bool in_paragraph = false;
  while (!cpuinfo.empty()) {
    const auto line = cpuinfo.substr(0, cpuinfo.find('\n'));
    cpuinfo.remove_prefix(std::min(cpuinfo.size(), line.size() + 1));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
      in_paragraph = false;
      continue;
    }
    if (!in_paragraph) all.emplace_back();
    in_paragraph = true;
    all.back().insert_or_assign(std::string(trimmed(line.substr(0, colon))),
                                std::string(trimmed(line.substr(colon + 1))));
  }
  std::erase_if(all, [](const processor& p) { return !p.contains("processor"); });
  return all;
}

std::string model_of(const processor& one) {
  std::string text;
  for (const auto field : model_fields)
    if (const auto at = one.find(std::string(field)); at != one.end())
      text += (text.empty() ? "" : ", ") + at->first + " " + at->second;
  return text;
}

std::set<std::string> features_of(const processor& one) {
  std::set<std::string> features;
  for (const auto field : feature_fields)
    if (const auto at = one.find(std::string(field)); at != one.end()) {
      std::istringstream words(at->second);
      features.insert(std::istream_iterator<std::string>(words), {});
    }
  return features;
}

machine look_at_this_machine() {
  utsname name{};
  ::uname(&name);
  std::ifstream file("/proc/cpuinfo");
  const std::string cpuinfo(std::istreambuf_iterator<char>(file), {});
  auto here = machine_of(cpuinfo, name.machine, name.sysname);
  here.gpus = find_accelerators();
  return here;
}

value to_array(const std::vector<std::string>& texts) {
  return value::array(texts.begin(), texts.end());
}

value value_of(const accelerators& gpus) {
  value::map software;
  for (const auto& [name, version] : gpus.software)
    software.emplace(name, version);
  return value::map{{"capabilities", to_array(gpus.capabilities)},
                    {"driver", gpus.driver},
                    {"models", to_array(gpus.models)},
                    {"software", std::move(software)}};
}

} // namespace

value machine::to_value() const {
  value::map all{{"architecture", architecture},
                 {"features", to_array(features)},
                 {"models", to_array(models)},
                 {"system", system}};
  if (!gpus.driver.empty()) all.emplace("gpus", value_of(gpus));
  return all;
}

digest machine::identity() const { return sha256(encode(to_value())); }

machine machine_of(std::string_view cpuinfo, std::string architecture, std::string system) {
  std::set<std::string> models;
  std::optional<std::set<std::string>> common;
  for (const auto& one : processors_of(cpuinfo)) {
    if (auto model = model_of(one); !model.empty()) models.insert(std::move(model));
    const auto features = features_of(one);
    if (!common)
      common = features;
    else
      std::erase_if(*common, [&](const std::string& name) { return !features.contains(name); });
  }
  machine result{std::move(architecture), std::move(system), {}, {}, {}};
  result.models.assign(models.begin(), models.end());
  if (common) result.features.assign(common->begin(), common->end());
  return result;
}

const machine& this_machine() {
  static const machine here = look_at_this_machine();
  return here;
}

} // namespace hearth::fingerprints
