#include "messages/attachment.hpp"

#include "messages/value.hpp"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

constexpr std::size_t file_items = 4;

bool is_in_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-' || c == '.';
}

value value_of(const attached_file& file) {
  value::array places;
  for (const auto place : file.places)
    places.emplace_back(static_cast<std::int64_t>(place));
  return value::array{file.path, file.is_program, std::move(places), binary{file.bytes}};
}

// Reads the places; they must be ascending and within the bytes.
bool take_places(const value& v, attached_file& into) {
  const auto* items = v.as<value::array>();
  if (!items) return false;
  std::uint64_t last = 0;
  for (const auto& item : *items) {
    const auto* place = item.as<std::int64_t>();
    if (!place || *place < 0) return false;
    const auto at = static_cast<std::uint64_t>(*place);
    if (at < last || at > into.bytes.size()) return false;
    into.places.push_back(last = at);
  }
  return true;
}

bool take_file(value& v, attached_file& into) {
  auto* items = v.as<value::array>();
  if (!items || items->size() != file_items) return false;
  auto* path = (*items)[0].as<std::string>();
  const auto* is_program = (*items)[1].as<bool>();
  auto* bytes = (*items)[3].as<binary>();
  if (!path || !is_program || !bytes || !is_inner_path(*path)) return false;
  into.path = std::move(*path);
  into.is_program = *is_program;
  into.bytes = std::move(bytes->bytes);
  return take_places((*items)[2], into);
}

bool comes_before(const attached_file& a, const attached_file& b) { return a.path < b.path; }

expected<void> check_paths(const std::vector<attached_file>& sorted) {
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& path = sorted[i].path;
    if (!is_inner_path(path))
      return fail(errc::invalid_argument, "a file '" + path + "' would lead out of its folder");
    if (i > 0 && sorted[i - 1].path == path)
      return fail(errc::invalid_argument, "a file '" + path + "' comes twice");
  }
  return {};
}

} // namespace

bool is_inner_path(std::string_view path) noexcept {
  if (path.find('\0') != std::string_view::npos) return false;
  for (;;) {
    const auto end = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == path.size()) return true;
    path.remove_prefix(end + 1);
  }
}

void cut_folder(attached_file& file, std::string_view folder) {
  std::string kept;
  std::size_t from = 0;
  for (auto at = file.bytes.find(folder); at != std::string::npos && !folder.empty();
       at = file.bytes.find(folder, at)) {
    const auto end = at + folder.size();
    if (end < file.bytes.size() && is_in_name(file.bytes[end])) {
      at = end;
      continue;
    }
    kept.append(file.bytes, from, at - from);
    file.places.push_back(kept.size());
    at = from = end;
  }
  if (file.places.empty()) return;
  kept.append(file.bytes, from);
  file.bytes = std::move(kept);
}

std::string bytes_in(const attached_file& file, std::string_view folder) {
  std::string bytes;
  bytes.reserve(file.bytes.size() + file.places.size() * folder.size());
  std::size_t from = 0;
  for (const auto place : file.places) {
    bytes.append(file.bytes, from, place - from).append(folder);
    from = place;
  }
  return bytes.append(file.bytes, from);
}

expected<artifact> encode_attachment(const attachment& files) {
  auto sorted = files.files;
  std::sort(sorted.begin(), sorted.end(), comes_before);
  if (auto good = check_paths(sorted); !good) return fail(good.error());
  value::array items;
  std::uint64_t bytes = 0;
  for (const auto& file : sorted) {
    bytes += file.bytes.size();
    if (bytes > max_attachment_bytes)
      return fail(errc::too_large, "the files of '" + files.folder + "' have more than 1 GiB");
    items.push_back(value_of(file));
  }
  return artifact::make(encode(value{std::move(items)}));
}

expected<attachment> decode_attachment(std::string folder, const artifact& kept) {
  auto decoded = decode_value(kept.payload());
  auto* items = decoded ? decoded->as<value::array>() : nullptr;
  if (!items) return fail(errc::malformed, "the files of '" + folder + "' are no attachment");
  attachment files{std::move(folder), {}};
  for (auto& item : *items)
    if (!take_file(item, files.files.emplace_back()))
      return fail(errc::malformed, "a file of '" + files.folder + "' is none");
  if (!check_paths(files.files) ||
      !std::is_sorted(files.files.begin(), files.files.end(), comes_before))
    return fail(errc::malformed, "the files of '" + files.folder + "' are not in order");
  return files;
}

key attachment_key(const digest& content) {
  return key::tuple({"attachment", key::bytes(content.view())});
}

} // namespace hearth
