#include "runtime/process/worker/trial.hpp"

#include "runtime/os/files/descriptor.hpp"
#include "runtime/process/worker/job.hpp"
#include "runtime/process/worker/signals.hpp"
#include "runtime/process/worker/trial_buffers.hpp"
#include "runtime/process/worker/trial_codec.hpp"
#include "runtime/process/worker/trial_compare.hpp"
#include "runtime/process/worker/trial_timing.hpp"

#include <algorithm>
#include <cerrno>
#include <dlfcn.h>
#include <fcntl.h>
#include <utility>

namespace hearth::worker {
namespace {

constexpr std::size_t max_request_bytes = 1 << 20;
constexpr int exit_no_answer = 3;

// Writes the report to a copy of descriptor 3, since kernels may close or write to the original.
class reporter {
public:
  reporter()
      : to_(::fcntl(report_descriptor, F_DUPFD_CLOEXEC, 512))
      , owner_(::getpid()) {
    if (to_ >= 0) ::close(report_descriptor);
    if (to_ < 0) to_ = report_descriptor;
  }

  void enter(trial_phase phase) const { write({reinterpret_cast<const char*>(&phase), 1}); }

  [[noreturn]] void finish(const trial_result& result) const {
    ::_exit(write(encode_trial_result(result)) ? 0 : exit_no_answer);
  }

private:
  // Returns false when the bytes were not written. A child that the kernel forked must not write.
  bool write(std::string_view bytes) const {
    if (::getpid() != owner_) ::_exit(exit_no_answer);
    while (!bytes.empty()) {
      const auto n = ::write(to_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  int to_;
  pid_t owner_;
};

struct kernel {
  kernel_call::entry_point* entry = nullptr;
  kernel_call::entry_point* reference = nullptr; // null: nothing to compare with
};

trial_result unfit(std::string reason) { return {trial_status::unfit, std::move(reason)}; }

expected<kernel_call::entry_point*> find_symbol(void* library, const std::string& name,
                                                const std::string& path) {
  void* symbol = ::dlsym(library, name.c_str());
  if (!symbol)
    return fail(errc::not_found,
                "no function " + name + " in " + path + "; declare it extern \"C\"");
  return reinterpret_cast<kernel_call::entry_point*>(symbol);
}

expected<kernel> load(const trial_request& asked) {
  void* library = ::dlopen(asked.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = ::dlerror();
    return fail(errc::not_found, std::string("cannot load ") + (why ? why : asked.library));
  }
  kernel loaded;
  auto entry = find_symbol(library, asked.entry, asked.library);
  if (!entry) return fail(entry.error());
  loaded.entry = *entry;
  if (asked.reference.empty()) return loaded;
  auto reference = find_symbol(library, asked.reference, asked.library);
  if (!reference) return fail(reference.error());
  loaded.reference = *reference;
  return loaded;
}

// The buffers of a trial, and the pointers that the kernels get.
class arena {
public:
  static expected<arena> make(const trial_request& asked) {
    if (asked.buffers.size() > max_trial_buffers)
      return fail(errc::too_large, "more than 256 buffers");
    arena made{asked};
    std::size_t whole = 0;
    for (const auto& buffer : asked.buffers) {
      const auto where = "buffer " + std::to_string(made.memory_.size());
      const auto count = count_elements(buffer.shape);
      if (!count) return fail(count.error().within(where));
      const auto size = *count * size_of(buffer.type);
      whole += buffer.output ? 2 * size : size; // a copy of an output is kept for the comparison
      if (whole > max_trial_bytes)
        return fail(errc::too_large, where + ": more than 4 GiB of buffers");
      auto memory = guarded_memory::make(size);
      if (!memory) return fail(memory.error().within(where));
      made.pointers_.push_back(memory->bytes().data());
      made.memory_.push_back(std::move(*memory));
    }
    return made;
  }

  /// Seeds the inputs and zeroes the outputs.
  void reset() const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (const auto& buffer = asked_->buffers[i]; buffer.output)
        std::ranges::fill(memory_[i].bytes(), std::byte{});
      else
        fill_input(memory_[i].bytes(), buffer.type, asked_->seed, i);
  }

  kernel_call call_of(kernel_call::entry_point* entry) const {
    return {entry, pointers_.data(), asked_->sizes.data()};
  }

  /// Copies of the current outputs, in order.
  std::vector<std::vector<std::byte>> copy_outputs() const {
    std::vector<std::vector<std::byte>> copies;
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (asked_->buffers[i].output)
        copies.emplace_back(memory_[i].bytes().begin(), memory_[i].bytes().end());
    return copies;
  }

  /// The first difference of the outputs from those; empty: none.
  std::string difference_from(const std::vector<std::vector<std::byte>>& expected_outputs) const {
    auto wanted = expected_outputs.begin();
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (!asked_->buffers[i].output) continue;
      auto found =
          difference(memory_[i].bytes(), *wanted++, asked_->buffers[i], i, asked_->tolerance);
      if (!found.empty()) return found;
    }
    return {};
  }

  /// "matmul wrote past the end of buffer 2"; empty: no overrun.
  std::string overrun_by(const std::string& name) const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (const auto where = memory_[i].overrun(); !where.empty())
        return name + " wrote " + where + " buffer " + std::to_string(i);
    return {};
  }

private:
  explicit arena(const trial_request& asked)
      : asked_(&asked) {}

  const trial_request* asked_;
  std::vector<guarded_memory> memory_;
  std::vector<void*> pointers_;
};

trial_result try_kernel(const trial_request& asked, const kernel& loaded, const arena& buffers,
                        const reporter& report) {
  std::vector<std::vector<std::byte>> expected_outputs;
  if (loaded.reference) {
    report.enter(trial_phase::reference);
    buffers.reset();
    buffers.call_of(loaded.reference)();
    if (auto where = buffers.overrun_by(asked.reference); !where.empty())
      return {trial_status::crashed, std::move(where)};
    expected_outputs = buffers.copy_outputs();
  }
  buffers.reset();
  const auto call = buffers.call_of(loaded.entry);
  report.enter(trial_phase::entry);
  const auto first_ns = time_calls(call, 1);
  if (auto where = buffers.overrun_by(asked.entry); !where.empty())
    return {trial_status::crashed, std::move(where)};
  if (loaded.reference)
    if (auto found = buffers.difference_from(expected_outputs); !found.empty())
      return {trial_status::wrong, std::move(found)};
  report.enter(trial_phase::timing);
  const auto [time_ns, rounds] = time_kernel(call, first_ns, asked.timing_ns);
  if (auto where = buffers.overrun_by(asked.entry); !where.empty())
    return {trial_status::crashed, std::move(where)};
  return {trial_status::good, {}, time_ns, rounds};
}

trial_result serve(const reporter& report) {
  const auto bytes = os::read_to_end(STDIN_FILENO, max_request_bytes);
  const auto asked = bytes ? decode_trial_request(*bytes) : fail(bytes.error());
  if (!asked) return unfit(asked.error().text());
  if (!(asked->tolerance >= 0)) return unfit("a tolerance below zero");
  const auto buffers = arena::make(*asked);
  if (!buffers) return unfit(buffers.error().text());
  report.enter(trial_phase::loading);
  const auto loaded = load(*asked);
  if (!loaded) return unfit(loaded.error().text());
  return try_kernel(*asked, *loaded, *buffers, report);
}

} // namespace

void run_trial() {
  restore_signals();
  const reporter report;
  report.finish(serve(report));
}

} // namespace hearth::worker
