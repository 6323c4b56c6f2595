// Device kernels by name and generated sources by hash, written as the files that drivers and
// interpreters load.
#include "support.hpp"

#include <hearth/code.hpp>
#include <hearth/hearth.hpp>

using example::value_of;

int main() {
  const example::folder work("kernels-example");
  hearth::runtime rt(example::over(work / "store"));

  const hearth::device_kernels kernels(value_of(rt.open("device_kernels")));
  hearth::device_kernel softmax;
  softmax.mangled_name = "_Z7softmaxPf";
  softmax.parameters = {{"block", 256}, {"shared_mem", 4096}};
  softmax.binary = hearth::artifact::make("binary of a device");
  if (const auto kept = kernels.save("softmax", softmax); !kept)
    return std::cerr << kept.error().text() << '\n', 1;
  const auto found = value_of(kernels.find("softmax"));
  std::cout << found->mangled_name << " as a file that ends in "
            << value_of(kernels.write_file("softmax", work / "out")).extension().string() << '\n';

  const hearth::source_artifacts sources(value_of(rt.open("code")), work / "code", "py");
  const auto source = value_of(sources.save("print('generated')\n"));
  std::cout << "source " << (std::filesystem::exists(source.path) ? "written" : "missing") << '\n';
  std::cout << "purged " << value_of(sources.purge_all()) << ", then "
            << (std::filesystem::exists(source.path) ? "there" : "gone") << '\n';
}
