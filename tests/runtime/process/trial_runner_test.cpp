#include "runtime/process/trial_runner.hpp"

#include "runtime/process/process_runner.hpp"
#include "runtime/process/worker_path.hpp"
#include "tests/runtime/process/process_support.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

namespace trial_runner_test {

using namespace hearth;
using namespace hearth::process;

namespace {

// The kernels of these tests; each behaves in one way.
constexpr const char* kernels = R"(
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#define KERNEL(name) extern "C" void name(void* const* b, const int64_t* sizes)
static float* f(void* p) { return static_cast<float*>(p); }
static volatile bool forever = true;

KERNEL(twice) { for (int64_t i = 0; i < sizes[0]; ++i) f(b[1])[i] = 2 * f(b[0])[i]; }
KERNEL(sum) { for (int64_t i = 0; i < sizes[0]; ++i) f(b[1])[i] = f(b[0])[i] + f(b[0])[i]; }
KERNEL(one_wrong) { twice(b, sizes); f(b[1])[17] = f(b[1])[17] + 1; }
KERNEL(nearly) { for (int64_t i = 0; i < sizes[0]; ++i) f(b[1])[i] = 2 * f(b[0])[i] + 1e-5f; }
KERNEL(nothing) {}
KERNEL(spoils_input) { twice(b, sizes); f(b[0])[0] = 100; }
KERNEL(adds) { for (int64_t i = 0; i < sizes[0]; ++i) f(b[1])[i] += 2 * f(b[0])[i]; }
KERNEL(nans) { for (int64_t i = 0; i < sizes[0]; ++i) f(b[1])[i] = i % 2 ? NAN : -INFINITY; }
KERNEL(crash) { *static_cast<volatile int*>(nullptr) = 1; }
KERNEL(aborts) { std::fprintf(stderr, "the kernel says\nits last word\n"); std::abort(); }
KERNEL(throws) { throw std::runtime_error("thrown by a kernel"); }
KERNEL(divides) { volatile int zero = 0, one = 1; f(b[1])[0] = static_cast<float>(one / zero); }
KERNEL(hangs) { while (forever) {} }
KERNEL(exits) { std::exit(0); }
KERNEL(leaves) { _exit(33); }
KERNEL(kills_group) { kill(0, SIGKILL); }
KERNEL(just_past) { twice(b, sizes); f(b[1])[sizes[0]] = 1; }
KERNEL(just_before) { twice(b, sizes); f(b[1])[-1] = 1; }
KERNEL(far_past) { twice(b, sizes); f(b[1])[sizes[0] + 1000] = 1; }
KERNEL(far_before) { twice(b, sizes); f(b[1])[-20000] = 1; }
KERNEL(reads_past) { f(b[1])[0] = f(b[0])[sizes[0] + 1000]; }
KERNEL(input_overrun) { twice(b, sizes); f(b[0])[sizes[0]] = 1; }
KERNEL(closes_all) { for (int i = 0; i < 4096; ++i) close(i); twice(b, sizes); }
KERNEL(talks) { twice(b, sizes); std::printf("noise\n"); std::fflush(stdout); (void)!write(3, "noise", 5); }
KERNEL(reads_stdin) { char c; if (read(0, &c, 1) != 0) std::abort(); twice(b, sizes); }
KERNEL(second_time) { static int calls = 0; if (++calls == 2) std::abort(); twice(b, sizes); }
KERNEL(slow) { twice(b, sizes); usleep(60'000); }
KERNEL(copies) { // sizes[0] elements of every type, each an input and an output
  for (int64_t i = 0; i < sizes[0]; ++i) {
    static_cast<float*>(b[1])[i] = static_cast<float*>(b[0])[i];
    static_cast<double*>(b[3])[i] = static_cast<double*>(b[2])[i];
    static_cast<int32_t*>(b[5])[i] = static_cast<int32_t*>(b[4])[i];
    static_cast<int64_t*>(b[7])[i] = static_cast<int64_t*>(b[6])[i];
    static_cast<uint8_t*>(b[9])[i] = static_cast<uint8_t*>(b[8])[i];
  }
}
KERNEL(copies_badly) { copies(b, sizes); static_cast<int64_t*>(b[7])[2] += 1; }
KERNEL(expects_range) {
  bool right = true;
  for (int64_t i = 0; i < sizes[0]; ++i) {
    right &= std::fabs(static_cast<float*>(b[0])[i]) <= 1 && std::fabs(static_cast<double*>(b[2])[i]) <= 1;
    right &= static_cast<int32_t*>(b[4])[i] >= 0 && static_cast<int32_t*>(b[4])[i] < 256;
    right &= static_cast<int64_t*>(b[6])[i] >= 0 && static_cast<int64_t*>(b[6])[i] < 256;
    for (int k = 1; k < 10; k += 2) right &= static_cast<uint8_t*>(b[k])[i] == 0;
    for (int k = 0; k < 10; ++k) right &= reinterpret_cast<uintptr_t>(b[k]) % 64 == 0;
  }
  copies(b, sizes);
  if (!right) static_cast<float*>(b[1])[0] += 1;
}
#ifdef LINE
KERNEL(holds) { (void)!write(open(LINE, O_WRONLY), "h", 1); while (forever) {} }
#endif
#ifdef CRASH_AT_START
static int crashed = (raise(SIGSEGV), 1);
#endif
#ifdef EXIT_AT_START
static int ended = (std::exit(0), 1);
#endif
#ifdef NEEDS_MORE
extern "C" void defined_nowhere();
KERNEL(calls_it) { defined_nowhere(); }
#endif
)";

subprocess_runner make_runner() { return subprocess_runner{find_worker().value()}; }

// The shared object of the kernels above, compiled with `flags` once in a test case.
std::string library(const std::string& flags = "") {
  static std::map<std::string, std::string> built;
  auto& path = built[flags];
  if (std::filesystem::exists(path)) return path;
  const test::temporary_directory folder;
  path = folder / "kernels.so";
  const auto source = folder / "kernels.cpp";
  std::ofstream(source) << kernels;
  auto compile =
      test::shell("g++ -O1 -w -shared -fPIC " + flags + " -o " + path + " " + source.string());
  const auto result = make_runner().run(compile, {});
  REQUIRE_MESSAGE(result, result.error().text());
  REQUIRE_MESSAGE(result->succeeded(), "these tests need g++: ", result->output);
  return path;
}

trial_request trial_of(const std::string& entry, const std::string& reference = "twice",
                       std::int64_t elements = 100) {
  trial_request request;
  request.library = library();
  request.entry = entry;
  request.reference = reference;
  request.tolerance = 1e-4;
  request.buffers = {{element_type::f32, {elements}, false}, {element_type::f32, {elements}, true}};
  request.sizes = {elements};
  request.seed = 7;
  return request;
}

trial_result try_one(const trial_request& request,
                     std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
  auto runner = make_runner();
  return subprocess_trial_runner(runner, find_worker().value()).run(request, deadline, {});
}

trial_request of_every_type(const std::string& entry) {
  auto request = trial_of(entry, "copies");
  request.buffers.clear();
  for (const auto type : {element_type::f32, element_type::f64, element_type::i32,
                          element_type::i64, element_type::u8})
    for (const bool output : {false, true})
      request.buffers.push_back({type, {4, 25}, output});
  return request;
}

void check(const trial_result& result, trial_status status, const std::string& reason) {
  CHECK(result.status == status);
  CHECK(result.reason == reason);
  CHECK(result.time_ns == 0);
}

void check_good(const trial_result& result) {
  CHECK(result.reason == "");
  CHECK(result.status == trial_status::good);
  CHECK(result.time_ns > 0);
  CHECK(result.rounds > 0);
}

} // namespace

TEST_CASE("a right kernel is good and timed") {
  check_good(try_one(trial_of("sum")));
  check_good(try_one(trial_of("twice")));
  CHECK(try_one(trial_of("sum")).rounds > 1);
}

TEST_CASE("a kernel within the tolerance is good and one outside of it wrong") {
  auto request = trial_of("nearly");
  check_good(try_one(request));
  request.tolerance = 1e-7;
  CHECK(try_one(request).status == trial_status::wrong);
}

TEST_CASE("a wrong kernel is reported with its first difference") {
  const auto result = try_one(trial_of("one_wrong"));
  CHECK(result.status == trial_status::wrong);
  CHECK(result.reason.starts_with("output 1 [17] is "));
  CHECK(result.reason.ends_with(" (tolerance 0.0001)"));
  CHECK(try_one(trial_of("nothing")).reason.starts_with("output 1 [0] is 0, expected "));
}

TEST_CASE("a kernel without a reference is timed and not compared") {
  check_good(try_one(trial_of("one_wrong", "")));
}

TEST_CASE("not a number and infinities equal only themselves") {
  check_good(try_one(trial_of("nans", "nans")));
  CHECK(try_one(trial_of("twice", "nans")).status == trial_status::wrong);
  CHECK(try_one(trial_of("nans", "twice")).status == trial_status::wrong);
}

TEST_CASE("each kernel gets fresh inputs and zeroed outputs") {
  check_good(try_one(trial_of("twice", "spoils_input")));
  check_good(try_one(trial_of("adds", "adds")));
}

TEST_CASE("every element type is seeded and compared") {
  check_good(try_one(of_every_type("copies")));
  check_good(try_one(of_every_type("expects_range")));
  auto request = of_every_type("copies_badly");
  const auto result = try_one(request);
  CHECK(result.status == trial_status::wrong);
  CHECK(result.reason.starts_with("output 7 [0, 2] is "));
  request.tolerance = 1;
  check_good(try_one(request));
}

TEST_CASE("a slow kernel is called a few times only") {
  const auto result = try_one(trial_of("slow"));
  check_good(result);
  CHECK(result.time_ns >= 60'000'000);
  CHECK(result.rounds == 1);
}

TEST_CASE("a kernel that crashes is reported with its signal and name") {
  check(try_one(trial_of("crash")), trial_status::crashed, "SIGSEGV in crash");
  check(try_one(trial_of("divides")), trial_status::crashed, "SIGFPE in divides");
  check(try_one(trial_of("kills_group")), trial_status::crashed, "SIGKILL in kills_group");
  check(try_one(trial_of("aborts")), trial_status::crashed, "SIGABRT in aborts: its last word");
  check(try_one(trial_of("throws")), trial_status::crashed,
        "SIGABRT in throws:   what():  thrown by a kernel");
  check(try_one(trial_of("second_time")), trial_status::crashed, "SIGABRT in second_time");
}

TEST_CASE("a crash in the reference is distinguished") {
  check(try_one(trial_of("twice", "crash")), trial_status::crashed, "SIGSEGV in crash");
  check(try_one(trial_of("twice", "just_past")), trial_status::crashed,
        "just_past wrote past the end of buffer 1");
}

TEST_CASE("a kernel that ends its process is a crash") {
  check(try_one(trial_of("exits")), trial_status::crashed,
        "exit status 0 before an answer, in exits");
  check(try_one(trial_of("leaves")), trial_status::crashed,
        "exit status 33 before an answer, in leaves");
}

TEST_CASE("a kernel that hangs is killed and reported") {
  check(try_one(trial_of("hangs"), std::chrono::seconds(2)), trial_status::hung,
        "hangs still running after 2 s, killed");
}

TEST_CASE("writes out of bounds are found on both sides") {
  check(try_one(trial_of("just_past")), trial_status::crashed,
        "just_past wrote past the end of buffer 1");
  check(try_one(trial_of("just_before")), trial_status::crashed,
        "just_before wrote in front of buffer 1");
  check(try_one(trial_of("far_past")), trial_status::crashed, "SIGSEGV in far_past");
  check(try_one(trial_of("far_before")), trial_status::crashed, "SIGSEGV in far_before");
  check(try_one(trial_of("reads_past")), trial_status::crashed, "SIGSEGV in reads_past");
  check(try_one(trial_of("input_overrun")), trial_status::crashed,
        "input_overrun wrote past the end of buffer 0");
}

TEST_CASE("a buffer of whole lines is directly before the guard at its end") {
  check(try_one(trial_of("just_past", "twice", 128)), trial_status::crashed,
        "SIGSEGV in just_past");
}

TEST_CASE("a kernel that closes every descriptor is a crash") {
  const auto result = try_one(trial_of("closes_all"));
  CHECK(result.status == trial_status::crashed);
  CHECK(result.reason.ends_with("before an answer, in closes_all"));
}

TEST_CASE("reads and writes of a kernel do not confuse its trial") {
  check_good(try_one(trial_of("talks")));
  check_good(try_one(trial_of("reads_stdin")));
}

TEST_CASE("a library that crashes while it is loaded is a crash") {
  auto request = trial_of("twice");
  request.library = library("-DCRASH_AT_START");
  check(try_one(request), trial_status::crashed, "SIGSEGV in loading " + request.library);
  request.library = library("-DEXIT_AT_START");
  check(try_one(request), trial_status::crashed,
        "exit status 0 before an answer, in loading " + request.library);
}

TEST_CASE("a trial that cannot be run is unfit") {
  auto request = trial_of("no_such_kernel");
  check(try_one(request), trial_status::unfit,
        "no function no_such_kernel in " + library() + "; declare it extern \"C\"");
  request = trial_of("twice", "no_such_reference");
  CHECK(try_one(request).reason.starts_with("no function no_such_reference in "));
  request.library = "/nowhere/library.so";
  const auto missing = try_one(request);
  CHECK(missing.status == trial_status::unfit);
  CHECK(missing.reason.starts_with("cannot load /nowhere/library.so"));
  request.library = library("-DNEEDS_MORE");
  const auto undefined = try_one(request);
  CHECK(undefined.status == trial_status::unfit);
  CHECK(undefined.reason.find("defined_nowhere") != undefined.reason.npos);
}

TEST_CASE("a trial whose buffers are impossible is unfit") {
  auto request = trial_of("twice");
  request.buffers[1].shape = {1 << 20, 1 << 20};
  check(try_one(request), trial_status::unfit, "buffer 1: more than 4 GiB");
  request.buffers[1].shape = {-1};
  check(try_one(request), trial_status::unfit, "buffer 1: a negative extent: -1");
  request.buffers[1].shape = {INT64_MAX, INT64_MAX};
  CHECK(try_one(request).status == trial_status::unfit);
  request = trial_of("twice");
  request.tolerance = -1;
  CHECK(try_one(request).status == trial_status::unfit);
}

TEST_CASE("empty buffers and no buffers can be tried") {
  check_good(try_one(trial_of("twice", "twice", 0)));
  auto request = trial_of("nothing", "nothing");
  request.buffers.clear();
  check_good(try_one(request));
}

TEST_CASE("a trial that is stopped is not the kernel's fault and leaves nothing") {
  std::stop_source stop;
  auto runner = make_runner();
  subprocess_trial_runner trials(runner, find_worker().value());
  test::life_line line;
  auto request = trial_of("holds");
  request.library = library("-DLINE='\"" + line.path() + "\"'");
  std::jthread stopper([&] {
    if (line.hears(1)) stop.request_stop();
  });
  check(trials.run(request, std::chrono::seconds(60), stop.get_token()), trial_status::not_run,
        "cancelled");
  stopper.join();
  CHECK(line.goes_dead());
  // A stop at another moment, also before the kernel runs, has the same effect.
  std::stop_source early;
  std::jthread hasty([&] { early.request_stop(); });
  check(trials.run(trial_of("hangs"), std::chrono::seconds(60), early.get_token()),
        trial_status::not_run, "cancelled");
}

TEST_CASE("a trial without a worker is not the kernel's fault") {
  auto runner = make_runner();
  subprocess_trial_runner trials(runner, "/nowhere/hearth-worker");
  const auto result = trials.run(trial_of("twice"), std::chrono::seconds(60), {});
  CHECK(result.status == trial_status::not_run);
  CHECK(result.reason.find("/nowhere/hearth-worker") != result.reason.npos);
}

TEST_CASE("durations are written in readable units") {
  using std::chrono::milliseconds;
  CHECK(text_of(milliseconds(200)) == "200 ms");
  CHECK(text_of(milliseconds(3000)) == "3 s");
  CHECK(text_of(milliseconds(1500)) == "1.5 s");
  CHECK(text_of(milliseconds(120'000)) == "120 s");
}

} // namespace trial_runner_test
