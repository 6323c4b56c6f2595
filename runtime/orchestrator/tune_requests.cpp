#include "runtime/orchestrator/tune_requests.hpp"

#include "actors/tuning_result.hpp"
#include "runtime/caches/autotune/tuning_caches.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/includes/includes.hpp"
#include "runtime/fingerprints/machine/machine.hpp"
#include "runtime/fingerprints/toolchain/toolchain.hpp"
#include "runtime/orchestrator/plan_code.hpp"
#include "runtime/orchestrator/plan_keys.hpp"
#include "runtime/orchestrator/watched_compiles.hpp"
#include "runtime/os/in_parallel.hpp"
#include "runtime/process/process_runner.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace hearth::orchestrator {
namespace {

// Every trial of an entry, on every machine, has the same inputs.
constexpr std::uint64_t input_seed = 0x6865617274680001;

// The data that the requests of one plan share.
struct request_context {
  const plan& work;
  fingerprints::toolchain compiler;
  const fingerprints::machine& host;
  value::map shared;
  fingerprints::include_scanner& includes;
  tuned_sources& tuned;
  tuning_options options;
  tuning_scope scope;
  named_cache_ptr entries;
  named_cache_ptr actions;
  named_cache_ptr tunings;
  named_cache_ptr shared_tunings;
  named_cache_ptr times;
  std::stop_token stop;
  watched_compiles* watched; ///< null: compiles are not watched
  bool asks_fleet;           ///< for observations, also if some are known here
};

// Turns a name that the compiler would take for an option or a response file into a path.
std::string as_argument(const std::string& source) {
  const bool is_special = source.starts_with('-') || source.starts_with('@');
  return is_special ? "./" + source : source;
}

std::vector<fingerprints::macro> macros_of(const plan_entry& entry, const plan_config& config) {
  std::vector<fingerprints::macro> macros;
  if (entry.guard) macros.push_back({"HEARTH_GUARD", std::to_string(*entry.guard)});
  for (const auto& item : config)
    macros.push_back({item.name, item.text});
  return macros;
}

hints sizes_of(const plan_kernel& kernel, std::size_t shape) {
  hints sizes;
  for (std::size_t i = 0; i < kernel.symbols.size(); ++i)
    sizes[kernel.symbols[i]] = kernel.shapes[shape][i];
  return sizes;
}

action_request compile_action(const request_context& context, const plan_kernel& kernel,
                              const std::vector<fingerprints::macro>& macros, std::string label) {
  auto arguments = fingerprints::macro_arguments(macros);
  for (auto& argument : link_arguments())
    arguments.push_back(std::move(argument));
  arguments.push_back("-o");
  arguments.push_back("");
  const auto output_from_end = std::size_t{2};
  arguments.push_back(as_argument(kernel.source));
  action_request action;
  action.label = std::move(label);
  action.process = context.compiler.run(std::move(arguments), context.work.toolchain.timeout);
  action.outputs = {{action.process.argv.size() - output_from_end, "kernel.so"}};
  return action;
}

// A candidate, and the details that it adds to its entry's key.
struct keyed_candidate {
  tune_candidate candidate;
  value::map details;
  std::string tuned; ///< its sources as far as a tuning depends on them
};

using closure_ptr = std::shared_ptr<const fingerprints::source_closure>;

// The files that the compile of each configuration would read. A configuration whose includes
// cannot be read is scanned again after the others: where no macro chooses includes, a result of
// one of them holds for all, so the key does not depend on which was scanned first.
std::vector<expected<closure_ptr>> closures_of(const request_context& context,
                                               const plan_kernel& kernel, const plan_entry& entry) {
  const auto ask = [&](const plan_config& config) {
    return context.includes.closure_of(as_argument(kernel.source), macros_of(entry, config),
                                       context.stop);
  };
  std::vector<expected<closure_ptr>> closures;
  for (const auto& config : kernel.configs)
    closures.push_back(ask(config));
  for (std::size_t i = 0; i < closures.size(); ++i)
    if (!closures[i]) closures[i] = ask(kernel.configs[i]);
  return closures;
}

keyed_candidate make_candidate(const request_context& context, const plan_kernel& kernel,
                               const plan_entry& entry, const plan_config& config,
                               expected<closure_ptr> closure, const std::string& label) {
  keyed_candidate result;
  auto& candidate = result.candidate;
  candidate.config = config_object(config);
  candidate.config_text = config_text(config);
  const auto macros = macros_of(entry, config);
  if (!closure) {
    candidate.broken = closure.error();
    result.tuned = "unreadable: " + closure.error().text();
    result.details = config_details(config, result.tuned);
    return result;
  }
  result.tuned = context.tuned.identity_of(**closure);
  result.details = config_details(config, (*closure)->identity.hex());
  candidate.action = compile_action(context, kernel, macros, label + " " + candidate.config_text);
  candidate.action.accept = [files = std::move(*closure)](const auto&) -> expected<void> {
    if (files->still_holds()) return {};
    return fail(errc::busy, "a source changed while it was compiled; run again");
  };
  return result;
}

key key_of(const value::map& details) { return key::bytes(key_digest(details).view()); }

std::string label_of(const plan_kernel& kernel, const plan_entry& entry) {
  return entry.guard ? kernel.name + "[guard " + std::to_string(*entry.guard) + "]" : kernel.name;
}

trial_request trial_of(const request_context& context, const plan_kernel& kernel,
                       const plan_entry& entry) {
  const auto& tuned_on = context.work.requests[entry.requests.front()];
  trial_request trial;
  trial.entry = kernel.entry;
  trial.reference = kernel.reference;
  trial.tolerance = kernel.tolerance;
  trial.buffers = tuned_on.buffers;
  trial.sizes = kernel.shapes[tuned_on.shape];
  trial.seed = input_seed;
  return trial;
}

// The hash of an entry without its candidates: its kernel, and its sources without comments. What
// is tuned stays so when a comment changes; the winner is compiled anew.
std::string family_of(value::map details, const std::vector<keyed_candidate>& candidates) {
  std::set<std::string> sources;
  for (const auto& one : candidates)
    sources.insert(one.tuned);
  details["sources"] = value::array(sources.begin(), sources.end());
  return key_digest(details).hex();
}

// An empty key without a cache: this tier is off.
cache_key key_in(const named_cache_ptr& cache, const key& k) {
  return cache ? cache_key(cache, k.encoded()) : cache_key();
}

autotune_address address_of(const request_context& context, const std::string& family,
                            const std::string& configs_hash) {
  const auto prepared = prepared_key(family, context.options.tag);
  autotune_address address;
  address.name = local_name(prepared, context.scope.toolchain);
  const auto in_fleet = key::tuple({key(remote_id(context.scope, configs_hash)), key(prepared)});
  address.local = key_in(context.tunings, key(address.name));
  address.remote = key_in(context.shared_tunings, in_fleet);
  return address;
}

// The keys of an entry. What a watched compile has observed is one of its details, also if it is
// not known.
entry_keys entry_keys_of(const named_cache_ptr& in, value::map details,
                         const std::vector<value::map>& configs,
                         const std::vector<std::string>& observed) {
  value::array all;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    auto config = configs[i];
    if (config.contains("observed")) config["observed"] = binary{observed[i]};
    all.emplace_back(std::move(config));
  }
  details["configs"] = std::move(all);
  entry_keys keys;
  keys.tuned = cache_key(in, key_of(details).encoded());
  details["tuned"] = false;
  keys.untuned = cache_key(in, key_of(details).encoded());
  return keys;
}

// Lets the compiles of an entry be watched, and looks for what is known of them. `changes` gets
// what has changed since.
void watch(const request_context& context, const std::vector<key>& actions,
           std::vector<keyed_candidate>& candidates, std::vector<std::string>& changes) {
  auto known = context.watched->look_up(actions, context.asks_fleet);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    auto& one = candidates[i];
    if (one.candidate.broken) continue;
    const auto& change = known[i].change;
    if (known[i].observed.empty() && !change.empty() &&
        std::find(changes.begin(), changes.end(), change) == changes.end())
      changes.push_back(change);
    context.watched->watch(one.candidate.action, std::move(known[i].seen));
    one.candidate.observed = std::move(known[i].observed);
    one.details["observed"] = binary{};
  }
}

// Sets the keys under which the entry, its tuning and its times are stored.
void add_keys(const request_context& context, value::map details,
              const std::vector<keyed_candidate>& candidates, tune_request& request) {
  const auto family = family_of(details, candidates);
  request.family = cache_key(context.entries, key(family).encoded());
  request.times_key = key_in(context.times, key(family));
  request.address = address_of(context, family, actors::configs_hash_of(request));
  std::vector<value::map> configs;
  for (const auto& one : candidates)
    configs.push_back(one.details);
  request.keys_of = [details = std::move(details), configs = std::move(configs),
                     in = context.entries](const std::vector<std::string>& observed) {
    return entry_keys_of(in, details, configs, observed);
  };
  const auto keys = request.keys_of(actors::observed_by(request));
  request.key = keys.tuned;
  request.untuned_key = keys.untuned;
}

// The source files of an entry's candidates, by name.
key_field files_of(const std::vector<expected<closure_ptr>>& closures) {
  constexpr std::size_t shown_digits = 16;
  key_field::map files;
  for (const auto& closure : closures) {
    if (!closure) continue;
    for (const auto& file : (*closure)->files)
      files.insert_or_assign(file.name, file.state.content.hex().substr(0, shown_digits));
  }
  return key_field(std::move(files));
}

// What the entry's key is made of: `base`, its candidates and the files that they read.
entry_origin origin_of(const request_context& context, const plan_entry& entry,
                       const value::map& base, const std::vector<expected<closure_ptr>>& closures,
                       const tune_request& request) {
  entry_origin origin;
  origin.subject = "kernel " + request.name;
  if (!entry.guard)
    for (const auto& [symbol, size] : request.sizes)
      origin.subject += " " + symbol + "=" + std::to_string(size);
  auto details = base;
  value::array configs;
  for (const auto& candidate : request.candidates)
    configs.push_back(candidate.config_text);
  details["configs"] = std::move(configs);
  auto shown = shown_details(context.compiler, context.host, details);
  auto members = *shown.as<key_field::map>();
  members.insert_or_assign("sources", files_of(closures));
  origin.shown = key_field(std::move(members));
  return origin;
}

// A request, and what its key is made of.
struct made_request {
  tune_request_ptr request;
  entry_origin origin;
};

made_request make_request(const request_context& context, const plan_entry& entry) {
  const auto& kernel = context.work.kernels[entry.kernel];
  const auto& tuned_on = context.work.requests[entry.requests.front()];
  auto request = std::make_shared<tune_request>();
  request->name = label_of(kernel, entry);
  request->sizes = sizes_of(kernel, tuned_on.shape);
  if (entry.guard) request->guard = kernel.guards[*entry.guard].text();
  request->trial = trial_of(context, kernel, entry);
  request->trial_deadline = context.work.toolchain.timeout;
  request->mode = context.options.mode;
  auto base = entry_details(context.shared, kernel, entry);
  std::vector<keyed_candidate> candidates;
  std::vector<key> actions;
  const auto closures = closures_of(context, kernel, entry);
  for (std::size_t i = 0; i < kernel.configs.size(); ++i) {
    auto made =
        make_candidate(context, kernel, entry, kernel.configs[i], closures[i], request->name);
    auto details = base;
    details["config"] = made.details;
    actions.push_back(key_of(details));
    made.candidate.action_key = cache_key(context.actions, actions.back().encoded());
    candidates.push_back(std::move(made));
  }
  std::vector<std::string> changes;
  if (context.watched) watch(context, actions, candidates, changes);
  for (const auto& one : candidates)
    request->candidates.push_back(one.candidate);
  if (!entry.guard) // one entry per shape
    base["sizes"] = value::array(request->trial.sizes.begin(), request->trial.sizes.end());
  auto origin = origin_of(context, entry, base, closures, *request);
  origin.changes = std::move(changes);
  add_keys(context, std::move(base), candidates, *request);
  return {std::move(request), std::move(origin)};
}

// Makes the requests, `at_once` in parallel: each may read files or run the compiler.
planned_tuning make_all(const request_context& context, const std::vector<std::size_t>& entries,
                        unsigned at_once) {
  planned_tuning all{std::vector<tune_request_ptr>(entries.size()), context.scope,
                     std::vector<entry_origin>(entries.size())};
  os::in_parallel(entries.size(), at_once, [&](std::size_t i) {
    auto made = make_request(context, context.work.entries[entries[i]]);
    all.entries[i] = std::move(made.request);
    all.origins[i] = std::move(made.origin);
  });
  return all;
}

named_cache_ptr named(engine::runtime_core& core, std::string_view name) {
  return core.name(*cache_id::make(name), {}).value();
}

} // namespace

expected<planned_tuning> make_tune_requests(const planning_ports& ports, const plan& work,
                                            const tuning_options& options,
                                            const std::vector<std::size_t>& entries) {
  auto& core = ports.core;
  auto& runner = core.processes();
  auto& memo = *ports.facts;
  fingerprints::file_view files;
  std::optional<watched_compiles> watched; // from before anything is read
  if (core.settings().watch_programs && process::can_watch())
    watched.emplace(core, ports.actions, files, ports.facts, work.directory);
  fingerprints::toolchain_request asked;
  asked.compiler = work.toolchain.compiler;
  asked.directory = work.directory;
  asked.flags = work.toolchain.flags;
  asked.variables = fingerprints::host_variables();
  asked.deadline = work.toolchain.timeout;
  auto compiler = fingerprints::identify(asked, files, runner, memo, core.stop_token());
  if (!compiler) return fail(compiler.error().within(work.path));
  fingerprints::include_scanner includes(*compiler, files, runner, memo, work.toolchain.timeout);
  tuned_sources tuned;
  const auto& host = fingerprints::this_machine();
  const tuning_caches caches(core);
  const request_context context{work,
                                *compiler,
                                host,
                                shared_details(*compiler, host),
                                includes,
                                tuned,
                                options,
                                {compiler->identity, host.identity().hex(), options.tag},
                                named(core, "kernels"),
                                named(core, "actions"),
                                caches.local,
                                caches.remote,
                                caches.times,
                                core.stop_token(),
                                watched ? &*watched : nullptr,
                                ports.asks_fleet};
  return make_all(context, entries, core.jobs());
}

std::vector<tune_request_ptr> noted_for(std::vector<tune_request_ptr> entries,
                                        std::uint64_t bundle_session) {
  for (auto& entry : entries) {
    auto noted = std::make_shared<tune_request>(*entry);
    noted->notes.bundle = bundle_session;
    entry = std::move(noted);
  }
  return entries;
}

tune_request_ptr for_shape(const tune_request_ptr& entry, const plan& work,
                           const plan_request& shape, const std::vector<std::string>& observed) {
  auto request = std::make_shared<tune_request>(*entry);
  request->notes = {};
  if (!observed.empty()) {
    const auto keys = request->keys_of(observed);
    request->key = keys.tuned;
    request->untuned_key = keys.untuned;
    for (std::size_t i = 0; i < observed.size(); ++i)
      request->candidates[i].observed = observed[i];
  }
  request->sizes = sizes_of(work.kernels[shape.kernel], shape.shape);
  return request;
}

} // namespace hearth::orchestrator
