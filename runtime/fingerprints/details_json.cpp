#include "runtime/fingerprints/details_json.hpp"

#include "messages/key_fields/paths.hpp"
#include "messages/source_place.hpp"
#include "runtime/fingerprints/contents.hpp"
#include "storage/text/base64.hpp"
#include "storage/text/json_reader.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace hearth::fingerprints {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Turns JSON into details. `path` is a value's place in the document.
class reader {
public:
  explicit reader(fs::path folder)
      : folder_(std::move(folder)) {}

  expected<key_field> any(const json& j, const std::string& path, int depth) const {
    if (depth > max_field_depth)
      return within(path,
                    {errc::too_large, "nested deeper than " + std::to_string(max_field_depth)});
    switch (j.type()) {
    case json::value_t::null: return key_field();
    case json::value_t::boolean: return key_field(j.get<bool>());
    case json::value_t::number_integer:
    case json::value_t::number_unsigned: return key_field(j.get<std::int64_t>());
    case json::value_t::number_float: return key_field(j.get<double>());
    case json::value_t::string: return key_field(j.get<std::string>());
    case json::value_t::array: return list(j, path, depth);
    default: return object(j, path, depth);
    }
  }

  expected<key_field> map(const json& j, const std::string& path, int depth) const {
    if (!j.is_object()) return wrong(path, "an object is wanted");
    key_field::map members;
    for (const auto& [name, member] : j.items()) {
      auto one = any(member, path + key_fields::member_step(name), depth + 1);
      if (!one) return one;
      members.emplace(name, std::move(*one));
    }
    return key_field(std::move(members));
  }

private:
  using tagged = expected<key_field> (reader::*)(const json&, const std::string&, int) const;

  static tl::unexpected<error> wrong(const std::string& path, const std::string& why) {
    const auto place = path.starts_with('.') ? path.substr(1) : path;
    return fail(errc::malformed, place + ": " + why);
  }
  static tl::unexpected<error> within(const std::string& path, const error& why) {
    return fail(why.within(path.starts_with('.') ? path.substr(1) : path));
  }

  expected<key_field::list> items(const json& j, const std::string& path, int depth) const {
    if (!j.is_array()) return wrong(path, "an array is wanted");
    key_field::list all;
    for (std::size_t i = 0; i < j.size(); ++i) {
      auto one = any(j[i], path + key_fields::index_step(i), depth + 1);
      if (!one) return fail(one.error());
      all.push_back(std::move(*one));
    }
    return all;
  }
  expected<key_field> list(const json& j, const std::string& path, int depth) const {
    auto all = items(j, path, depth);
    if (!all) return fail(all.error());
    return key_field(std::move(*all));
  }
  expected<key_field> set(const json& j, const std::string& path, int depth) const {
    auto all = items(j, path, depth);
    if (!all) return fail(all.error());
    return key_field::set_of(std::move(*all));
  }

  // `{"$kind": ...}`, or a map.
  expected<key_field> object(const json& j, const std::string& path, int depth) const {
    static constexpr std::array<std::pair<const char*, tagged>, 11> kinds{{
        {"$set", &reader::set},
        {"$map", &reader::map},
        {"$bytes", &reader::bytes},
        {"$float", &reader::real},
        {"$symbol", &reader::symbol},
        {"$tensor", &reader::tensor},
        {"$constant", &reader::constant},
        {"$source", &reader::source},
        {"$file", &reader::file},
        {"$tree", &reader::tree},
        {"$unsupported", &reader::unsupported},
    }};
    for (const auto& [name, member] : j.items()) {
      if (!name.starts_with('$')) continue;
      for (const auto& [kind, read] : kinds)
        if (name == kind && j.size() == 1)
          return (this->*read)(member, path + key_fields::member_step(name), depth + 1);
      return wrong(path, in_quotes(name) + " stands for no kind of field here; a map with such a "
                                           "name is written {\"$map\": {...}}");
    }
    return map(j, path, depth);
  }

  expected<std::string> text(const json& j, const std::string& path) const {
    if (!j.is_string()) return wrong(path, "a text is wanted");
    return j.get<std::string>();
  }
  expected<std::vector<std::string>> texts(const json& j, const std::string& path) const {
    if (!j.is_array()) return wrong(path, "an array of texts is wanted");
    std::vector<std::string> all;
    for (std::size_t i = 0; i < j.size(); ++i) {
      auto one = text(j[i], path + key_fields::index_step(i));
      if (!one) return fail(one.error());
      all.push_back(std::move(*one));
    }
    return all;
  }
  // Checks that all members of an object are known.
  expected<void> check_names(const json& j, const std::string& path,
                             std::initializer_list<std::string_view> known) const {
    if (!j.is_object()) return wrong(path, "an object is wanted");
    for (const auto& [name, member] : j.items())
      if (std::find(known.begin(), known.end(), name) == known.end())
        return wrong(path, "unknown member " + in_quotes(name));
    return {};
  }

  expected<std::string> raw(const json& j, const std::string& path) const {
    const auto written = text(j, path);
    if (!written) return fail(written.error());
    auto decoded = storage::decode_base64(*written);
    if (!decoded) return within(path, decoded.error());
    return decoded;
  }
  expected<key_field> bytes(const json& j, const std::string& path, int) const {
    auto decoded = raw(j, path);
    if (!decoded) return fail(decoded.error());
    return key_field(key_field::bytes{std::move(*decoded)});
  }
  expected<key_field> real(const json& j, const std::string& path, int) const {
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    if (j.is_number()) return key_field(j.get<double>());
    if (j == "nan") return key_field(std::nan(""));
    if (j == "inf") return key_field(infinity);
    if (j == "-inf") return key_field(-infinity);
    return wrong(path, "a number, \"nan\", \"inf\" or \"-inf\" is wanted");
  }
  expected<key_field> symbol(const json& j, const std::string& path, int) const {
    auto name = text(j, path);
    if (!name) return fail(name.error());
    return key_field(symbol_field{std::move(*name)});
  }
  expected<key_field> unsupported(const json& j, const std::string& path, int) const {
    auto reason = text(j, path);
    if (!reason) return fail(reason.error());
    return key_field(unsupported_field{std::move(*reason)});
  }

  expected<std::vector<dimension>> sizes(const json& j, const std::string& path) const {
    if (!j.is_array()) return wrong(path, "an array of numbers and symbols is wanted");
    std::vector<dimension> all;
    for (std::size_t i = 0; i < j.size(); ++i) {
      if (j[i].is_number_integer())
        all.emplace_back(j[i].get<std::int64_t>());
      else if (j[i].is_string())
        all.emplace_back(j[i].get<std::string>());
      else
        return wrong(path + key_fields::index_step(i),
                     "a whole number or a symbol's name is wanted");
    }
    return all;
  }
  expected<void> read_sizes(const json& j, const char* name, const std::string& path,
                            std::vector<dimension>& to) const {
    if (!j.contains(name)) return wrong(path, "'" + std::string(name) + "' is missing");
    auto read = sizes(j[name], path + key_fields::member_step(name));
    if (!read) return fail(read.error());
    to = std::move(*read);
    return {};
  }
  expected<void> read_text(const json& j, const char* name, const std::string& path,
                           std::string& to) const {
    if (!j.contains(name))
      return to.empty() ? expected<void>(wrong(path, "'" + std::string(name) + "' is missing"))
                        : expected<void>();
    auto read = text(j[name], path + key_fields::member_step(name));
    if (!read) return fail(read.error());
    to = std::move(*read);
    return {};
  }
  expected<void> read_flags(const json& j, const std::string& path, tensor_field& to) const {
    if (j.contains("requires_grad")) {
      if (!j["requires_grad"].is_boolean())
        return wrong(path + ".requires_grad", "true or false is wanted");
      to.requires_grad = j["requires_grad"].get<bool>();
    }
    if (!j.contains("storage_bytes")) return {};
    const auto& size = j["storage_bytes"];
    if (!size.is_number_integer() || size.get<std::int64_t>() < 0)
      return wrong(path + ".storage_bytes", "a number of bytes is wanted");
    to.storage_bytes = size.get<std::uint64_t>();
    return {};
  }
  expected<tensor_field> tensor_of(const json& j, const std::string& path) const {
    tensor_field t;
    expected<void> done = read_text(j, "dtype", path, t.dtype);
    if (done) done = read_sizes(j, "shape", path, t.shape);
    if (done) done = read_sizes(j, "strides", path, t.strides);
    if (done) done = read_text(j, "device", path, t.device);
    if (done) done = read_text(j, "layout", path, t.layout);
    if (done) done = read_flags(j, path, t);
    if (!done) return fail(done.error());
    return t;
  }
  expected<key_field> tensor(const json& j, const std::string& path, int) const {
    const auto good = check_names(
        j, path,
        {"dtype", "shape", "strides", "device", "layout", "requires_grad", "storage_bytes"});
    if (!good) return fail(good.error());
    auto t = tensor_of(j, path);
    if (!t) return fail(t.error());
    return key_field(std::move(*t));
  }
  expected<key_field> constant(const json& j, const std::string& path, int) const {
    const auto good = check_names(j, path,
                                  {"dtype", "shape", "strides", "device", "layout", "requires_grad",
                                   "storage_bytes", "values", "file"});
    if (!good) return fail(good.error());
    auto t = tensor_of(j, path);
    if (!t) return fail(t.error());
    if (j.contains("values") == j.contains("file"))
      return wrong(path, "either 'values' or 'file' is wanted");
    if (j.contains("file")) {
      auto content = content_of(j["file"], path + ".file");
      if (!content) return fail(content.error());
      return key_field(constant_field{std::move(*t), content->content, content->bytes});
    }
    const auto values = raw(j["values"], path + ".values");
    if (!values) return fail(values.error());
    return key_field(constant_field{std::move(*t), sha256(*values), values->size()});
  }

  expected<key_field> source(const json& j, const std::string& path, int) const {
    const json whole = j.is_string() ? json{{"text", j}} : j;
    if (auto good = check_names(whole, path, {"text", "scrub"}); !good) return fail(good.error());
    if (!whole.contains("text")) return wrong(path, "'text' is missing");
    const auto written = text(whole["text"], path + ".text");
    if (!written) return fail(written.error());
    auto patterns = texts(whole.value("scrub", json::array()), path + ".scrub");
    if (!patterns) return fail(patterns.error());
    auto made = key_field::source(*written, std::move(*patterns));
    if (!made) return within(path + ".scrub", made.error());
    return made;
  }

  expected<file_field> content_of(const json& j, const std::string& path) const {
    const auto name = text(j, path);
    if (!name) return fail(name.error());
    auto content = field_of_file(folder_ / *name);
    if (!content) return within(path, content.error());
    return content;
  }
  expected<key_field> file(const json& j, const std::string& path, int) const {
    auto content = content_of(j, path);
    if (!content) return fail(content.error());
    return key_field(*content);
  }
  expected<key_field> tree(const json& j, const std::string& path, int) const {
    const json whole = j.is_string() ? json{{"folder", j}} : j;
    if (auto good = check_names(whole, path, {"folder", "suffixes"}); !good)
      return fail(good.error());
    if (!whole.contains("folder")) return wrong(path, "'folder' is missing");
    const auto name = text(whole["folder"], path + ".folder");
    if (!name) return fail(name.error());
    const auto suffixes = texts(whole.value("suffixes", json::array()), path + ".suffixes");
    if (!suffixes) return fail(suffixes.error());
    auto files = field_of_tree(folder_ / *name, *suffixes);
    if (!files) return within(path, files.error());
    return key_field(std::move(*files));
  }

  fs::path folder_;
};

} // namespace

expected<key_field> details_from_json(std::string_view text, const fs::path& folder) {
  const auto whole = read_json(text);
  if (!whole) return fail(whole.error());
  if (!whole->is_object())
    return fail(errc::malformed, "the details of a key are an object of named fields");
  return reader(folder).map(*whole, "", 0);
}

} // namespace hearth::fingerprints
