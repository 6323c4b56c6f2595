#include "bench/peers/wrk.hpp"

#include "bench/peers/peer_program.hpp"

#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace hearth::bench {
namespace {

// The number behind a label of wrk's report; 0 without the label.
double figure(std::string_view report, std::string_view label) {
  const auto at = report.find(label);
  if (at == report.npos) return 0;
  const auto begin = report.find_first_not_of(' ', at + label.size());
  double number = 0;
  if (begin != report.npos)
    std::from_chars(report.data() + begin, report.data() + report.size(), number);
  return number;
}

} // namespace

double wrk(const http_load& load, const std::filesystem::path& directory) {
  const auto script = directory / "wrk.lua";
  // All requests are written before the load begins.
  std::ofstream(script) << fmt::format("local all = {{}}\n"
                                       "function init(arguments)\n"
                                       "  for i = 1, {0} do\n"
                                       "    all[i] = wrk.format('GET', '/f' .. (i - 1))\n"
                                       "  end\n"
                                       "end\n"
                                       "function request() return all[math.random({0})] end\n",
                                       load.names);
  const auto ended = run_peer({"wrk", "-t", "2", "-c", std::to_string(load.connections), "-d",
                               std::to_string(load.seconds) + "s", "-s", script, load.url});
  const auto rate = figure(ended.text, "Requests/sec:");
  if (ended.status != 0 || rate <= 0)
    throw std::runtime_error("wrk failed: install the package wrk");
  if (figure(ended.text, "Non-2xx or 3xx responses:") > 0 ||
      ended.text.find("Socket errors") != std::string::npos)
    throw std::runtime_error("wrk's requests failed: " + ended.text);
  return 1 / rate;
}

} // namespace hearth::bench
