// How a script checks answers, figures, traces and logs.
#include "runtime/simulation/script/interpreter/interpreter_state.hpp"

namespace hearth::script {

void interpreter::run(const expect_answer& what) {
  const auto& slot = answer(what.label);
  for (auto& one : asked_)
    if (one.slot.get() == &slot) one.is_expected = slot.is_there;
  const auto fits = [&](const std::string& pattern) {
    return pattern == "waiting" ? !slot.is_there
                                : slot.is_there && simulation::matches(pattern, slot.text);
  };
  if (std::any_of(what.patterns.begin(), what.patterns.end(), fits)) return;
  std::string wanted;
  for (const auto& pattern : what.patterns)
    wanted += (wanted.empty() ? "" : " or ") + (pattern == "waiting" ? "no answer yet" : pattern);
  throw failed{wanted, slot.is_there ? slot.text : "no answer yet"};
}

// Fails on an error that no expectation was about.
void interpreter::expect_no_other_errors() const {
  for (const auto& one : asked_)
    if (!one.is_expected && one.slot->is_there && one.slot->text.starts_with("error "))
      throw failed{"no error that nothing expects, to the end of the script",
                   one.label + " has " + one.slot->text};
}

std::uint64_t interpreter::figure_of(const expect_figure& what) {
  if (world_.has_remote(what.of.owner)) return server_figure(what);
  if (!world_.has_host(what.of.owner)) return process_figure(what, process(what.of.owner));
  return what.of.part == "disk" ? disk_figure(what) : host_figure(what);
}

// The sum over all processes of a host.
std::uint64_t interpreter::host_figure(const expect_figure& what) {
  std::uint64_t sum = 0;
  for (const auto& [name, one] : world_.processes())
    if (world_.host_of(name) == what.of.owner) sum += process_figure(what, *one);
  return sum;
}

std::uint64_t interpreter::process_figure(const expect_figure& what,
                                          simulation::simulated_process& of) {
  std::optional<std::uint64_t> found;
  if (what.of.part == "store")
    found = of.store_figure(what.figure);
  else if (what.of.part == "log" && what.figure == "lines")
    found = of.log().size();
  else if (what.of.part == "compiler" && what.figure == "runs")
    found = of.compiler().runs();
  else if (const auto kind = simulation::actor_kind_named(what.of.part))
    found = of.figure(*kind, what.of.index, what.figure);
  if (!found) throw failed{"a figure " + what.figure, "there is none of that name"};
  return *found;
}

// The sum over the nodes of a cluster.
std::uint64_t interpreter::server_figure(const expect_figure& what) {
  std::uint64_t sum = 0;
  for (auto* one : world_.servers(what.of.owner, what.of.node)) {
    const auto found = one->figure(what.figure);
    if (!found || what.of.part != "server")
      throw failed{
          "entries, leases, commands, gets, sets, field_reads, members, pings or purges of " +
              what.of.owner + ".server",
          what.of.part + " " + what.figure};
    sum += *found;
  }
  return sum;
}

std::uint64_t interpreter::disk_figure(const expect_figure& what) {
  const auto& disk = world_.disk_of(what.of.owner);
  if (what.figure == "used_bytes") return disk.used_bytes();
  if (what.figure == "open_files") return disk.open_descriptions();
  if (what.figure == "files") return disk.files_below("/store").size();
  throw failed{"used_bytes, open_files or files", what.figure};
}

void interpreter::run(const expect_figure& what) {
  const auto number = figure_of(what);
  const auto& r = what.relation;
  const bool holds = (r == "=" && number == what.number) || (r == "!=" && number != what.number) ||
                     (r == "<" && number < what.number) || (r == "<=" && number <= what.number) ||
                     (r == ">" && number > what.number) || (r == ">=" && number >= what.number);
  if (!holds)
    throw failed{what.figure + " " + r + " " + std::to_string(what.number), std::to_string(number)};
}

// A line of the trace without its time.
std::string_view interpreter::event_of(std::string_view line) {
  return line.substr(line.find(' ') + 1);
}

void interpreter::run(const expect_trace& what) {
  auto at = trace_from_;
  for (const auto& pattern : what.patterns) {
    const auto from = at;
    while (at < trace_.size() && !simulation::matches(pattern, event_of(trace_[at])))
      ++at;
    if (what.forbidden && at < trace_.size()) throw failed{"no message " + pattern, trace_[at]};
    if (!what.forbidden && at == trace_.size())
      throw failed{pattern, from == trace_from_ ? "no such message"
                                                : "no such message after " + trace_[from - 1]};
    ++at;
  }
}

void interpreter::run(const expect_log& what) {
  const auto& lines = process(what.process).log();
  const bool found = std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
    return simulation::matches(what.pattern, line);
  });
  if (found == what.forbidden)
    throw failed{(what.forbidden ? "no line " : "a line ") + what.pattern,
                 lines.empty() ? "nothing was logged" : "the last line is " + lines.back()};
}

void interpreter::run(const expect_all_answered&) {
  for (const auto& one : asked_)
    if (!one.slot->is_there) throw failed{"every question answered", one.label + " waits"};
}

void interpreter::run(const expect_intact& what) {
  const auto& store = running(what.process).store();
  if (!store) throw failed{"a store", "there is none"};
  const auto checked = store->verify(false);
  if (!checked) throw failed{"the store to be readable", checked.error().to_string()};
  if (!checked->intact())
    throw failed{"an intact store", checked->findings.empty() ? "damage" : checked->findings[0]};
}

} // namespace hearth::script
