// A tuned configuration and its record, in the stored form and in the form of Inductor's
// `.best_config` files. Plain values; pure functions, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/value.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace HEARTH_PUBLIC hearth {

/// One configuration of a kernel: Triton's `Config`. Fields that do not apply to a kernel are
/// empty.
struct kernel_config {
  value::map arguments = {}; ///< names of macros or constexpr parameters -> values
  std::optional<std::int64_t> num_warps = {}, num_stages = {};
  std::optional<std::int64_t> num_consumer_groups = {}, num_buffers_warp_spec = {}; ///< warp spec.
  bool found_by_coordesc = false; ///< found by coordinate descent; may not be a candidate

  friend bool operator==(const kernel_config&, const kernel_config&) = default;
};

/// The record of one kernel's tuning: the best configuration.
struct autotune_record {
  kernel_config config;
  std::string configs_hash;       ///< hash of the candidates it was chosen from
  std::int64_t time_taken_ns = 0; ///< the time that the tuning took; a hit saves it
  std::optional<std::string> triton_cache_hash;
  std::int64_t kernel_time_ns = 0; ///< one call of the best configuration; 0: unknown
  std::string label;               ///< the kernel's name, for display

  friend bool operator==(const autotune_record&, const autotune_record&) = default;
};

/// The form in caches and bundles: a map of Inductor's field names and `config` (the arguments),
/// `time_taken_ns`, `kernel_time_ns` and `label`.
value::map to_fields(const autotune_record& record);
/// Errors: `malformed`, with the field.
expected<autotune_record> record_of_fields(const value::map& fields);

/// Canonical msgpack of `to_fields`.
std::string encode_record(const autotune_record& record);
/// Errors: `malformed`.
expected<autotune_record> decode_record(std::string_view bytes);

/// Inductor's form: one flat map, the arguments among the other fields, the time in whole
/// milliseconds. Errors: `invalid_argument` if an argument has the name of another field.
expected<value::map> to_best_config(const autotune_record& record);
/// Every field that is not one of Inductor's own is an argument. Errors: `malformed`, with the
/// field.
expected<autotune_record> record_of_best_config(value::map fields);

} // namespace hearth
