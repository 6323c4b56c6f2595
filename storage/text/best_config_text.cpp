#include "storage/text/best_config_text.hpp"

#include "storage/text/json_reader.hpp"
#include "storage/text/json_value.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace hearth {

expected<std::string> best_config_text(const autotune_record& record) {
  const auto fields = to_best_config(record);
  if (!fields) return fail(fields.error());
  const auto object = json_of(value{*fields});
  if (!object) return fail(object.error());
  constexpr int one_line = -1;
  constexpr bool ascii = true;
  return object->dump(one_line, ' ', ascii);
}

expected<autotune_record> parse_best_config(std::string_view text) {
  const auto object = read_json(text);
  if (!object) return fail(object.error());
  auto read = value_of(*object);
  if (!read) return fail(read.error());
  auto* fields = read->as<value::map>();
  if (!fields) return fail(errc::malformed, "expected an object");
  return record_of_best_config(std::move(*fields));
}

} // namespace hearth
