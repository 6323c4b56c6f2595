#include "runtime/fingerprints/machine/machine.hpp"

#include <algorithm>
#include <doctest/doctest.h>

namespace machine_test {

using namespace hearth;
using namespace hearth::fingerprints;

namespace {

constexpr std::string_view two_x86 = "processor\t: 0\n"
                                     "vendor_id\t: GenuineIntel\n"
                                     "cpu family\t: 6\n"
                                     "model\t\t: 85\n"
                                     "model name\t: Xeon\n"
                                     "cpu MHz\t\t: 2500.000\n"
                                     "flags\t\t: sse2 fpu avx\n"
                                     "power management:\n"
                                     "\n"
                                     "processor\t: 1\n"
                                     "vendor_id\t: GenuineIntel\n"
                                     "cpu family\t: 6\n"
                                     "model\t\t: 85\n"
                                     "model name\t: Xeon\n"
                                     "cpu MHz\t\t: 3100.000\n"
                                     "flags\t\t: fpu sse2 avx avx512f\n";

} // namespace

TEST_CASE("a machine consists of its kinds of processors and the features that all of them have") {
  const auto found = machine_of(two_x86, "x86_64", "Linux");
  CHECK(found.models == std::vector<std::string>{
                            "vendor_id GenuineIntel, cpu family 6, model 85, model name Xeon"});
  CHECK(found.features == std::vector<std::string>{"avx", "fpu", "sse2"});
  CHECK(found.architecture == "x86_64");
}

TEST_CASE("clock rates and the order of features do not change a machine") {
  std::string other(two_x86);
  other.replace(other.find("2500.000"), 8, "1200.000");
  other.replace(other.find("sse2 fpu avx"), 12, "avx fpu sse2");
  CHECK(machine_of(other, "x86_64", "Linux").identity() ==
        machine_of(two_x86, "x86_64", "Linux").identity());
}

TEST_CASE("another model, feature, architecture or system makes another machine") {
  const auto identity = machine_of(two_x86, "x86_64", "Linux").identity();
  std::string other(two_x86);
  other.replace(other.find("Xeon"), 4, "Core");
  CHECK(machine_of(other, "x86_64", "Linux").identity() != identity);
  other = two_x86;
  other.replace(other.find("sse2 fpu avx"), 12, "sse2 fpu    ");
  CHECK(machine_of(other, "x86_64", "Linux").identity() != identity);
  CHECK(machine_of(two_x86, "i686", "Linux").identity() != identity);
  CHECK(machine_of(two_x86, "x86_64", "Darwin").identity() != identity);
}

TEST_CASE("an ARM machine with two kinds of cores has both models") {
  const auto found = machine_of("processor : 0\nFeatures : fp asimd\nCPU implementer : 0x41\n"
                                "CPU part : 0xd05\n\n"
                                "processor : 1\nFeatures : fp asimd sve\nCPU implementer : 0x41\n"
                                "CPU part : 0xd0a\n\n"
                                "Hardware : Board\n",
                                "aarch64", "Linux");
  CHECK(found.models == std::vector<std::string>{"CPU implementer 0x41, CPU part 0xd05",
                                                 "CPU implementer 0x41, CPU part 0xd0a"});
  CHECK(found.features == std::vector<std::string>{"asimd", "fp"});
}

TEST_CASE("an empty cpuinfo leaves architecture and system") {
  for (const auto* text : {"", "\n\n", "no colon here", ": :\n"}) {
    const auto found = machine_of(text, "riscv64", "Linux");
    CHECK(found.models.empty());
    CHECK(found.features.empty());
    CHECK(found.architecture == "riscv64");
  }
}

TEST_CASE("this machine is examined once and knows its architecture") {
  const auto& here = this_machine();
  CHECK(&here == &this_machine());
  CHECK_FALSE(here.architecture.empty());
  CHECK(std::is_sorted(here.features.begin(), here.features.end()));
  CHECK(here.identity() == this_machine().identity());
}

} // namespace machine_test
