#include "messages/metrics_page.hpp"

namespace hearth {
namespace {

// A label's value, with the special characters of the format escaped.
void append_escaped(std::string& to, std::string_view text) {
  for (const char c : text) {
    if (c == '\\' || c == '"') to += '\\';
    if (c == '\n')
      to += "\\n";
    else
      to += c;
  }
}

} // namespace

void metrics_page::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = "hearth_";
  name_ += name;
  text_.append("# HELP ").append(name_).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(name_).append(" ").append(type).append("\n");
}

void metrics_page::sample(std::uint64_t value, labels with) {
  text_ += name_;
  char before = '{';
  for (const auto& [label, text] : with) {
    (text_ += before).append(label).append("=\"");
    append_escaped(text_, text);
    text_ += '"';
    before = ',';
  }
  if (before == ',') text_ += '}';
  text_.append(" ").append(std::to_string(value)).append("\n");
}

std::string metrics_page::samples() const {
  std::string lines;
  for (std::size_t at = 0; at < text_.size();) {
    const auto end = text_.find('\n', at) + 1; // every line ends with one
    if (text_[at] != '#') lines.append(text_, at, end - at);
    at = end;
  }
  return lines;
}

void metrics_page::counter(std::string_view name, std::string_view help, std::uint64_t value) {
  counter(name, help);
  sample(value);
}

void metrics_page::gauge(std::string_view name, std::string_view help, std::uint64_t value) {
  gauge(name, help);
  sample(value);
}

} // namespace hearth
