// Caches the results of tuning: the first compilation tunes, the next one finds the result.
#include <hearth/hearth.hpp>
#include <hearth/tunings.hpp>

#include <iostream>

namespace {

constexpr const char* code = "y = kernel(x)  # the program that is compiled\n";

hearth::autotune_record tune() {
  hearth::autotune_record found;
  found.config = {.arguments = {{"XBLOCK", 128}}, .num_warps = 4, .num_stages = 1};
  found.configs_hash = "two blocks";
  found.time_taken_ns = 250'000'000;
  return found;
}

} // namespace

int main() {
  hearth::runtime rt({});
  hearth::tuning_settings settings;
  settings.scope = {hearth::sha256("my compiler 1.0"), "my device", ""};
  const auto tunings = hearth::tunings::open(rt, settings).value();

  const hearth::autotune_choices choices{
      {{.arguments = {{"XBLOCK", 64}}, .num_warps = 4, .num_stages = 1},
       {.arguments = {{"XBLOCK", 128}}, .num_warps = 4, .num_stages = 1}},
      "two blocks"};
  for (int compilation = 0; compilation < 2; ++compilation) {
    auto session = tunings.begin(code, "python").value();
    const auto best = tunings.best("kernel.py", choices, session).value();
    if (best)
      std::cout << "known: candidate " << best->candidate.value_or(0) << '\n';
    else if (tunings.save("kernel.py", tune(), session))
      std::cout << "tuned\n";
    std::cout << session.finish()->entries << " in the bundle\n";
  }
}
