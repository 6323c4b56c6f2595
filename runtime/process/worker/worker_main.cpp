// The program that Hearth starts to run other programs and to try kernels; it is internal to
// Hearth. It is small and links little, since it is started once for every compiler run.
#include "runtime/os/standard_streams.hpp"
#include "runtime/process/worker/job.hpp"
#include "runtime/process/worker/supervise.hpp"
#include "runtime/process/worker/trial.hpp"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  hearth::os::open_missing_standard_streams();
  using namespace hearth::worker;
  const std::string_view mode = argc == 3 ? argv[1] : "";
  if (mode.empty() || argv[2] != protocol_version) {
    std::fprintf(stderr,
                 "hearth-worker: usage: hearth-worker supervise|trial %s; a host of "
                 "another version needs its own hearth-worker\n",
                 protocol_version.data());
    return 2;
  }
  if (mode == "supervise") return supervise();
  if (mode == "trial") run_trial();
  std::fprintf(stderr, "hearth-worker: no mode \"%s\"; it is for Hearth itself to start\n",
               argv[1]);
  return 2;
}
