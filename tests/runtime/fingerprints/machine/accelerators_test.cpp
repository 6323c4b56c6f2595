#include "runtime/fingerprints/machine/accelerators.hpp"

#include "runtime/fingerprints/machine/machine.hpp"
#include "runtime/fingerprints/machine/system_info.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace accelerators_test {

using namespace hearth;
using namespace hearth::fingerprints;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// The root of another machine's file system.
struct other_root {
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((directory / name).parent_path());
    write_text(directory / name, text);
  }
  void add_h100(const std::string& driver = "550.54") const {
    write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 " + driver + "\n");
    write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t NVIDIA H100\nIRQ: 7\n");
    write("sys/bus/pci/devices/0000:01:00.0/device", "0x2330\n");
  }
  accelerators found() const { return find_accelerators(directory.path()); }
  // The identity of a machine with these GPUs.
  digest identity() const {
    auto here = machine_of("processor: 0\nmodel name: Xeon\n", "x86_64", "Linux");
    here.gpus = found();
    return here.identity();
  }

  temporary_directory directory;
};

} // namespace

TEST_CASE_FIXTURE(other_root, "a machine without a GPU's driver has the identity of before") {
  write("usr/local/cuda/version.json", R"({"cuda": {"version": "12.4.1"}})");
  CHECK(found() == accelerators{});
  CHECK(identity() == machine_of("processor: 0\nmodel name: Xeon\n", "x86_64", "Linux").identity());
}

TEST_CASE_FIXTURE(other_root, "GPUs are known with driver, compute capability and software") {
  add_h100();
  write("usr/local/cuda/version.json",
        R"({"cuda" : {"name" : "CUDA SDK", "version" : "12.4.1"}, "nvcc": {"version": "12.4.9"}})");
  write("usr/local/lib/python3.11/dist-packages/triton-3.1.0.dist-info/METADATA", "");
  const auto all = found();
  CHECK(all.driver == "nvidia NVIDIA UNIX x86_64 550.54");
  CHECK(all.models == std::vector<std::string>{"NVIDIA H100"});
  CHECK(all.capabilities == std::vector<std::string>{"9.0"});
  CHECK(all.software ==
        std::map<std::string, std::string>{{"cuda", "12.4.1"}, {"triton", "3.1.0"}});
  const auto details = system_details(directory.path());
  const auto& fields = *details.as<key_field::map>();
  CHECK(fields.at("compute_capability") == key_field(key_field::list{"9.0"}));
  CHECK(fields.at("gpu_software") ==
        key_field(key_field::map{{"cuda", "12.4.1"}, {"triton", "3.1.0"}}));
}

TEST_CASE_FIXTURE(other_root, "another GPU, driver, CUDA, HIP or Triton is another machine") {
  const auto without = identity();
  add_h100();
  auto before = identity();
  CHECK(before != without);
  const auto check_differs = [&] {
    const auto now = identity();
    CHECK(now != before);
    before = now;
  };
  add_h100("560.28");
  check_differs();
  write("usr/local/cuda/version.json", R"({"cuda": {"version": "12.4.1"}})");
  check_differs();
  write("usr/local/cuda/version.json", R"({"cuda": {"version": "12.6.0"}})");
  check_differs();
  write("opt/rocm/.info/version", "6.2.0-66\n");
  check_differs();
  write("usr/lib/python3/dist-packages/triton-3.1.0.dist-info/METADATA", "");
  check_differs();
  write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: NVIDIA H200\n");
  check_differs();
  CHECK(identity() == before);
}

TEST_CASE_FIXTURE(other_root, "GPUs of AMD are known by their target") {
  write("sys/class/kfd/kfd/topology/nodes/0/properties", "gfx_target_version 0\n");
  write("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90402\n");
  write("sys/module/amdgpu/version", "6.7.0\n");
  write("opt/rocm/.info/version", "6.2.0-66\n");
  const auto all = found();
  CHECK(all.driver == "amdgpu 6.7.0");
  CHECK(all.capabilities == std::vector<std::string>{"90402"});
  CHECK(all.software == std::map<std::string, std::string>{{"hip", "6.2.0-66"}});
}

TEST_CASE("compute capabilities are those of the chips, and none for an unknown one") {
  CHECK(nvidia_capability(0x1db1) == "7.0");  // V100
  CHECK(nvidia_capability(0x1eb8) == "7.5");  // T4
  CHECK(nvidia_capability(0x20b2) == "8.0");  // A100
  CHECK(nvidia_capability(0x2236) == "8.6");  // A10
  CHECK(nvidia_capability(0x26b9) == "8.9");  // L40S
  CHECK(nvidia_capability(0x2335) == "9.0");  // H200
  CHECK(nvidia_capability(0x2901) == "10.0"); // B200
  CHECK(nvidia_capability(0x13f2).empty());
}

} // namespace accelerators_test
