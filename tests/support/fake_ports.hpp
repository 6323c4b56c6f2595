// Fakes of the ports that actors need: compilers, trials and scratch directories with outcomes
// chosen by the test. Used from the one thread of a stepped test.
#pragma once

#include "actors/compile_worker.hpp"
#include "actors/ports/programs.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hearth::test {

/// Directories in memory.
class fake_scratch : public actors::scratch_space {
public:
  using files = std::map<std::string, std::string>;

  expected<std::unique_ptr<actors::scratch_directory>> make() override {
    return std::make_unique<directory>(content);
  }
  /// The content of every directory; a compile "writes" here.
  std::shared_ptr<files> content = std::make_shared<files>();

private:
  struct directory : actors::scratch_directory {
    explicit directory(std::shared_ptr<files> f)
        : content(std::move(f)) {}
    std::string path(const std::string& name) const override { return "/scratch/" + name; }
    expected<void> write(const std::string& name, std::string_view bytes) override {
      (*content)[name] = bytes;
      return {};
    }
    expected<artifact> read(const std::string& name) const override {
      const auto at = content->find(name);
      if (at == content->end()) return fail(errc::not_found, name + ": there is no such file");
      return artifact::make(at->second);
    }
    std::shared_ptr<files> content;
  };
};

/// Runs nothing: calls a function.
struct fake_processes : actors::process_runner {
  expected<process_result> run(const process_request& request, std::stop_token) override {
    requests.push_back(request);
    return answer(request);
  }
  std::function<expected<process_result>(const process_request&)> answer =
      [](const process_request&) { return process_result{}; };
  std::vector<process_request> requests;
};

/// Tries nothing: calls a function with the shared object's bytes.
struct fake_trials : actors::trial_runner {
  explicit fake_trials(std::shared_ptr<fake_scratch::files> f)
      : content(std::move(f)) {}
  trial_result run(const trial_request&, std::chrono::milliseconds, std::stop_token) override {
    ++count;
    return answer(content->at("kernel.so"));
  }
  std::shared_ptr<fake_scratch::files> content;
  std::function<trial_result(const std::string&)> answer = [](const std::string&) {
    return trial_result{trial_status::good, {}, 1000, 1};
  };
  int count = 0;
};

/// All three, wired as a worker needs them.
struct fake_ports {
  std::shared_ptr<fake_scratch> scratch = std::make_shared<fake_scratch>();
  std::shared_ptr<fake_processes> processes = std::make_shared<fake_processes>();
  std::shared_ptr<fake_trials> trials = std::make_shared<fake_trials>(scratch->content);

  actors::worker_ports ports() const { return {processes, trials, scratch, {}}; }
};

} // namespace hearth::test
