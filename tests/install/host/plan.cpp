// A compile plan: the component orchestrator.
#include <hearth/plans.hpp>

#include <iostream>

int main(int, char** arguments) {
  hearth::runtime rt{{.store = arguments[1]}};
  const auto plan = hearth::orchestrator::load_plan(arguments[2]);
  if (!plan) return std::cerr << plan.error().text() << '\n', 2;
  const auto done = hearth::orchestrator::compile_plan(rt, *plan, {}, {});
  if (!done) return std::cerr << done.error().text() << '\n', 1;
  std::cout << done->requests.size() << " requests, " << done->failures << " failures\n";
}
