#include "messages/graph_entry.hpp"

#include "messages/value.hpp"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

tl::unexpected<error> bad_member(std::string_view name) {
  return fail(errc::malformed,
              "a graph entry: '" + std::string(name) + "' is not what it should be");
}

value value_of(const attachment_name& one) {
  return value::array{one.folder, binary{std::string(one.content.view())}};
}

bool take_attachment(const value& v, attachment_name& into) {
  const auto* items = v.as<value::array>();
  if (!items || items->size() != 2) return false;
  const auto* folder = (*items)[0].as<std::string>();
  const auto* bytes = (*items)[1].as<binary>();
  if (!folder || !is_inner_path(*folder) || !bytes) return false;
  const auto content = digest::of_bytes(bytes->bytes);
  if (!content) return false;
  into.folder = *folder;
  into.content = *content;
  return true;
}

bool take_attachments(const value& v, std::vector<attachment_name>& into) {
  const auto* items = v.as<value::array>();
  return items && std::all_of(items->begin(), items->end(), [&](const value& one) {
           return take_attachment(one, into.emplace_back());
         });
}

bool take_counters(const value& v, counter_deltas& into) {
  const auto* members = v.as<value::map>();
  return members && std::all_of(members->begin(), members->end(), [&](const auto& one) {
           const auto* number = one.second.template as<std::int64_t>();
           if (number) into[one.first] = *number;
           return number != nullptr;
         });
}

bool take_documents(const value& v, std::map<std::string, std::string>& into) {
  const auto* members = v.as<value::map>();
  return members && std::all_of(members->begin(), members->end(), [&](const auto& one) {
           const auto* text = one.second.template as<std::string>();
           if (text) into[one.first] = *text;
           return text != nullptr;
         });
}

bool take_text(const value& v, std::string& into) {
  const auto* text = v.as<std::string>();
  if (text) into = *text;
  return text != nullptr;
}

bool take_time(const value& v, std::chrono::nanoseconds& into) {
  const auto* number = v.as<std::int64_t>();
  if (!number || *number < 0) return false;
  into = std::chrono::nanoseconds(*number);
  return true;
}

} // namespace

artifact encode_graph_entry(std::string_view payload, const graph_entry_details& details) {
  value::map members;
  if (!details.guard.empty()) members["guard"] = details.guard;
  if (!details.source.empty()) members["source"] = details.source;
  if (details.time_taken.count() > 0)
    members["time_taken_ns"] = static_cast<std::int64_t>(details.time_taken.count());
  value::map counters;
  for (const auto& [name, by] : details.counters)
    if (by != 0) counters[name] = by;
  if (!counters.empty()) members["counters"] = std::move(counters);
  value::array attachments;
  for (const auto& one : details.attachments)
    attachments.push_back(value_of(one));
  if (!attachments.empty()) members["attachments"] = std::move(attachments);
  if (!details.documents.empty())
    members["documents"] = value::map(details.documents.begin(), details.documents.end());
  return artifact::make(payload, members);
}

expected<graph_entry_details> decode_graph_entry(const artifact& entry) {
  const auto members = entry.metadata();
  if (!members) return fail(members.error());
  graph_entry_details details;
  const auto take = [&](const char* name, auto taker, auto& into) {
    const auto at = members->find(name);
    return at == members->end() || taker(at->second, into);
  };
  if (!take("guard", take_text, details.guard)) return bad_member("guard");
  if (!take("source", take_text, details.source)) return bad_member("source");
  if (!take("time_taken_ns", take_time, details.time_taken)) return bad_member("time_taken_ns");
  if (!take("counters", take_counters, details.counters)) return bad_member("counters");
  if (!take("attachments", take_attachments, details.attachments)) return bad_member("attachments");
  if (!take("documents", take_documents, details.documents)) return bad_member("documents");
  return details;
}

std::chrono::nanoseconds time_taken_of(const artifact& made) {
  std::chrono::nanoseconds time{0};
  const auto members = made.metadata();
  if (!members) return time;
  if (const auto at = members->find("time_taken_ns"); at != members->end())
    take_time(at->second, time);
  return time;
}

} // namespace hearth
