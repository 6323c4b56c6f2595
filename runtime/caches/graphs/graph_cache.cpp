#include "runtime/caches/graphs/graph_cache.hpp"

#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace hearth {

struct graph_cache::shared {
  std::shared_ptr<engine::runtime_core> core;
  cache entries;
  graph_cache_options options;
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

// All attachments of an entry; empty when one is missing, whose folder `missing` then names.
expected<std::optional<attachments>>
load(const cache& entries, const std::vector<attachment_name>& names, std::string& missing) {
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
    all.push_back(std::move(*files));
  }
  return all;
}

expected<void> put_all_back(const attachments& all, const std::filesystem::path& folder) {
  for (const auto& files : all)
    if (auto put = put_back(files, folder); !put) return fail(put.error());
  return {};
}

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

// Calls the host's hooks, after all steps that can fail.
void tell(const graph_hooks& hooks, const graph_entry_details& entry, std::int64_t total_ns) {
  if (hooks.replay) hooks.replay(entry.counters);
  if (hooks.begin_tuning) hooks.begin_tuning(entry.source);
  if (hooks.on_guard) hooks.on_guard(entry.guard);
  if (hooks.on_time_saved)
    hooks.on_time_saved(entry.time_taken, std::chrono::nanoseconds(total_ns));
}

} // namespace

expected<graph_cache> graph_cache::open(runtime& in, graph_cache_options options) {
  if (auto no = internals::core(in).refusal()) return fail(*no);
  auto entries = in.open(options.name);
  if (!entries) return fail(entries.error());
  return graph_cache(std::make_shared<shared>(internals::core(in).shared_from_this(),
                                              std::move(*entries), std::move(options)));
}

expected<graph_reply> graph_cache::get(const key& k, const hints& values) const {
  auto& parts = *shared_;
  const auto found = engine::ask_actor<guarded_reply>(
      *parts.core, parts.core->guarded(), verb::get_v, key_in(parts.entries, k), values);
  if (!found) return fail(found.error());
  if (found->status != guarded_status::hit) return reply_of(*found);
  const auto entry = decode_graph_entry(found->found.value);
  if (!entry) return fail(entry.error());
  std::string missing;
  const auto files = load(parts.entries, entry->attachments, missing);
  if (!files) return fail(files.error());
  if (!*files) return miss_without(std::move(missing), found->sample);
  if (auto put = put_all_back(**files, parts.options.folder); !put) return fail(put.error());
  const auto saved = entry->time_taken.count();
  tell(parts.options.hooks, *entry, parts.saved_ns.fetch_add(saved) + saved);
  auto reply = reply_of(*found);
  reply.time_saved = entry->time_taken;
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
  for (const auto& folder : done.folders_) {
    const auto files = collect_folder(parts.options.folder, folder, parts.options.collect);
    if (!files) return fail(files.error());
    const auto kept = encode_attachment(*files);
    if (!kept) return fail(kept.error());
    entry.attachments.push_back({folder, sha256(kept->payload())});
    const auto stored =
        parts.entries.insert(attachment_key(entry.attachments.back().content), *kept);
    if (!stored) return fail(stored.error());
  }
  return engine::ask_actor<insert_outcome>(*parts.core, parts.core->guarded(), verb::insert_v,
                                           key_in(parts.entries, k), entry.guard,
                                           encode_graph_entry(payload, entry));
}

std::chrono::nanoseconds graph_cache::time_saved() const {
  return std::chrono::nanoseconds(shared_->saved_ns.load());
}

} // namespace hearth
