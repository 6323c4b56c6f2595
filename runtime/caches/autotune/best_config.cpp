#include "runtime/caches/autotune/best_config.hpp"

#include "runtime/os/files/whole_file.hpp"

#include <cstddef>
#include <string>

namespace hearth {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{16} << 20;

} // namespace

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
