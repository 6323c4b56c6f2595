#include "runtime/caches/graphs/graph_cache.hpp"

#include "messages/guarded_variant.hpp"
#include "messages/key_builder.hpp"
#include "messages/set_kind.hpp"
#include "runtime/caches/facts/key_history.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "storage/bundle/record_head.hpp"

#include <atomic>
#include <optional>
#include <set>
#include <utility>

namespace hearth {

struct graph_cache::shared {
  std::shared_ptr<engine::runtime_core> core;
  cache entries;
  graph_cache_options options;
  std::optional<key_history> keys; // unless the settings keep no details
  std::atomic<std::int64_t> saved_ns{0};
};

namespace {

using attachments = std::vector<attachment>;

cache_key key_in(const cache& entries, const key& k) {
  return {internals::name(entries), k.encoded()};
}

expected<attachment> check_content(const attachment_name& name, const artifact& kept) {
  if (sha256(kept.payload()) != name.content)
    return fail(errc::corrupt, "the files of '" + name.folder + "' are not those that were kept");
  return decode_attachment(name.folder, kept);
}

// Notes an attachment, if there is a session.
void note_attachment(const std::optional<recording_session>& recording, const cache& entries,
                     const digest& content, const artifact& kept) {
  if (recording)
    internals::note(*recording, storage::graph_record_type,
                    key_in(entries, attachment_key(content)), kept);
}

// Notes a graph's entry, if there is a session.
void note_entry(const std::optional<recording_session>& recording, const cache_key& at,
                const std::string& guard, const artifact& entry) {
  if (recording) internals::note_variant(*recording, storage::graph_record_type, at, guard, entry);
}

// All attachments of an entry; empty when one is missing, whose folder `missing` then names.
expected<std::optional<attachments>> load(const cache& entries,
                                          const std::vector<attachment_name>& names,
                                          const std::optional<recording_session>& recording,
                                          std::string& missing) {
  std::vector<key> keys;
  for (const auto& name : names)
    keys.push_back(attachment_key(name.content));
  const auto answers = entries.get_many(keys);
  attachments all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!answers[i]) return fail(answers[i].error());
    if (!answers[i]->hit()) {
      missing = names[i].folder;
      return std::nullopt;
    }
    auto files = check_content(names[i], answers[i]->value);
    if (!files) return fail(files.error());
    note_attachment(recording, entries, names[i].content, answers[i]->value);
    all.push_back(std::move(*files));
  }
  return all;
}

expected<std::vector<put_back_folder>> put_all_back(const attachments& all,
                                                    const std::filesystem::path& folder) {
  std::vector<put_back_folder> done;
  for (const auto& files : all) {
    const auto put = put_back(files, folder);
    if (!put) return fail(put.error());
    done.push_back({files.folder, *put});
  }
  return done;
}

// The entries as a look-up in these tiers sees them.
cache narrowed(const cache& entries, lookup_tiers in) {
  switch (in) {
  case lookup_tiers::all: break;
  case lookup_tiers::local: return internals::local_tiers(entries);
  case lookup_tiers::remote: return internals::remote_tier(entries);
  }
  return entries;
}

// A look-up whose guards the host evaluates.
class evaluated_lookup {
public:
  evaluated_lookup(engine::runtime_core& core, cache_key base, const guard_evaluator& holds)
      : core_(core)
      , base_(std::move(base))
      , holds_(holds) {}

  // Tries the variants that this host knows, then those of the fleet.
  expected<guarded_reply> run() {
    const auto set = variants_key(base_);
    const auto& owner = core_.shards().owner_of(set);
    const auto here = engine::ask_actor<lookup>(core_, owner, verb::find_set_v, set);
    if (!here) return fail(here.error());
    if (try_all(*here)) return reply_;
    const auto fleet =
        engine::ask_actor<set_lookup>(core_, owner, verb::refresh_v, set, variant_sets.limits);
    if (fleet && try_all(fleet->found)) return reply_;
    const bool any = reply_.broken < tried_.size();
    reply_.status = any ? guarded_status::guard_miss : guarded_status::full_miss;
    return reply_;
  }

private:
  bool try_all(const lookup& found) {
    const auto members = found.hit() ? decode_members(found.value.payload()) : member_set{};
    if (!members) return false;
    for (const auto& variant : members->members())
      if (tried_.insert(variant.id).second && holds(variant.content) && take(variant)) return true;
    return false;
  }

  bool holds(const std::string& guard) {
    if (guard.empty()) return true;
    reply_.sample = guard;
    const auto answer = holds_(guard);
    if (!answer) ++reply_.unevaluated;
    return answer.value_or(false);
  }

  bool take(const set_member& variant) {
    const auto at = variant_key(base_, variant.id);
    const auto found =
        engine::ask_actor<lookup>(core_, core_.shards().owner_of(at), verb::get_v, at);
    if (!found || !found->hit()) {
      ++reply_.broken;
      return false;
    }
    reply_.status = guarded_status::hit;
    reply_.found = *found;
    reply_.guard = variant.content;
    return true;
  }

  engine::runtime_core& core_;
  const cache_key base_;
  const guard_evaluator& holds_;
  std::set<std::string> tried_;
  guarded_reply reply_;
};

graph_reply reply_of(const guarded_reply& found) {
  graph_reply reply;
  reply.status = found.status;
  reply.from = found.found.from;
  reply.entry = found.found.value;
  reply.guard = found.guard;
  reply.sample = found.sample;
  return reply;
}

graph_reply miss_without(std::string folder, std::string sample) {
  graph_reply reply;
  reply.sample = std::move(sample);
  reply.missing_attachment = std::move(folder);
  return reply;
}

// Keeps why an entry had to be made, and what its key is made of. An entry does not depend on it,
// so errors are ignored.
void keep_key(const key_history& keys, const std::string& cache, const key_field& details) {
  const auto subject = "graph " + cache;
  const auto named = key_of_details(details);
  if (!named) return;
  if (const auto miss = keys.explain(subject, details))
    (void)keys.set_last({{subject + " " + named->text(), lines_of(*miss)}});
  (void)keys.note(subject, details);
}

// Calls the host's hooks, after all steps that can fail.
void tell(const graph_cache_options& options, const graph_entry_details& entry,
          std::int64_t total_ns) {
  const auto& hooks = options.hooks;
  if (hooks.replay) hooks.replay(entry.counters);
  if (hooks.begin_tuning) hooks.begin_tuning(entry.source);
  if (hooks.on_guard && !options.skip_guards) hooks.on_guard(entry.guard);
  if (hooks.on_time_saved)
    hooks.on_time_saved(entry.time_taken, std::chrono::nanoseconds(total_ns));
}

} // namespace

expected<graph_cache> graph_cache::open(runtime& in, graph_cache_options options) {
  if (auto no = internals::core(in).refusal()) return fail(*no);
  auto entries = in.open(options.name);
  if (!entries) return fail(entries.error());
  std::optional<key_history> keys;
  if (internals::core(in).settings().keep_key_details) {
    auto opened = key_history::open(in);
    if (!opened) return fail(opened.error());
    keys = std::move(*opened);
  }
  return graph_cache(std::make_shared<shared>(internals::core(in).shared_from_this(),
                                              std::move(*entries), std::move(options),
                                              std::move(keys)));
}

expected<graph_reply> graph_cache::get(const key& k, const hints& values, lookup_tiers in) const {
  auto& parts = *shared_;
  if (parts.options.skip_guards)
    return get_where(
        k, [](std::string_view) { return true; }, in);
  const auto entries = narrowed(parts.entries, in);
  const auto found = engine::ask_actor<guarded_reply>(*parts.core, parts.core->guarded(),
                                                      verb::get_v, key_in(entries, k), values);
  if (!found) return fail(found.error());
  return take(entries, k, *found);
}

expected<graph_reply> graph_cache::get_where(const key& k, const guard_evaluator& holds,
                                             lookup_tiers in) const {
  auto& parts = *shared_;
  const auto entries = narrowed(parts.entries, in);
  const auto found = evaluated_lookup(*parts.core, key_in(entries, k), holds).run();
  if (!found) return fail(found.error());
  return take(entries, k, *found);
}

// The steps of a hit.
expected<graph_reply> graph_cache::take(const cache& entries, const key& k,
                                        const guarded_reply& found) const {
  auto& parts = *shared_;
  if (found.status != guarded_status::hit) return reply_of(found);
  auto entry = decode_graph_entry(found.found.value);
  if (!entry) return fail(entry.error());
  std::string missing;
  const auto files = load(entries, entry->attachments, recording_, missing);
  if (!files) return fail(files.error());
  if (!*files) return miss_without(std::move(missing), found.sample);
  auto put = put_all_back(**files, parts.options.folder);
  if (!put) return fail(put.error());
  note_entry(recording_, key_in(parts.entries, k), found.guard, found.found.value);
  const auto saved = entry->time_taken.count();
  tell(parts.options, *entry, parts.saved_ns.fetch_add(saved) + saved);
  auto reply = reply_of(found);
  reply.time_saved = entry->time_taken;
  reply.source = std::move(entry->source);
  reply.documents = std::move(entry->documents);
  reply.put_back = std::move(*put);
  return reply;
}

std::unique_ptr<graph_compile> graph_cache::begin(std::string source) const {
  return std::make_unique<graph_compile>(std::move(source));
}

expected<insert_outcome> graph_cache::insert(const key& k, const graph_compile& done,
                                             std::string_view payload,
                                             std::string_view guard) const {
  auto& parts = *shared_;
  graph_entry_details entry;
  entry.time_taken = std::chrono::steady_clock::now() - done.begin_;
  entry.guard = guard;
  entry.source = done.source_;
  entry.counters = done.counters_.all();
  entry.documents = done.documents_;
  for (const auto& folder : done.folders_) {
    const auto files = collect_folder(parts.options.folder, folder, parts.options.collect);
    if (!files) return fail(files.error());
    const auto kept = encode_attachment(*files);
    if (!kept) return fail(kept.error());
    entry.attachments.push_back({folder, sha256(kept->payload())});
    const auto& content = entry.attachments.back().content;
    const auto stored = parts.entries.insert(attachment_key(content), *kept);
    if (!stored) return fail(stored.error());
    note_attachment(recording_, parts.entries, content, *kept);
  }
  const auto at = key_in(parts.entries, k);
  const auto made = encode_graph_entry(payload, entry);
  auto outcome = engine::ask_actor<insert_outcome>(*parts.core, parts.core->guarded(),
                                                   verb::insert_v, at, entry.guard, made);
  if (outcome) note_entry(recording_, at, entry.guard, made);
  if (outcome && parts.keys && done.key_details_)
    keep_key(*parts.keys, at.cache->id.name(), *done.key_details_);
  return outcome;
}

graph_cache graph_cache::recorded_by(const recording_session& session) const {
  auto recorded = *this;
  recorded.recording_ = session;
  return recorded;
}

std::chrono::nanoseconds graph_cache::time_saved() const {
  return std::chrono::nanoseconds(shared_->saved_ns.load());
}

} // namespace hearth
