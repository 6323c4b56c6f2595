#include "storage/text/json_reader.hpp"

#include "messages/source_place.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace hearth {
namespace {

using nlohmann::json;

// Receives the parser's events and builds the value from them, on a stack of open containers.
class strict_builder : public json::json_sax_t {
public:
  explicit strict_builder(std::string_view text)
      : text_(text) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool b) override { return add(b); }
  bool number_integer(number_integer_t i) override { return add(i); }
  bool number_unsigned(number_unsigned_t i) override {
    constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return i <= max ? add(static_cast<std::int64_t>(i)) : outside(std::to_string(i));
  }
  bool number_float(number_float_t d, const string_t& written) override {
    return written.find_first_of(".eE") != std::string::npos ? add(d) : outside(written);
  }
  bool string(string_t& text) override { return add(std::move(text)); }
  bool binary(binary_t&) override { return stop(errc::malformed, "binary"); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool key(string_t& name) override {
    if (open_.back().first.contains(name))
      return stop(errc::malformed, "the name " + in_quotes(name) + " comes twice in an object");
    open_.back().second = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& last, const json::exception&) override {
    const auto at = std::min(position > 0 ? position - 1 : 0, text_.size());
    const auto found = last.empty() ? "the end" : in_quotes(last);
    return stop(errc::malformed, line_and_column(text_, at) + ": no JSON at " + found);
  }

  std::optional<error> failure;
  json result;

private:
  bool stop(errc code, std::string why) {
    if (!failure) failure = error{code, std::move(why)};
    return false;
  }
  bool outside(const std::string& written) {
    return stop(errc::malformed, "the number " + in_quotes(written) + " is outside 64 bits");
  }
  bool open(json container) {
    if (open_.size() == max_json_depth)
      return stop(errc::too_large, "nested deeper than " + std::to_string(max_json_depth));
    open_.emplace_back(std::move(container), "");
    return true;
  }
  bool close() {
    auto container = std::move(open_.back().first);
    open_.pop_back();
    return add(std::move(container));
  }
  bool add(json one) {
    if (open_.empty())
      result = std::move(one);
    else if (auto& [container, name] = open_.back(); container.is_array())
      container.push_back(std::move(one));
    else
      container[name] = std::move(one);
    return true;
  }

  std::string_view text_;
  std::vector<std::pair<json, std::string>> open_; // each with the name of its next member
};

} // namespace

expected<json> read_json(std::string_view text) {
  strict_builder events(text);
  json::sax_parse(text.begin(), text.end(), &events);
  if (events.failure) return fail(*events.failure);
  return std::move(events.result);
}

} // namespace hearth
