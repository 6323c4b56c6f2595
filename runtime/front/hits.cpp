#include "runtime/front/hits.hpp"

#include "messages/cache_id.hpp"
#include "runtime/actions/find_result.hpp"
#include "runtime/api/version.hpp"
#include "runtime/front/compile_counts.hpp"
#include "runtime/front/compile_line.hpp"
#include "runtime/front/compiler_behind.hpp"
#include "runtime/front/known_compiles.hpp"
#include "runtime/front/local_store.hpp"
#include "runtime/front/programs.hpp"
#include "runtime/front/run_line.hpp"
#include "runtime/front/statuses.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <poll.h>
#include <string_view>
#include <unistd.h>

extern char** environ;

namespace hearth::front {
namespace {

using word_list = std::vector<std::string>;

// A compiler that has to be asked is asked by the program with the runtime.
class no_programs : public actors::process_runner {
public:
  expected<process_result> run(const process_request&, std::stop_token) override {
    return fail(errc::unsupported, "programs are run by another program");
  }
};

// Writes all of it, also to a pipe that does not wait for its reader.
bool print(int to, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(to, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) return false;
    pollfd room{to, POLLOUT, 0};
    if (::poll(&room, 1, -1) < 0 && errno != EINTR) return false;
  }
  return true;
}

// What was printed in part cannot be printed anew by another program.
int print_result(std::string_view text) {
  if (print(STDOUT_FILENO, text)) return 0;
  if (errno == EPIPE) return output_has_no_reader;
  const error why{errc::io, "cannot write to stdout"};
  print(STDERR_FILENO, "hearth: " + why.text() + "\n");
  return io_trouble;
}

int print_version() { return print_result("hearth " + std::string(version()) + "\n"); }

// Whether a variable sets something that counts: a remote tier, a configuration file, limits.
bool has_other_settings() {
  const auto counts = [](std::string_view variable) {
    constexpr std::string_view ours = "HEARTH_";
    const auto name = variable.substr(0, variable.find('='));
    return name.starts_with(ours) && name != "HEARTH_STORE" && name != "HEARTH_WORKER" &&
           name != compilers_behind_variable && name != off_variable && name != base_variable;
  };
  for (char** at = environ; *at; ++at)
    if (counts(*at)) return true;
  return false;
}

// Takes a command line apart. An option that is not asked for makes it not understood.
class word_reader {
public:
  explicit word_reader(const word_list& all)
      : all_(all) {}

  bool is_over() const { return at_ == all_.size(); }
  const std::string& next() const { return all_[at_]; }
  bool is_option() const { return next().starts_with('-'); }
  std::string take() { return all_[at_++]; }
  bool take_flag(std::string_view name, bool& into) {
    if (next() != name || into) return false;
    ++at_;
    return into = true;
  }
  // "--name VALUE", once.
  bool take_value(std::string_view name, std::optional<std::string>& into) {
    if (next() != name || into || at_ + 1 == all_.size() || all_[at_ + 1].starts_with('-'))
      return false;
    into = all_[at_ + 1];
    at_ += 2;
    return true;
  }
  // "--name VALUE VALUE ...".
  bool take_values(std::string_view name, word_list& into) {
    if (next() != name || at_ + 1 == all_.size() || all_[at_ + 1].starts_with('-')) return false;
    for (++at_; !is_over() && !is_option(); ++at_)
      into.push_back(next());
    // The other program reads "[a,b]" as two values.
    return std::none_of(into.begin(), into.end(),
                        [](const std::string& one) { return one.starts_with('['); });
  }

private:
  const word_list& all_;
  std::size_t at_ = 0;
};

std::optional<std::string> variable(const char* name) {
  const char* const text = std::getenv(name);
  return text ? std::optional<std::string>(text) : std::nullopt;
}

std::filesystem::path place_of_store(const std::optional<std::string>& given) {
  if (given) return *given;
  const auto named = variable("HEARTH_STORE");
  if (named && !named->empty()) return *named;
  return store_of_user(variable("XDG_CACHE_HOME"), variable("HOME"));
}

std::optional<int> get_entry(const word_list& all) {
  std::optional<std::string> store, name, wanted;
  bool is_get = false;
  for (word_reader in(all); !in.is_over();) {
    if (in.take_value("--store", store) || (is_get && in.take_value("--cache", name))) continue;
    if (in.is_option()) return std::nullopt;
    const auto word = in.take();
    if (!is_get && word == "get")
      is_get = true;
    else if (is_get && !wanted)
      wanted = word;
    else
      return std::nullopt;
  }
  if (!wanted) return std::nullopt;
  const auto cache = cache_id::make(name.value_or("default"));
  if (!cache) return std::nullopt;
  const auto in = local_store::open(place_of_store(store));
  // The other program tells of a damaged entry, and drops it.
  const auto found = in ? in->get(*cache, key(*wanted).encoded()) : artifact{};
  if (!found) return std::nullopt;
  return print_result(found.payload());
}

struct run_words {
  run_arguments arguments;
  std::optional<std::string> store;
};

std::optional<run_words> read_run(const word_list& all) {
  const auto mark = std::find(all.begin(), all.end(), "--");
  if (mark == all.end() || mark + 1 == all.end()) return std::nullopt;
  const word_list options(all.begin(), mark);
  run_words read;
  auto& given = read.arguments;
  given.command.assign(mark + 1, all.end());
  std::optional<std::string> dependency_file, timeout, memory, cpu;
  bool is_run = false;
  for (word_reader in(options); !in.is_over();) {
    if (in.take_value("--store", read.store)) continue;
    if (!is_run) {
      if (in.take() != "run") return std::nullopt;
      is_run = true;
    } else if (!in.take_values("--in", given.inputs) && !in.take_values("--out", given.outputs) &&
               !in.take_values("--env", given.variables) &&
               !in.take_values("--toolchain", given.toolchains) &&
               !in.take_value("--depfile", dependency_file) &&
               !in.take_value("--timeout", timeout) && !in.take_value("--memory", memory) &&
               !in.take_value("--cpu", cpu) &&
               !in.take_flag("--keep-failures", given.keep_failures) &&
               !in.take_flag("--strict", given.strict) &&
               !in.take_flag("--explain", given.says_why) && // a hit has nothing to say
               !in.take_flag("--placeholders", given.placeholders)) {
      return std::nullopt;
    }
  }
  if (!is_run) return std::nullopt;
  given.dependency_file = dependency_file.value_or("");
  given.timeout = timeout.value_or("");
  given.memory = memory.value_or("");
  given.cpu = cpu.value_or("");
  return read;
}

// As `hearth run` ends when it runs the command.
int status_of(const action_outcome& outcome) {
  return outcome.signal != 0 ? run_signalled + outcome.signal : outcome.status;
}

using held_callback =
    std::function<void(const std::string& observation, const key& result, const scratch_view&)>;

std::optional<action_outcome> find_action(const action& asked, local_results& results,
                                          local_facts& facts, const held_callback& held) {
  no_programs programs;
  auto ready = prepare(asked, {programs, facts});
  if (!ready) return std::nullopt;
  find_ports ports{results, facts};
  if (held)
    ports.held = [&](const std::string& observation, const key& result) {
      held(observation, result, ready->view);
    };
  return find_result(ports, asked, *ready);
}

std::optional<action_outcome> find_compile(const action& asked, local_results& results,
                                           local_facts& facts) {
  known_compiles known(facts, asked);
  if (auto found = known.find(results)) return found;
  return find_action(asked, results, facts,
                     [&](const std::string& observation, const key& result,
                         const scratch_view& view) { known.remember(observation, result, view); });
}

// Finds the stored result of an action, and puts its outputs in their places, unless `leaves` says
// that they are not to be.
std::optional<action_outcome> put_out(const action& asked, const std::optional<std::string>& store,
                                      const std::function<bool(const action_outcome&)>& leaves) {
  static std::unique_ptr<local_store> in; // not unmapped when this process ends
  in = local_store::open(place_of_store(store));
  if (!in) return std::nullopt;
  local_facts facts(*in);
  local_results results(*in);
  auto found = asked.is_compile ? find_compile(asked, results, facts)
                                : find_action(asked, results, facts, {});
  if (!found || found->timed_out) return std::nullopt;
  const auto how =
      asked.is_compile ? os::replacement::removing_first : os::replacement::in_one_step;
  if (!leaves(*found) && !materialize_outputs(*found, asked.directory, how)) return std::nullopt;
  facts.keep();
  in->close();
  return found;
}

std::optional<int> find_run(const word_list& all) {
  const auto read = read_run(all);
  if (!read) return std::nullopt;
  const auto asked = action_of(read->arguments);
  if (!asked) return std::nullopt;
  const auto found = put_out(*asked, read->store, [](const auto& one) { return !one.succeeded(); });
  if (!found) return std::nullopt;
  const bool is_out = print(STDOUT_FILENO, found->out);
  if (!is_out && errno == EPIPE) return output_has_no_reader;
  if (!is_out || !print(STDERR_FILENO, found->err)) {
    const error why{errc::io, "cannot pass on what the command printed"};
    print(STDERR_FILENO, "hearth: " + why.text() + "\n");
    return run_failed;
  }
  return status_of(*found);
}

// Counts a compile, unless a configuration file may name another store.
template <class... End>
void count_here(End... how) {
  if (!variable("HEARTH_CONFIG")) count_compile(place_of_store(std::nullopt), how...);
}

// A compile; one that is not cached runs as it is.
std::optional<int> compile(const word_list& line, bool has_settings) {
  if (line.empty()) return std::nullopt;
  if (line.front() == "--version") return print_version();
  if (line.front().starts_with('-')) return std::nullopt; // an option of Hearth
  if (is_disabled()) return become_compiler(line);
  const auto asked = action_of_compile(line);
  if (!asked) {
    count_here(asked.error().why);
    return become_compiler(line);
  }
  if (has_settings) return std::nullopt;
  const auto found = put_out(*asked, std::nullopt, has_to_run_plainly);
  if (!found) return std::nullopt;
  if (has_to_run_plainly(*found)) {
    count_here(compile_end::on_terminal);
    return become_compiler(line);
  }
  count_here(compile_end::hit, found->time_taken_ns);
  // A compiler's status does not depend on where its messages go.
  print(STDOUT_FILENO, found->out);
  print(STDERR_FILENO, found->err);
  return found->status;
}

} // namespace

std::optional<int> answer(const word_list& all) {
  if (all == word_list{"--version"}) return print_version();
  const bool has_settings = has_other_settings();
  if (!all.empty() && all.front() == "cc")
    return compile({all.begin() + 1, all.end()}, has_settings);
  if (has_settings) return std::nullopt;
  if (std::find(all.begin(), all.end(), "--") != all.end()) return find_run(all);
  return get_entry(all);
}

} // namespace hearth::front
