#include "runtime/simulation/text.hpp"

#include "messages/hex.hpp"

#include <caf/system_messages.hpp>
#include <caf/type_erased_tuple.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <type_traits>
#include <unordered_map>

namespace hearth::simulation {
namespace {

constexpr std::size_t shown_bytes = 48;

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      text += {'\\', c};
    else if (byte >= 0x20 && byte < 0x7F)
      text += c;
    else
      append_hex_escape(text, c);
  }
  return text;
}

// `"name"` without its quotes when it reads as one word.
std::string bare_if_word(std::string text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  const bool is_quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  if (!is_quoted || !std::all_of(text.begin() + 1, text.end() - 1, is_plain)) return text;
  return text.substr(1, text.size() - 2);
}

std::string outcome_of(const process_result& process) {
  if (process.timed_out) return "timed out";
  if (process.cancelled) return "cancelled";
  if (process.signal != 0) return "signal " + std::to_string(process.signal);
  return "exit " + std::to_string(process.exit_status);
}

std::string text_of_value(const value& v) {
  if (const auto* number = v.as<std::int64_t>()) return std::to_string(*number);
  if (const auto* text = v.as<std::string>()) return quoted_text(*text);
  if (const auto* flag = v.as<bool>()) return text_of(*flag);
  return "?";
}

std::string text_of_config(const value::map& config) {
  std::string text;
  for (const auto& [name, v] : config)
    text += (text.empty() ? "" : " ") + name + "=" + text_of_value(v);
  return text;
}

std::string text_of_member(std::string_view before, const set_member& member) {
  return std::string(before) + bare_if_word(quoted_text(member.id)) + " " +
         quoted_text(member.content) + " " + std::to_string(member.stamp);
}

template <class T>
void add_element(const caf::type_erased_tuple& content, std::size_t at, std::string& out) {
  out += text_of(content.get_as<T>(at));
}

using printer = void (*)(const caf::type_erased_tuple&, std::size_t, std::string&);

template <class... Ts>
printer printer_among(const caf::type_erased_tuple& content, std::size_t at) {
  printer found = nullptr;
  const auto look = [&]<class T>(std::type_identity<T>) {
    if (!found && content.match_element<T>(at)) found = add_element<T>;
  };
  (look(std::type_identity<Ts>{}), ...);
  return found;
}

template <class... Ts>
bool is_completion_of(const caf::type_erased_tuple& content, std::size_t at) {
  return (content.match_element<completion<Ts>>(at) || ...);
}

printer choose_printer(const caf::type_erased_tuple& content, std::size_t at) {
  if (content.match_element<caf::atom_value>(at))
    return [](const auto& of, std::size_t i, std::string& out) {
      out += caf::to_string(of.template get_as<caf::atom_value>(i));
    };
  if (content.match_element<caf::error>(at))
    return [](const auto& of, std::size_t i, std::string& out) {
      out += text_of(from_caf(of.template get_as<caf::error>(i)));
    };
  if (content.match_element<caf::exit_msg>(at))
    return [](const auto&, std::size_t, std::string& out) { out += "exit"; };
  if (content.match_element<caf::down_msg>(at))
    return [](const auto&, std::size_t, std::string& out) { out += "down"; };
  if (is_completion_of<lookup, insert_outcome, done, bool, lease_reply, action_reply>(content, at))
    return [](const auto&, std::size_t, std::string& out) { out += "(call)"; };
  if (const auto found = printer_among<
          cache_key, key_list, artifact, lookup, lookup_list, insert_outcome, disk_insert_reply,
          disk_change_reply, set_reply, set_change, set_limits, set_lookup, fleet_members, done,
          lease_reply, std::uint64_t, bool, error, memory_shard_stats, broker_stats, fleet_lease,
          remote_tier_stats, action_request, action_result, action_reply, trial_request,
          trial_result, span_list, hints, guarded_reply, autotune_record, autotune_address,
          autotune_choices, autotune_found, tuning_notes, named_cache_ptr, bundle_session,
          bundle_end, tune_request_ptr, tune_reply, recording, metrics_page, int, std::int64_t,
          std::string, std::chrono::milliseconds>(content, at))
    return found;
  return [](const auto&, std::size_t, std::string& out) { out += "?"; };
}

// Looks up the printer of a type once: CAF compares types by their names.
void add_any(const caf::type_erased_tuple& content, std::size_t at, std::string& out) {
  thread_local std::map<caf::rtti_pair, printer> known;
  const auto [place, is_new] = known.try_emplace(content.type(at), nullptr);
  if (is_new) place->second = choose_printer(content, at);
  place->second(content, at, out);
}

} // namespace

std::string quoted_text(std::string_view bytes) {
  if (bytes.size() <= shown_bytes) return '"' + escaped(bytes) + '"';
  return '"' + escaped(bytes.substr(0, shown_bytes)) + "...\" of " + std::to_string(bytes.size());
}

std::string text_of(bool flag) { return flag ? "true" : "false"; }
std::string text_of(int number) { return std::to_string(number); }
std::string text_of(std::int64_t number) { return std::to_string(number); }
std::string text_of(std::uint64_t number) { return std::to_string(number); }
std::string text_of(const std::string& text) { return quoted_text(text); }
std::string text_of(std::chrono::milliseconds time) { return std::to_string(time.count()) + "ms"; }

std::string text_of(const error& why) {
  return "error " + std::string(to_string(why.code())) + " \"" + escaped(why.text()) + '"';
}

namespace {

std::string described(std::string_view key_bytes) {
  const auto decoded = key::decode(key_bytes);
  return decoded ? bare_if_word(decoded->describe()) : "?";
}

} // namespace

// Decodes each key once: all messages of a simulation use the same few keys.
std::string text_of(const cache_key& key) {
  constexpr std::size_t max_known = 4096;
  thread_local std::unordered_map<std::string, std::string> known;
  if (known.size() >= max_known) known.clear();
  const auto [at, is_new] = known.try_emplace(std::string(key.bytes));
  if (is_new) at->second = described(key.bytes);
  const auto& id = key.cache->id;
  std::string text(id.name());
  if (id.version() != "0") text.append("@").append(id.version());
  return text.append("/").append(at->second);
}

std::string text_of(const artifact& value) {
  constexpr std::string_view begin_of_set = "\x92\x01";
  const auto set = value.payload().starts_with(begin_of_set) ? decode_members(value.payload())
                                                             : fail(errc::malformed, "");
  return set ? text_of(*set) : quoted_text(value.payload());
}

std::string text_of(const member_set& set) {
  std::string text;
  for (const auto& member : set.members())
    text.append(text.empty() ? "" : ", ").append(text_of_member("", member));
  return "{" + text + "}";
}

std::string text_of(const set_change& change) {
  std::string text;
  for (const auto& member : change.written)
    text +=
        "writes " + bare_if_word(quoted_text(member.id)) + " " + quoted_text(member.content) + " ";
  for (const auto& member : change.joined.members())
    text += text_of_member("joins ", member) + " ";
  for (const auto& member : change.removed)
    text += text_of_member("removes ", member) + " ";
  text += text_of(change.limits);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string text_of(const set_limits& limits) {
  const bool is_usual = limits.members == set_limits{}.members;
  return is_usual ? "" : "limit " + std::to_string(limits.members);
}

std::string text_of(const set_lookup& found) {
  return text_of(found.found) + (found.is_whole ? " whole" : "");
}

std::string text_of(const fleet_members& found) {
  return found.is_answered ? text_of(found.members) : "no answer " + text_of(found.members);
}

std::string text_of(const set_reply& reply) {
  return (reply.outcome.changed ? "changed " : "unchanged ") + text_of(reply.value);
}

std::string text_of(const lookup& found) {
  if (!found.hit()) return "miss";
  return "hit " + std::string(to_string(found.from)) + " " + text_of(found.value);
}

std::string text_of(const key_list& keys) {
  std::string text;
  for (const auto& key : keys)
    text.append(text.empty() ? "" : " ").append(text_of(key));
  return text;
}

std::string text_of(const lookup_list& found) {
  std::string text;
  for (const auto& one : found)
    text.append(text.empty() ? "" : ", ").append(one ? text_of(*one) : text_of(one.error()));
  return text;
}

std::string text_of(insert_outcome outcome) { return std::string(to_string(outcome)); }
std::string text_of(const done&) { return "done"; }

std::string text_of(const lease_reply& reply) {
  auto text =
      reply.found.hit() ? text_of(reply.found) : "lease " + std::to_string(reply.lease.id());
  return reply.waited ? text + " waited" : text;
}

std::string text_of(const memory_shard_stats& s) {
  return "entries=" + std::to_string(s.entries) + " hits=" + std::to_string(s.hits) +
         " misses=" + std::to_string(s.misses) + " inserted=" + std::to_string(s.inserted) +
         " evicted=" + std::to_string(s.evicted) + " erased=" + std::to_string(s.erased) +
         " loads=" + std::to_string(s.loads) + " promotions=" + std::to_string(s.promotions) +
         " unpersisted=" + std::to_string(s.unpersisted) +
         " leases_granted=" + std::to_string(s.leases_granted) +
         " leases_waiting=" + std::to_string(s.leases_waiting) +
         " leases_held=" + std::to_string(s.leases_held);
}

std::string text_of(const broker_stats& s) {
  return "runs=" + std::to_string(s.runs) + " trials=" + std::to_string(s.trials) +
         " failures=" + std::to_string(s.failures) +
         " max_at_once=" + std::to_string(s.max_at_once) + " queued=" + std::to_string(s.queued);
}

std::string text_of(fleet_lease outcome) { return std::string(to_string(outcome)); }

std::string text_of(const remote_tier_stats& s) {
  auto text = s.state + " openings=" + std::to_string(s.openings) +
              " waiting=" + std::to_string(s.waiting) + " leases=" + std::to_string(s.leases_held);
  for (const auto& one : s.caches)
    text += " " + one.cache + ": hits=" + std::to_string(one.hits) +
            " misses=" + std::to_string(one.misses) + " puts=" + std::to_string(one.puts);
  return text;
}

std::string text_of(const action_request& request) { return quoted_text(request.label); }

std::string text_of(const action_result& result) {
  auto text = outcome_of(result.process);
  if (!result.process.output.empty()) text += " " + quoted_text(result.process.output);
  for (const auto& output : result.outputs)
    text += " made " + text_of(output);
  return text;
}

std::string text_of(const action_reply& reply) {
  if (reply.again) return "again";
  auto text = (reply.ran ? "ran " : "found ") + text_of(reply.result);
  return reply.problem.empty() ? text : text + " problem " + quoted_text(reply.problem);
}

std::string text_of(const trial_request& request) { return request.entry; }

std::string text_of(const trial_result& result) {
  constexpr std::string_view names[] = {"good", "wrong", "crashed", "hung", "unfit", "not_run"};
  const std::string name(names[static_cast<unsigned>(result.status)]);
  if (result.status == trial_status::good) return name + " " + std::to_string(result.time_ns);
  return name + " " + quoted_text(result.reason);
}

std::string text_of(const span_list& spans) {
  std::string text = std::to_string(spans.size()) + " spans";
  for (const auto& span : spans)
    text += " " + span.category + ":" + span.name + ":" + std::to_string(span.duration_ns / 1000) +
            "us";
  return text;
}

std::string text_of(const hints& values) {
  std::string text;
  for (const auto& [name, number] : values)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(number);
  return text;
}

std::string text_of(const guarded_reply& reply) {
  auto text = std::string(to_string(reply.status));
  if (reply.found.hit()) text = text_of(reply.found) + " guard " + quoted_text(reply.guard);
  if (reply.unevaluated != 0) text += " unevaluated " + std::to_string(reply.unevaluated);
  if (reply.broken != 0) text += " broken " + std::to_string(reply.broken);
  return text;
}

std::string text_of(const autotune_record& record) {
  auto text = "config " + text_of_config(record.config.arguments) + " hash " + record.configs_hash +
              " time " + std::to_string(record.time_taken_ns);
  return record.config.found_by_coordesc ? text + " by descent" : text;
}

std::string text_of(const autotune_address& where) {
  std::string text = where.local.cache ? text_of(where.local) : "nowhere";
  return where.remote.cache ? text + " remote " + text_of(where.remote) : text;
}

std::string text_of(const autotune_choices& choices) {
  return "hash=" + choices.configs_hash + " of " + std::to_string(choices.configs.size());
}

std::string text_of(const autotune_found& found) {
  auto text = "best " + text_of_config(found.best.config.arguments) + " from " +
              std::string(to_string(found.from));
  return found.best.candidate ? text : text + " by descent";
}

std::string text_of(const tuning_notes& notes) {
  return notes.bundle == 0 ? "notes none" : "notes " + std::to_string(notes.bundle);
}

std::string text_of(const named_cache_ptr& cache) { return cache ? cache->id.name() : "none"; }

std::string text_of(const bundle_session& session) {
  auto text = "session " + std::to_string(session.id);
  if (!session.hit) return text + " miss";
  return text + " hit " + std::to_string(session.entries) + " saved " +
         std::to_string(session.time_saved_ns);
}

std::string text_of(const bundle_end& end) {
  return (end.stored ? "stored " : "as it was ") + std::to_string(end.entries);
}

std::string text_of(const tune_request_ptr& request) { return request ? request->name : "nothing"; }

std::string text_of(const tune_reply& reply) {
  auto text = std::string(to_string(reply.status));
  if (reply.library) text += " " + text_of(reply.library) + " with " + reply.config_text;
  for (const auto& one : reply.rejected)
    text += " rejected " + one.config_text + " " + quoted_text(one.reason);
  return reply.problem.empty() ? text : text + " problem " + quoted_text(reply.problem);
}

std::string text_of(const metrics_page& page) {
  auto text = page.samples();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string text_of(const recording& session) {
  auto text = std::to_string(session.artifacts.size()) + " artifacts, " +
              std::to_string(session.bytes) + " bytes";
  if (session.left_out != 0) text += ", " + std::to_string(session.left_out) + " left out";
  for (const auto& one : session.artifacts)
    text += " " + one.type + " " + text_of(one.key) + " " + text_of(one.value);
  return text;
}

std::string text_of(const epoch_change& epochs) {
  return epochs.is_known() ? "epoch +" + std::to_string(epochs.after - epochs.before)
                           : "epoch unknown";
}
std::string text_of(const disk_insert_reply& reply) { return text_of(reply.outcome); }
std::string text_of(const disk_change_reply& reply) {
  return text_of(reply.epochs) + " " + text_of(reply.was_there);
}

std::string text_of(const caf::type_erased_tuple& content) {
  if (content.match_elements<verb::promote, cache_key, artifact, std::uint64_t>())
    return "promote " + text_of(content.get_as<cache_key>(1)) + " " +
           text_of(content.get_as<artifact>(2));
  std::string text;
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (at > 0) text += ' ';
    add_any(content, at, text);
  }
  return text;
}

} // namespace hearth::simulation
