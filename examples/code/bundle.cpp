// Warms a machine with another machine's compiles: a session records them, a bundle transfers them.
#include "support.hpp"

#include <hearth/bundle.hpp>
#include <hearth/hearth.hpp>

using example::value_of;

int main() {
  const example::folder work("bundle-example");
  const auto bundle = (work / "warm.bundle").string();
  {
    hearth::runtime rt(example::over(work / "first"));
    const auto session = value_of(hearth::recording_session::begin(rt));
    const auto kernels = session.watch(value_of(rt.open("kernels")));
    for (const auto* name : {"matmul", "softmax"})
      value_of(kernels.get_or_compile(name, [] { return hearth::artifact::make("machine code"); }));
    const auto written = value_of(hearth::write_bundle(value_of(session.finish()), bundle));
    std::cout << "carried " << written.records << " artifacts\n";
  }
  hearth::runtime elsewhere(example::over(work / "second"));
  std::cout << "imported " << value_of(hearth::import_bundle(elsewhere, bundle)).added << '\n';
  const auto found = value_of(value_of(elsewhere.open("kernels")).get("matmul"));
  std::cout << (found.hit() ? "a hit" : "a miss") << " elsewhere\n";
}
