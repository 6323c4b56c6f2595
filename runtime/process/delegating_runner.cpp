#include "runtime/process/delegating_runner.hpp"

#include <exception>
#include <optional>
#include <string>

namespace hearth::process {
namespace {

std::optional<expected<process_result>> call(const program_executor& elsewhere,
                                             const process_request& request,
                                             const std::stop_token& stop) {
  try {
    return elsewhere(request, stop);
  } catch (const std::exception& e) {
    return fail(errc::process_failed, std::string("the executor of programs threw: ") + e.what());
  }
}

} // namespace

expected<process_result> delegating_runner::run(const process_request& request,
                                                std::stop_token stop) {
  auto made = call(elsewhere_, request, stop);
  if (!made) return here_->run(request, std::move(stop));
  if (*made && request.watch != watching::none && (*made)->blind_spot.empty())
    (*made)->blind_spot = "it ran elsewhere";
  return std::move(*made);
}

} // namespace hearth::process
