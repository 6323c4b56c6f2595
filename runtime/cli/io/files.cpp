#include "runtime/cli/io/files.hpp"

#include "runtime/os/files/plain_file.hpp"
#include "runtime/os/files/whole_file.hpp"

namespace hearth::cli {
namespace {

constexpr std::size_t max_input_bytes = std::size_t{4} << 30;

// A file that is missing is bad input here, not a miss.
error as_input(const error& why) {
  return why.code() == errc::not_found ? error{errc::invalid_argument, why.text()} : why;
}

} // namespace

expected<std::string> read_input(const std::string& path) {
  const auto place = path == "-" ? std::string("/dev/stdin") : path;
  const auto file = os::open_input(place);
  if (!file) return fail(as_input(file.error()));
  auto bytes = os::read_rest(*file, path == "-" ? "stdin" : path, max_input_bytes);
  if (!bytes) return fail(as_input(bytes.error()));
  return bytes;
}

expected<void> write_file(const std::string& path, std::string_view bytes) {
  const auto device = os::open_in_place(path);
  if (!device) return fail(as_input(device.error()));
  auto written = *device ? os::write_all(device->get(), bytes).map_error([&](const error& why) {
    return why.within(path);
  })
                         : os::replace_whole_file(path, bytes);
  if (!written) return fail(as_input(written.error()));
  return written;
}

} // namespace hearth::cli
