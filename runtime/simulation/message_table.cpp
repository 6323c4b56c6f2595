#include "runtime/simulation/message_table.hpp"

#include "runtime/simulation/text.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace hearth::simulation {
namespace {

constexpr std::array<std::string_view, 15> kind_names{
    "memory", "disk",    "remote",  "broker", "worker",   "guarded", "autotune", "bundler",
    "tuner",  "kernels", "actions", "nested", "recorder", "metrics", "chain"};

constexpr std::array<std::string_view, 20> syntaxes{
    "CACHE/KEY",
    "VALUE",
    "NUMBER",
    "\"text\"",
    "CODE \"text\"",
    "\"label\"",
    "ENTRY",
    "DURATION",
    "NAME=INT...",
    "NAME=INT... hash=TEXT time=NS",
    "CACHE/KEY [mode MODE] [notes N] [guard \"text\"] [sizes NAME=INT...] configs NAME=INT...",
    "PRIORITY",
    "INT",
    "CACHE/KEY [remote CACHE/KEY]",
    "hash=TEXT [descent] NAME=INT...",
    "[notes N]",
    "CACHE",
    "CACHE/KEY...",
    "[writes NAME \"text\"]... [joins NAME \"text\" STAMP]... [removes NAME \"text\" STAMP]... "
    "[limit N]",
    "[limit N]"};

template <class T, std::size_t I = 0>
constexpr parameter parameter_of() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<I, argument>>)
    return static_cast<parameter>(I);
  else
    return parameter_of<T, I + 1>();
}

template <class T>
struct completion_of : std::false_type {};
template <class T>
struct completion_of<completion<T>> : std::true_type {
  using value_type = T;
};

// --- answers -----------------------------------------------------------------------------------

template <class... Ts>
void fill(answer_slot& slot, const Ts&... parts) {
  std::string text;
  ((text += (text.empty() ? "" : " ") + text_of(parts)), ...);
  slot.text = std::move(text);
  if constexpr (sizeof...(Ts) == 1) {
    const auto keep = [&slot](const auto& only) {
      using T = std::decay_t<decltype(only)>;
      if constexpr (std::is_same_v<T, lease_reply>) slot.number = only.lease.take();
      if constexpr (std::is_same_v<T, std::uint64_t>) slot.number = only;
      if constexpr (std::is_same_v<T, bundle_session>) slot.number = only.id;
    };
    (keep(parts), ...);
  }
  slot.is_there = true;
}

template <class T>
completion<T> completion_into(const answer_ptr& slot) {
  auto state = std::make_shared<completion_state<T>>();
  state->then([slot](const expected<T>& result) {
    if (result)
      fill(*slot, *result);
    else
      fill(*slot, result.error());
  });
  return completion<T>(std::move(state));
}

// --- one row per signature ---------------------------------------------------------------------

template <class T>
const T& argument_at(std::span<const argument> arguments, std::size_t at) {
  return std::get<T>(arguments[at]);
}

template <class Handle, class Verb, class Outs, class... Args>
struct sender;

// A request: `asks`, or `tells` when it has no answer.
template <class Handle, class Verb, class... Outs, class... Args>
struct sender<Handle, Verb, caf::output_tuple<Outs...>, Args...> {
  static constexpr bool answers = !(std::is_void_v<Outs> || ...);

  template <std::size_t... I>
  static message_row row(actor_kind kind, std::index_sequence<I...>) {
    message_row made{kind,
                     caf::to_string(Verb::value),
                     answers ? message_form::asks : message_form::tells,
                     {parameter_of<Args>()...},
                     {}};
    made.send = [](caf::event_based_actor& from, const caf::actor& to,
                   std::span<const argument> arguments, const answer_ptr& slot) {
      const auto typed = caf::actor_cast<Handle>(to);
      if constexpr (answers)
        from.request(typed, caf::infinite, Verb{}, argument_at<Args>(arguments, I)...)
            .then([slot](const Outs&... parts) { fill(*slot, parts...); },
                  [slot](const caf::error& why) { fill(*slot, from_caf(why)); });
      else
        from.send(typed, Verb{}, argument_at<Args>(arguments, I)...);
      (void)arguments;
    };
    return made;
  }
};

// A message with a completion as its last argument: `calls`.
template <class Handle, class Verb, class Result, class... Args>
struct caller {
  template <std::size_t... I>
  static message_row row(actor_kind kind, std::index_sequence<I...>) {
    message_row made{
        kind, caf::to_string(Verb::value), message_form::calls, {parameter_of<Args>()...}, {}};
    made.send = [](caf::event_based_actor& from, const caf::actor& to,
                   std::span<const argument> arguments, const answer_ptr& slot) {
      from.send(caf::actor_cast<Handle>(to), Verb{}, argument_at<Args>(arguments, I)...,
                completion_into<Result>(slot));
    };
    return made;
  }
};

template <class... Ts>
struct types {};

template <class Handle, class Verb, class Outs, class... Before>
message_row row_of(actor_kind kind, types<>, types<Before...>) {
  return sender<Handle, Verb, Outs, Before...>::row(kind, std::index_sequence_for<Before...>{});
}

template <class Handle, class Verb, class Outs, class First, class... Rest, class... Before>
message_row row_of(actor_kind kind, types<First, Rest...>, types<Before...>) {
  if constexpr (completion_of<First>::value)
    return caller<Handle, Verb, typename completion_of<First>::value_type, Before...>::row(
        kind, std::index_sequence_for<Before...>{});
  else
    return row_of<Handle, Verb, Outs>(kind, types<Rest...>{}, types<Before..., First>{});
}

template <class Handle, class Verb, class... Args, class Outs>
message_row make_row(actor_kind kind,
                     caf::typed_mpi<caf::detail::type_list<Verb, Args...>, Outs>*) {
  return row_of<Handle, Verb, Outs>(kind, types<Args...>{}, types<>{});
}

template <class T, class... Alternatives>
constexpr bool is_one_of(const std::variant<Alternatives...>*) {
  return (std::is_same_v<T, Alternatives> || ...);
}

// Whether a script can write all arguments of the message.
template <class Verb, class... Args, class Outs>
constexpr bool can_be_written(caf::typed_mpi<caf::detail::type_list<Verb, Args...>, Outs>*) {
  return ((completion_of<Args>::value || is_one_of<Args>(static_cast<argument*>(nullptr))) && ...);
}

template <class Handle, class Signature>
void add_row(std::vector<message_row>& table, actor_kind kind) {
  if constexpr (can_be_written(static_cast<Signature*>(nullptr)))
    table.push_back(make_row<Handle>(kind, static_cast<Signature*>(nullptr)));
}

template <class Handle, class... Signatures>
void add_rows(std::vector<message_row>& table, actor_kind kind,
              caf::detail::type_list<Signatures...>) {
  (add_row<Handle, Signatures>(table, kind), ...);
}

template <class Handle>
void add_actor(std::vector<message_row>& table, actor_kind kind) {
  add_rows<Handle>(table, kind, typename Handle::signatures{});
}

std::vector<message_row> make_table() {
  std::vector<message_row> table;
  add_actor<memory_shard_actor>(table, actor_kind::memory);
  add_actor<disk_shard_actor>(table, actor_kind::disk);
  add_actor<remote_tier_actor>(table, actor_kind::remote);
  add_actor<compile_broker_actor>(table, actor_kind::broker);
  add_actor<compile_worker_actor>(table, actor_kind::worker);
  add_actor<guarded_cache_actor>(table, actor_kind::guarded);
  add_actor<autotune_cache_actor>(table, actor_kind::autotune);
  add_actor<autotune_bundler_actor>(table, actor_kind::bundler);
  add_actor<kernel_tuner_actor>(table, actor_kind::tuner);
  add_actor<kernel_cache_actor>(table, actor_kind::kernels);
  add_actor<action_cache_actor>(table, actor_kind::actions);
  add_actor<nested_cache_actor>(table, actor_kind::nested);
  add_actor<artifact_recorder_actor>(table, actor_kind::recorder);
  add_actor<metrics_actor>(table, actor_kind::metrics);
  add_actor<remote_chain_actor>(table, actor_kind::chain);
  return table;
}

} // namespace

std::string_view to_string(actor_kind kind) noexcept {
  return kind_names[static_cast<unsigned>(kind)];
}

std::optional<actor_kind> actor_kind_named(std::string_view name) noexcept {
  const auto at = std::find(kind_names.begin(), kind_names.end(), name);
  if (at == kind_names.end()) return std::nullopt;
  return static_cast<actor_kind>(at - kind_names.begin());
}

std::string_view to_string(message_form form) noexcept {
  constexpr std::array<std::string_view, 3> names{"asks", "calls", "tells"};
  return names[static_cast<unsigned>(form)];
}

std::string_view syntax_of(parameter p) noexcept { return syntaxes[static_cast<unsigned>(p)]; }

std::string message_row::usage() const {
  auto text = std::string(to_string(form)) + " " + std::string(to_string(receiver)) + " " + verb;
  for (const auto p : parameters)
    text += " " + std::string(syntax_of(p));
  return text;
}

const std::vector<message_row>& message_table() {
  static const auto table = make_table();
  return table;
}

const message_row* find_message(actor_kind receiver, std::string_view verb, message_form form) {
  for (const auto& row : message_table())
    if (row.receiver == receiver && row.verb == verb && row.form == form) return &row;
  return nullptr;
}

const message_row* find_longer(const message_row& row) {
  const auto is_longer = [&](const message_row& one) {
    return one.receiver == row.receiver && one.verb == row.verb && one.form == row.form &&
           one.parameters.size() > row.parameters.size() &&
           std::equal(row.parameters.begin(), row.parameters.end(), one.parameters.begin());
  };
  const auto& table = message_table();
  const auto at = std::find_if(table.begin(), table.end(), is_longer);
  return at == table.end() ? nullptr : &*at;
}

} // namespace hearth::simulation
