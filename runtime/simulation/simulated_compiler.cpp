#include "runtime/simulation/simulated_compiler.hpp"

#include "runtime/simulation/wildcards.hpp"

#include <csignal>
#include <utility>

namespace hearth::simulation {

// --- ports -------------------------------------------------------------------------------------

struct simulated_compiler::runner : actors::process_runner {
  explicit runner(simulated_compiler& c)
      : compiler(c) {}
  expected<process_result> run(const process_request& request, std::stop_token) override {
    return compiler.run(request);
  }
  simulated_compiler& compiler;
};

struct simulated_compiler::trial : actors::trial_runner {
  explicit trial(simulated_compiler& c)
      : compiler(c) {}
  trial_result run(const trial_request& request, std::chrono::milliseconds,
                   std::stop_token) override {
    return compiler.try_out(request);
  }
  simulated_compiler& compiler;
};

struct simulated_compiler::scratch : actors::scratch_space {
  struct directory : actors::scratch_directory {
    directory(std::shared_ptr<files> f, std::string p)
        : content(std::move(f))
        , prefix(std::move(p)) {}
    ~directory() override {
      std::erase_if(*content, [this](const auto& file) { return file.first.starts_with(prefix); });
    }
    std::string path(const std::string& name) const override { return prefix + name; }
    expected<void> write(const std::string& name, std::string_view bytes) override {
      (*content)[prefix + name] = bytes;
      return {};
    }
    expected<artifact> read(const std::string& name) const override {
      const auto at = content->find(prefix + name);
      if (at == content->end()) return fail(errc::not_found, name + ": there is no such file");
      return artifact::make(at->second);
    }
    std::shared_ptr<files> content;
    std::string prefix;
  };

  explicit scratch(std::shared_ptr<files> f)
      : content(std::move(f)) {}
  expected<std::unique_ptr<actors::scratch_directory>> make() override {
    return std::make_unique<directory>(content, "/scratch/" + std::to_string(++count) + "/");
  }
  std::shared_ptr<files> content;
  std::uint64_t count = 0;
};

// --- outcomes of runs --------------------------------------------------------------------------

simulated_compiler::simulated_compiler() {
  rules_.push_back({"*", compiler_rule::outcome::makes, "", {}});
  trials_.push_back({"*", {trial_status::good, {}, 1000, 1}});
}

action_request simulated_compiler::action(const std::string& label) {
  action_request request;
  request.label = label;
  request.process.argv = {"compiler", label, ""};
  request.outputs = {{2, "out"}};
  return request;
}

compiler_rule simulated_compiler::rule_for(std::string_view label) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if (matches(rule->label, label)) return *rule;
  return {};
}

std::chrono::nanoseconds simulated_compiler::begin(const action_request& request) {
  if (const auto from = files_of_.find(request.label); from != files_of_.end())
    read_[request.label] = {from->second.content(), from->second.clock_ns()};
  const auto rule = rule_for(request.label);
  return rule.how == compiler_rule::outcome::hangs ? request.process.deadline : rule.takes;
}

void simulated_compiler::note_change(const std::string& label) {
  const auto read = read_.find(label);
  if (read == read_.end()) return;
  const auto& from = files_of_.at(label);
  if (read->second.at_ns == from.clock_ns()) read->second.content = from.content();
}

expected<process_result> simulated_compiler::run(const process_request& request) {
  ++runs_;
  const auto& label = request.argv.at(1);
  const auto rule = rule_for(label);
  process_result result;
  using how = compiler_rule::outcome;
  switch (rule.how) {
  case how::makes: {
    const auto read = read_.find(label);
    const auto source = read == read_.end() ? label : read->second.content;
    (*files_)[request.argv.at(2)] = rule.text.empty() ? "object of " + source : rule.text;
    break;
  }
  case how::fails:
    result.exit_status = 1;
    result.output = rule.text;
    break;
  case how::crashes:
    result.signal = SIGSEGV;
    result.output = rule.text;
    break;
  case how::hangs: result.timed_out = true; break;
  case how::forgets: break;
  case how::missing: return fail(errc::program_not_found, "compiler: there is no such program");
  }
  return result;
}

trial_result simulated_compiler::try_out(const trial_request& request) const {
  const auto at = files_->find(request.library);
  const std::string_view library = at == files_->end() ? "" : std::string_view(at->second);
  for (auto rule = trials_.rbegin(); rule != trials_.rend(); ++rule)
    if (matches(rule->library, library)) return rule->result;
  return {};
}

actors::worker_ports simulated_compiler::ports() {
  return {std::make_shared<runner>(*this),
          std::make_shared<trial>(*this),
          std::make_shared<scratch>(files_),
          {}};
}

} // namespace hearth::simulation
