// A tuned configuration, and what tuning remembers of it: as it is stored, and as Inductor's
// `.best_config` files have it. Plain values; pure functions, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace hearth {

/// One configuration of a kernel: Triton's `Config`. What a kernel of another kind has not is
/// empty.
struct kernel_config {
  value::map arguments = {}; ///< free-form: names of macros or of constexpr parameters -> values
  std::optional<std::int64_t> num_warps = {}, num_stages = {};
  std::optional<std::int64_t> num_consumer_groups = {}, num_buffers_warp_spec = {}; ///< warp spec.
  bool found_by_coordesc = false; ///< made by coordinate descent, perhaps not among the candidates

  friend bool operator==(const kernel_config&, const kernel_config&) = default;
};

/// What tuning remembers of one kernel: the best configuration.
struct autotune_record {
  kernel_config config;
  std::string configs_hash;       ///< of the candidates that it was chosen from
  std::int64_t time_taken_ns = 0; ///< by the tuning: what a hit saves
  std::optional<std::string> triton_cache_hash;
  std::int64_t kernel_time_ns = 0; ///< one call of the best; 0: not known
  std::string label;               ///< the kernel's name, for people

  friend bool operator==(const autotune_record&, const autotune_record&) = default;
};

/// As a map of Inductor's field names beside `config` (the arguments), `time_taken_ns`,
/// `kernel_time_ns` and `label`: what caches and bundles hold.
value::map to_fields(const autotune_record& record);
/// Errors: `malformed`, with the field.
expected<autotune_record> record_of_fields(const value::map& fields);

/// Canonical msgpack of `to_fields`.
std::string encode_record(const autotune_record& record);
/// Errors: `malformed`.
expected<autotune_record> decode_record(std::string_view bytes);

/// As Inductor writes it: one flat map, the arguments among the other fields, the time in whole
/// milliseconds. Errors: `invalid_argument` when an argument has the name of another field.
expected<value::map> to_best_config(const autotune_record& record);
/// Every field that is not one of Inductor's own is an argument. Errors: `malformed`, with the
/// field.
expected<autotune_record> record_of_best_config(value::map fields);

} // namespace hearth
