#include "runtime/process/worker/trial_codec.hpp"

#include "messages/value.hpp"

#include <bit>
#include <type_traits>

namespace hearth::worker {
namespace {

// Reads the members of a map one after the other; one that is missing or of another type makes the
// whole map unusable.
class reader {
public:
  explicit reader(const value& from)
      : from_(from) {}

  bool complete() const { return complete_; }

  template <class T>
  T take(std::string_view name) {
    const auto* member = from_.find(name);
    const auto* taken = member ? member->as<T>() : nullptr;
    if (!taken) complete_ = false;
    return taken ? *taken : T{};
  }

  // Reads a number; one without a fraction is encoded as an integer.
  double take_real(std::string_view name) {
    const auto* member = from_.find(name);
    if (const auto* integer = member ? member->as<std::int64_t>() : nullptr)
      return static_cast<double>(*integer);
    return take<double>(name);
  }

  // Reads an enum of `count` enumerators that start at 0.
  template <class Enum>
  Enum take_enum(std::string_view name, std::int64_t count) {
    const auto number = take<std::int64_t>(name);
    if (number < 0 || number >= count) complete_ = false;
    return complete_ ? static_cast<Enum>(number) : Enum{};
  }

  std::vector<std::int64_t> take_integers(std::string_view name) {
    std::vector<std::int64_t> integers;
    for (const auto& item : take<value::array>(name)) {
      const auto* integer = item.as<std::int64_t>();
      if (!integer) complete_ = false;
      integers.push_back(integer ? *integer : 0);
    }
    return integers;
  }

private:
  const value& from_;
  bool complete_ = true;
};

constexpr std::int64_t element_type_count = 5;
constexpr std::int64_t trial_status_count = 6;

template <class Enum>
value number_of(Enum e) {
  return std::int64_t{static_cast<std::uint8_t>(e)};
}

value integers(const std::vector<std::int64_t>& items) {
  return value::array(items.begin(), items.end());
}

value to_value(const trial_buffer& buffer) {
  return value::map{{"type", number_of(buffer.type)},
                    {"shape", integers(buffer.shape)},
                    {"output", buffer.output}};
}

trial_result result_of(reader& from) {
  trial_result result;
  result.status = from.take_enum<trial_status>("status", trial_status_count);
  result.reason = from.take<std::string>("reason");
  result.time_ns = from.take<std::int64_t>("time_ns");
  result.rounds = from.take<std::int64_t>("rounds");
  return result;
}

} // namespace

std::string encode_trial_request(const trial_request& asked) {
  value::array buffers;
  for (const auto& buffer : asked.buffers)
    buffers.push_back(to_value(buffer));
  return encode(value::map{{"library", asked.library},
                           {"entry", asked.entry},
                           {"reference", asked.reference},
                           {"tolerance", asked.tolerance},
                           {"buffers", std::move(buffers)},
                           {"sizes", integers(asked.sizes)},
                           {"seed", std::bit_cast<std::int64_t>(asked.seed)},
                           {"timing_ns", asked.timing_ns}});
}

expected<trial_request> decode_trial_request(std::string_view bytes) {
  const auto decoded = decode_value(bytes);
  if (!decoded) return fail(decoded.error().within("a trial"));
  reader from{*decoded};
  trial_request asked;
  asked.library = from.take<std::string>("library");
  asked.entry = from.take<std::string>("entry");
  asked.reference = from.take<std::string>("reference");
  asked.tolerance = from.take_real("tolerance");
  asked.sizes = from.take_integers("sizes");
  asked.seed = std::bit_cast<std::uint64_t>(from.take<std::int64_t>("seed"));
  asked.timing_ns = from.take<std::int64_t>("timing_ns");
  bool complete = true;
  for (const auto& item : from.take<value::array>("buffers")) {
    reader member{item};
    asked.buffers.push_back({member.take_enum<element_type>("type", element_type_count),
                             member.take_integers("shape"), member.take<bool>("output")});
    complete = complete && member.complete();
  }
  if (!complete || !from.complete())
    return fail(errc::malformed, "a trial request lacks a member, or has one of another type");
  return asked;
}

std::string encode_trial_result(const trial_result& result) {
  return encode(value::map{{"status", number_of(result.status)},
                           {"reason", result.reason},
                           {"time_ns", result.time_ns},
                           {"rounds", result.rounds}});
}

trial_report decode_trial_report(std::string_view bytes) {
  trial_report report;
  while (!bytes.empty() && bytes.front() >= 0 &&
         bytes.front() <= static_cast<char>(trial_phase::timing)) {
    report.phase = static_cast<trial_phase>(bytes.front());
    bytes.remove_prefix(1);
  }
  const auto decoded = decode_value(bytes);
  if (!decoded) return report;
  reader from{*decoded};
  auto result = result_of(from);
  if (from.complete()) report.answer = std::move(result);
  return report;
}

} // namespace hearth::worker
