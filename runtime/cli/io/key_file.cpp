#include "runtime/cli/io/key_file.hpp"

#include "runtime/cli/io/files.hpp"
#include "runtime/fingerprints/details_json.hpp"

#include <filesystem>

namespace hearth::cli {

expected<structural_key> read_key(const std::string& file) {
  const auto text = read_input(file);
  if (!text) return fail(text.error());
  const bool is_stdin = file == "-";
  const auto folder =
      is_stdin ? std::filesystem::path() : std::filesystem::path(file).parent_path();
  const auto place = is_stdin ? "stdin" : file;
  auto details = fingerprints::details_from_json(*text, folder);
  if (!details) return fail(details.error().within(place));
  auto key = key_of_details(std::move(*details));
  if (!key) return fail(key.error().within(place));
  return key;
}

} // namespace hearth::cli
