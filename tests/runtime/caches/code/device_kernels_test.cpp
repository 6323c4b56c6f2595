// Device kernels: binary, mangled name and parameters, found by name, without a device.
#include "messages/digest.hpp"
#include "runtime/caches/code/device_kernels.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

namespace device_kernels_test {

using namespace hearth;
using namespace hearth::test;

namespace {

struct kernels : on_disk {
  kernels()
      : rt(settings())
      , all(*rt.open("device_kernels")) {}

  static device_kernel matmul() {
    return {device_binary::cubin, "_Z6matmulPf",
            value::map{{"grid", value::array{8, 1, 1}}, {"shared_mem", 49152}},
            artifact::make(std::string("\x7f"
                                       "ELF\0binary",
                                       11))};
  }

  runtime rt;
  device_kernels all;
};

} // namespace

TEST_CASE_FIXTURE(kernels, "a kernel is found by its name with its binary and parameters") {
  CHECK_FALSE(*all.find("matmul"));
  for (const auto format : {device_binary::cubin, device_binary::hsaco, device_binary::spv}) {
    auto kernel = matmul();
    kernel.format = format;
    const auto name = "matmul_" + std::string(to_string(format));
    REQUIRE(all.save(name, kernel));
    const auto found = all.find(name);
    REQUIRE(found);
    REQUIRE(*found);
    CHECK((*found)->format == format);
    CHECK((*found)->mangled_name == "_Z6matmulPf");
    CHECK((*found)->parameters == kernel.parameters);
    CHECK((*found)->binary.payload() == kernel.binary.payload());
  }
}

TEST_CASE_FIXTURE(kernels, "a kernel saved again under a name replaces it") {
  REQUIRE(all.save("k", matmul()));
  auto other = matmul();
  other.parameters["shared_mem"] = 0;
  REQUIRE(all.save("k", other));
  CHECK((*all.find("k"))->parameters == other.parameters);
  REQUIRE(all.save("k", other));
  CHECK(all.save("k", {}).error().code() == errc::invalid_value);
}

TEST_CASE_FIXTURE(kernels, "kernels share a binary by its content") {
  REQUIRE(all.save("one", matmul()));
  const auto before = internals::core(rt).store()->stats().entries;
  REQUIRE(all.save("two", matmul()));
  CHECK(internals::core(rt).store()->stats().entries == before + 1);
}

TEST_CASE_FIXTURE(kernels, "a kernel whose binary is gone is a miss") {
  REQUIRE(all.save("k", matmul()));
  const auto sum = sha256(matmul().binary.payload());
  const std::string digest(sum.bytes.begin(), sum.bytes.end());
  const auto name = key::tuple({"binary", key::bytes(digest)});
  REQUIRE(*rt.open("device_kernels")->erase(name));
  CHECK_FALSE(*all.find("k"));
  REQUIRE(rt.open("device_kernels")->insert(name, artifact::make("another")));
  CHECK(all.find("k").error().code() == errc::corrupt);
}

TEST_CASE_FIXTURE(kernels, "a binary is written under its hash for a driver to load") {
  REQUIRE(all.save("one", matmul()));
  REQUIRE(all.save("two", matmul()));
  const auto path = all.write_file("one", directory / "out");
  REQUIRE(path);
  CHECK(path->extension() == ".cubin");
  CHECK(path->parent_path().filename() == path->filename().string().substr(1, 2));
  CHECK(file_text(*path) == matmul().binary.payload());
  CHECK(*all.write_file("two", directory / "out") == *path);
  CHECK(all.write_file("none", directory / "out").error().code() == errc::not_found);
}

TEST_CASE("a device's kernels have its format") {
  CHECK(device_binary_of("cuda", false) == device_binary::cubin);
  CHECK(device_binary_of("cuda", true) == device_binary::hsaco);
  CHECK(device_binary_of("xpu", false) == device_binary::spv);
  CHECK_FALSE(device_binary_of("cpu", false));
}

} // namespace device_kernels_test
