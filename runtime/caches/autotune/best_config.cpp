#include "runtime/caches/autotune/best_config.hpp"

#include "runtime/os/files/whole_file.hpp"
#include "storage/text/json_reader.hpp"
#include "storage/text/json_value.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <utility>

namespace hearth {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{16} << 20;

} // namespace

expected<std::string> best_config_text(const autotune_record& record) {
  const auto fields = to_best_config(record);
  if (!fields) return fail(fields.error());
  const auto object = json_of(value{*fields});
  if (!object) return fail(object.error());
  return object->dump();
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

expected<autotune_record> read_best_config(const std::filesystem::path& file) {
  const auto text = os::read_whole_file(file, max_file_bytes);
  if (!text) return fail(text.error());
  auto record = parse_best_config(*text);
  if (!record) return fail(record.error().within(file.string()));
  return record;
}

expected<void> write_best_config(const std::filesystem::path& file, const autotune_record& record) {
  const auto text = best_config_text(record);
  if (!text) return fail(text.error().within(file.string()));
  return os::replace_whole_file(file, *text);
}

} // namespace hearth
