#include "runtime/cli/io/entry_origin.hpp"

#include "messages/autotune/record.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/io/output.hpp"
#include "runtime/fingerprints/kept_details.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace hearth::cli {
namespace {

template <class T>
const T* member_of(const value::map& all, std::string_view name) {
  const auto at = all.find(std::string(name));
  return at == all.end() ? nullptr : at->second.as<T>();
}

std::string result_text(const value::map& metadata, std::int64_t status) {
  const auto* outputs = member_of<value::array>(metadata, "outputs");
  const auto count = outputs ? outputs->size() : 0;
  return fmt::format("status {}, {} output{}", status, count, count == 1 ? "" : "s");
}

// What a tuned kernel, an action's result and a graph have in their metadata.
std::string what_of(const value::map& metadata) {
  if (const auto* config = member_of<std::string>(metadata, "config_text")) return *config;
  if (member_of<std::int64_t>(metadata, "action"))
    if (const auto* status = member_of<std::int64_t>(metadata, "status"))
      return result_text(metadata, *status);
  const auto* guard = member_of<std::string>(metadata, "guard");
  return guard && !guard->empty() ? "guard " + *guard : std::string();
}

std::string toolchain_of(const value::map& metadata) {
  const auto details = fingerprints::kept_details(metadata);
  const auto* members = details && *details ? (*details)->as<key_field::map>() : nullptr;
  if (!members) return {};
  for (const auto* name : {"toolchain", "compiler"}) {
    const auto at = members->find(name);
    if (at == members->end()) continue;
    if (const auto* text = at->second.as<std::string>()) return *text;
  }
  return {};
}

std::string configuration_text(const autotune_record& record) {
  std::string text;
  for (const auto& [name, argument] : record.config.arguments)
    text +=
        (text.empty() ? "" : " ") + name + "=" +
        cli::display_json(argument).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text;
}

} // namespace

entry_origin origin_of(std::string_view cache, const artifact& entry) {
  entry_origin origin;
  if (cache.starts_with("autotune"))
    if (const auto record = decode_record(entry.payload()))
      return {record->time_taken_ns, record->label, configuration_text(*record), {}, {}};
  const auto metadata = entry.metadata();
  if (!metadata) return origin;
  origin.time_taken_ns = time_taken(entry).count();
  origin.what = what_of(*metadata);
  origin.toolchain = toolchain_of(*metadata);
  if (const auto* documents = member_of<value::map>(*metadata, "documents"))
    for (const auto& [name, text] : *documents)
      if (const auto* content = text.as<std::string>()) origin.documents[name] = *content;
  return origin;
}

std::string text_of(const entry_origin& origin) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  if (origin.time_taken_ns > 0) add(human_time(origin.time_taken_ns));
  add(printable(origin.kernel));
  add(printable(origin.what));
  add(printable(origin.toolchain));
  return text.empty() ? "-" : text;
}

nlohmann::json json_of(const entry_origin& origin) {
  if (!origin.is_known()) return nullptr;
  auto object = nlohmann::json::object();
  if (origin.time_taken_ns > 0) object["time_taken_ns"] = origin.time_taken_ns;
  if (!origin.kernel.empty()) object["kernel"] = origin.kernel;
  if (!origin.what.empty()) object["what"] = origin.what;
  if (!origin.toolchain.empty()) object["toolchain"] = origin.toolchain;
  if (!origin.documents.empty()) object["documents"] = origin.documents;
  return object;
}

} // namespace hearth::cli
