#include "messages/autotune/record.hpp"

#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace hearth {
namespace {

constexpr std::int64_t ns_in_ms = 1'000'000;

tl::unexpected<error> wrong(std::string_view field, std::string_view wanted) {
  return fail(errc::malformed, std::string(field) + ": expected " + std::string(wanted));
}

using number_member = std::optional<std::int64_t> kernel_config::*;
constexpr std::array<std::pair<std::string_view, number_member>, 4> number_fields{{
    {"num_warps", &kernel_config::num_warps},
    {"num_stages", &kernel_config::num_stages},
    {"num_consumer_groups", &kernel_config::num_consumer_groups},
    {"num_buffers_warp_spec", &kernel_config::num_buffers_warp_spec},
}};

// Takes the known fields out of a map; the unknown ones are left.
class field_reader {
public:
  explicit field_reader(value::map fields)
      : left_(std::move(fields)) {}

  /// Returns false if the field has another type. A missing field leaves `into` unchanged.
  template <class T, class Into>
  bool take(std::string_view name, Into& into) {
    const auto node = left_.extract(std::string(name));
    if (node.empty()) return true;
    const auto* typed = node.mapped().template as<T>();
    if (typed) into = *typed;
    return typed != nullptr;
  }
  void drop_nil(std::string_view name) {
    const auto at = left_.find(std::string(name));
    if (at != left_.end() && at->second.is_nil()) left_.erase(at);
  }
  bool has(std::string_view name) const { return left_.contains(std::string(name)); }
  value::map rest() && { return std::move(left_); }

private:
  value::map left_;
};

// The fields that records and .best_config files share.
void add_common(const autotune_record& record, value::map& into) {
  for (const auto& [name, member] : number_fields)
    if (const auto& number = record.config.*member) into[std::string(name)] = *number;
  into["configs_hash"] = record.configs_hash;
  into["found_by_coordesc"] = record.config.found_by_coordesc;
  into["time_taken_ms"] = record.time_taken_ns / ns_in_ms;
  into["triton_cache_hash"] = record.triton_cache_hash ? value(*record.triton_cache_hash) : value();
}

expected<void> take_common(field_reader& from, autotune_record& into) {
  for (const auto& [name, member] : number_fields)
    if (!from.take<std::int64_t>(name, into.config.*member)) return wrong(name, "an integer");
  if (!from.has("configs_hash")) return wrong("configs_hash", "it to be there");
  if (!from.take<std::string>("configs_hash", into.configs_hash))
    return wrong("configs_hash", "text");
  if (!from.take<bool>("found_by_coordesc", into.config.found_by_coordesc))
    return wrong("found_by_coordesc", "true or false");
  std::int64_t ms = 0;
  if (!from.take<std::int64_t>("time_taken_ms", ms) || ms < 0 ||
      ms > std::numeric_limits<std::int64_t>::max() / ns_in_ms)
    return wrong("time_taken_ms", "milliseconds");
  into.time_taken_ns = ms * ns_in_ms;
  from.drop_nil("triton_cache_hash");
  if (!from.take<std::string>("triton_cache_hash", into.triton_cache_hash))
    return wrong("triton_cache_hash", "text or null");
  return {};
}

} // namespace

value::map to_fields(const autotune_record& record) {
  value::map fields{{"config", record.config.arguments},
                    {"kernel_time_ns", record.kernel_time_ns},
                    {"label", record.label},
                    {"time_taken_ns", record.time_taken_ns}};
  add_common(record, fields);
  return fields;
}

expected<autotune_record> record_of_fields(const value::map& fields) {
  field_reader from(fields);
  autotune_record record;
  if (auto taken = take_common(from, record); !taken) return fail(taken.error());
  if (!from.has("config") || !from.take<value::map>("config", record.config.arguments))
    return wrong("config", "a map");
  if (!from.take<std::int64_t>("time_taken_ns", record.time_taken_ns) || record.time_taken_ns < 0)
    return wrong("time_taken_ns", "nanoseconds");
  if (!from.take<std::int64_t>("kernel_time_ns", record.kernel_time_ns))
    return wrong("kernel_time_ns", "nanoseconds");
  if (!from.take<std::string>("label", record.label)) return wrong("label", "text");
  return record;
}

std::string encode_record(const autotune_record& record) {
  return encode(value{to_fields(record)});
}

expected<autotune_record> decode_record(std::string_view bytes) {
  const auto decoded = decode_value(bytes);
  if (!decoded) return fail(decoded.error().within("autotune record"));
  const auto* fields = decoded->as<value::map>();
  if (!fields) return fail(errc::malformed, "autotune record: expected a map");
  auto record = record_of_fields(*fields);
  if (!record) return fail(record.error().within("autotune record"));
  return record;
}

expected<value::map> to_best_config(const autotune_record& record) {
  value::map fields;
  add_common(record, fields);
  for (const auto& [name, argument] : record.config.arguments)
    if (!fields.emplace(name, argument).second)
      return fail(errc::invalid_argument,
                  "the argument '" + name + "' has the name of another field of .best_config");
  return fields;
}

expected<autotune_record> record_of_best_config(value::map fields) {
  field_reader from(std::move(fields));
  autotune_record record;
  if (auto taken = take_common(from, record); !taken) return fail(taken.error());
  record.config.arguments = std::move(from).rest();
  return record;
}

} // namespace hearth
