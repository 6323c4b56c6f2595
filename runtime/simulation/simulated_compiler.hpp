// Compilers and trials of a simulated process: rules over a run's label choose its outcome and its
// virtual time. One thread.
#pragma once

#include "actors/compile_worker.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::simulation {

/// How a compiler run ends.
struct compiler_rule {
  enum class outcome : std::uint8_t {
    makes,   ///< writes its output, or "object of LABEL" when none is given
    fails,   ///< exit status 1 and a diagnostic
    crashes, ///< dies of a signal
    hangs,   ///< runs until its deadline
    forgets, ///< succeeds and writes nothing
    missing, ///< cannot be started
  };
  std::string label; ///< pattern for the label
  outcome how = outcome::makes;
  std::string text; ///< diagnostic or output
  std::chrono::milliseconds takes{0};
};

/// How a trial of a shared object ends.
struct trial_rule {
  std::string library; ///< pattern for its bytes
  trial_result result;
};

class simulated_compiler {
public:
  simulated_compiler();
  /// Adds a rule, which precedes all earlier ones.
  void add(compiler_rule rule) { rules_.push_back(std::move(rule)); }
  void add(trial_rule rule) { trials_.push_back(std::move(rule)); }
  /// Files, and the clock of their times.
  struct read_files {
    std::function<std::string()> content;
    std::function<std::int64_t()> clock_ns;
  };
  /// What runs with this label read when they start: the default output is "object of" that.
  void set_files(std::string label, read_files from) {
    files_of_.insert_or_assign(std::move(label), std::move(from));
  }
  /// The files have changed. Programs start only when a change gets a later time than the request,
  /// so one of this time has not read yet.
  void note_change(const std::string& label);
  /// A run starts: the virtual time for which a worker is busy with the request.
  std::chrono::nanoseconds begin(const action_request& request);
  actors::worker_ports ports();
  std::uint64_t runs() const { return runs_; }

  /// An action that this compiler understands.
  static action_request action(const std::string& label);

private:
  struct runner;
  struct trial;
  struct scratch;
  using files = std::map<std::string, std::string>;

  compiler_rule rule_for(std::string_view label) const;
  expected<process_result> run(const process_request& request);
  trial_result try_out(const trial_request& request) const;

  std::vector<compiler_rule> rules_;
  std::vector<trial_rule> trials_;
  // What a run that has started has read, and when.
  struct reading {
    std::string content;
    std::int64_t at_ns = 0;
  };
  std::map<std::string, read_files, std::less<>> files_of_; // by label
  std::map<std::string, reading, std::less<>> read_;        // by label
  std::shared_ptr<files> files_ = std::make_shared<files>();
  std::uint64_t runs_ = 0;
};

} // namespace hearth::simulation
