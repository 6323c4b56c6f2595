#include "messages/action.hpp"

#include "messages/hash.hpp"
#include "messages/replace_all.hpp"
#include "messages/set_kind.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <tuple>

namespace hearth {
namespace {

constexpr std::int64_t result_format = 1;

template <class T>
const T* member(const value::map& of, const std::string& name) {
  const auto at = of.find(name);
  return at == of.end() ? nullptr : at->second.as<T>();
}

tl::unexpected<error> no_result(const char* what) {
  return fail(errc::malformed, std::string("a kept action without ") + what);
}

// Takes parts of given sizes from the front of the payload.
class part_reader {
public:
  explicit part_reader(std::string_view payload)
      : left_(payload) {}

  bool take(std::int64_t bytes, std::string_view& part) {
    if (bytes < 0 || static_cast<std::uint64_t>(bytes) > left_.size()) return false;
    part = left_.substr(0, static_cast<std::size_t>(bytes));
    left_.remove_prefix(part.size());
    return true;
  }
  bool is_at_end() const { return left_.empty(); }

private:
  std::string_view left_;
};

bool read_outputs(const value::array& sizes, const value::array& modes, part_reader& parts,
                  action_result& into) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto* executable = modes[i].as<bool>();
    if (!executable) return false;
    into.executable.push_back(*executable);
    if (sizes[i].is_nil()) {
      into.outputs.emplace_back();
      continue;
    }
    const auto* size = sizes[i].as<std::int64_t>();
    std::string_view bytes;
    if (!size || !parts.take(*size, bytes)) return false;
    into.outputs.push_back(artifact::make(bytes));
  }
  return true;
}

value::map metadata_of(const action_result& result) {
  value::array sizes, modes;
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    const auto& output = result.outputs[i];
    sizes.push_back(output ? value(static_cast<std::int64_t>(output.payload().size())) : value());
    modes.emplace_back(i < result.executable.size() && result.executable[i]);
  }
  return {{"action", result_format},
          {"executable", std::move(modes)},
          {"outputs", std::move(sizes)},
          {"status", result.process.exit_status},
          {"stderr", static_cast<std::int64_t>(result.process.errors.size())},
          {"stdout", static_cast<std::int64_t>(result.process.output.size())},
          {"time_taken_ns", result.process.wall_ns}};
}

// Replaces each `prefix` + NAME + "}", for example "{in:NAME}", by the path of NAME.
void expand_names(std::string& argument, std::string_view prefix, const std::string& directory) {
  for (auto at = argument.find(prefix); at != std::string::npos; at = argument.find(prefix, at)) {
    const auto name_at = at + prefix.size();
    const auto end = argument.find('}', name_at);
    if (end == std::string::npos) return;
    const auto path = directory + "/" + argument.substr(name_at, end - name_at);
    argument.replace(at, end + 1 - at, path);
    at += path.size();
  }
}

} // namespace

bool discovers(const action_request& request) {
  return request.process.watch != watching::none || !request.dependency_file.empty();
}

std::string expand_placeholders(std::string argument, const std::string& directory) {
  replace_all(argument, "{directory}", directory);
  expand_names(argument, "{in:", directory);
  expand_names(argument, "{out:", directory);
  return argument;
}

artifact encode_result(const action_result& result) {
  std::string payload = result.process.output + result.process.errors;
  for (const auto& output : result.outputs)
    if (output) payload += output.payload();
  return artifact::make(payload, metadata_of(result));
}

expected<action_result> decode_result(const artifact& entry) {
  const auto metadata = entry.metadata();
  if (!metadata) return fail(metadata.error());
  const auto* format = member<std::int64_t>(*metadata, "action");
  if (!format || *format != result_format) return no_result("a format that is known");
  const auto* status = member<std::int64_t>(*metadata, "status");
  const auto* out = member<std::int64_t>(*metadata, "stdout");
  const auto* err = member<std::int64_t>(*metadata, "stderr");
  const auto* time = member<std::int64_t>(*metadata, "time_taken_ns");
  const auto* sizes = member<value::array>(*metadata, "outputs");
  const auto* modes = member<value::array>(*metadata, "executable");
  if (!status || !out || !err || !time || !sizes || !modes || sizes->size() != modes->size())
    return no_result("all of its members");
  action_result result;
  part_reader parts(entry.payload());
  std::string_view output, errors;
  if (!parts.take(*out, output) || !parts.take(*err, errors) ||
      !read_outputs(*sizes, *modes, parts, result) || !parts.is_at_end())
    return no_result("the bytes that it speaks of");
  result.process.exit_status = static_cast<int>(*status);
  result.process.wall_ns = *time;
  result.process.output = output;
  result.process.errors = errors;
  return result;
}

std::vector<std::string> observations_in(const member_set& set) {
  auto members = set.members();
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return std::tie(b.stamp, a.id) < std::tie(a.stamp, b.id);
  });
  std::vector<std::string> all;
  for (auto& member : members)
    all.push_back(std::move(member.id));
  return all;
}

std::string digest_of(const member_set& observations) {
  if (observations.empty()) return {};
  std::string hashes;
  for (const auto& member : observations.members()) { // their contents are empty
    hashes += fast_hash_128(member.id).view();
    hashes += std::to_string(member.stamp) + ";";
  }
  return std::string(fast_hash_128(hashes).view());
}

std::vector<set_member> observations_in_list(const artifact& entry) {
  std::vector<set_member> all;
  const auto decoded = decode_value(entry.payload());
  const auto* items = decoded ? decoded->as<value::array>() : nullptr;
  if (!items) return all;
  for (const auto& item : *items) {
    const auto* bytes = item.as<binary>();
    if (!bytes) return {};
    all.push_back({bytes->bytes, {}});
  }
  return all;
}

key observations_part() { return key(observation_sets.part); }

key observation_list_part() { return key("observations"); }

key observed_part(std::string_view observation) { return key::bytes(sha256(observation).view()); }

} // namespace hearth
