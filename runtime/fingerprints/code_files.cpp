#include "runtime/fingerprints/code_files.hpp"

#include "messages/key_builder.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace hearth::fingerprints {
namespace {

namespace fs = std::filesystem;

enum class content_kind { text, binary };

std::optional<content_kind> kind_of(std::string_view type) {
  constexpr std::array texts{"amdgcn", "code", "ptx"};
  constexpr std::array binaries{"cubin", "hsaco", "spv"};
  if (std::find(texts.begin(), texts.end(), type) != texts.end()) return content_kind::text;
  if (std::find(binaries.begin(), binaries.end(), type) != binaries.end())
    return content_kind::binary;
  return std::nullopt;
}

void add_with_length(sha256_stream& to, std::string_view part) {
  std::array<char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i)
    length[i] = static_cast<char>(std::uint64_t{part.size()} >> (56 - 8 * i));
  to.update({length.data(), length.size()}).update(part);
}

// Strips blanks as Python's `str.strip` does for ASCII.
std::string_view stripped(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

} // namespace

std::string code_hash(std::string_view code, std::string_view extra) {
  if (extra.empty()) return "c" + short_base32(sha256(code));
  sha256_stream both;
  add_with_length(both, code);
  add_with_length(both, extra);
  return "ce" + short_base32(both.finish());
}

expected<std::string> content_hash(std::string_view content, std::string_view type,
                                   std::string_view extra) {
  const auto kind = kind_of(type);
  if (!kind)
    return fail(errc::invalid_argument, "'" + std::string(type) +
                                            "' is no type of code; amdgcn, "
                                            "code, cubin, hsaco, ptx and spv are");
  return code_hash(content, *kind == content_kind::text ? extra : std::string_view{});
}

expected<fs::path> code_path(const fs::path& base, std::string_view key, std::string_view extension,
                             const fs::path& folder) {
  const auto name = std::string(key) + "." + std::string(extension);
  if (key.size() < 3 || !is_plain_name(key) || !is_plain_name(name))
    return fail(errc::invalid_argument, "'" + name + "' cannot be the name of a code file");
  if (!folder.empty()) return base / folder / name;
  return base / std::string(key.substr(1, 2)) / name;
}

expected<written_code> write_code(const fs::path& base, std::string_view content,
                                  std::string_view extension, std::string_view type,
                                  std::string_view extra, const fs::path& folder) {
  const bool is_text = kind_of(type) == content_kind::text;
  auto key = content_hash(is_text ? stripped(content) : content, type, extra);
  if (!key) return fail(key.error());
  auto path = code_path(base, *key, extension, folder);
  if (!path) return fail(path.error());
  std::error_code failure;
  if (fs::exists(*path, failure)) return written_code{std::move(*key), std::move(*path), true};
  if (auto written = write_atomic(*path, content); !written) return fail(written.error());
  return written_code{std::move(*key), std::move(*path), false};
}

expected<void> write_atomic(const fs::path& path, std::string_view content) {
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  if (failure)
    return fail(error_of_errno(failure.value(), "cannot make " + path.parent_path().string()));
  return os::replace_whole_file(path, content);
}

} // namespace hearth::fingerprints
