// Guards: any text is refused or evaluated within the limits, with the same result each time.
#include "messages/guard.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace hearth;
using namespace hearth::fuzz;

namespace {

bool same(const expected<std::int64_t>& a, const expected<std::int64_t>& b) {
  return a.has_value() == b.has_value() && (a ? *a == *b : a.error() == b.error());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = text_of(data, size);
  const auto seed = static_cast<std::int64_t>(take_byte(text)) - 128;
  const auto parsed = guard_expression::parse(text);
  if (!parsed) {
    require(!parsed.error().text().empty(), "an error without a text");
    return 0;
  }
  std::vector<std::optional<std::int64_t>> values;
  for (std::size_t i = 0; i < parsed->names().size(); ++i) {
    const auto& name = parsed->names()[i];
    const auto canonical = canonical_symbol_name(name);
    require(canonical && *canonical == name, "a name that is not canonical");
    require(parsed->column_of_name(i) >= 1, "a name without a column");
    if (i % 5 != 4) values.push_back(seed * static_cast<std::int64_t>(i * i * i + 1));
  }
  const auto value = parsed->evaluate_value(values);
  const auto again = guard_expression::parse(parsed->text());
  require(again.has_value(), "its own text is not read");
  require(same(value, again->evaluate_value(values)), "evaluated again it is something else");
  const auto truth = parsed->evaluate(values);
  require(truth.has_value() == value.has_value(), "true or false of no value");
  if (truth) require(*truth == (*value != 0), "true of zero, or false of another number");
  return 0;
}
