#include "runtime/caches/bundle/bundle.hpp"

#include "messages/set_kind.hpp"
#include "runtime/caches/bundle/bundle_file.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "storage/bundle/kept_record.hpp"

#include <deque>
#include <functional>
#include <utility>

namespace hearth {
namespace {

using storage::record_head;

constexpr std::size_t max_under_way = 256;
constexpr std::uint64_t max_bytes_under_way = std::uint64_t{64} << 20;

// The first pass: verifies every byte and visits every head.
expected<bundle_summary> look_through(storage::bundle_reader& in,
                                      const std::function<void(const record_head&)>& visit,
                                      const storage::signing_keys& keys) {
  bundle_summary found;
  for (;;) {
    const auto head = in.next();
    if (!head) return fail(head.error());
    if (!*head) break;
    found.payload_bytes += (*head)->payload_bytes;
    visit(**head);
  }
  found.end = in.end();
  if (auto good = check_signature(found.end, keys); !good) return fail(good.error());
  return found;
}

// Imports records, with a bound on the number and bytes of inserts in flight.
class importer {
public:
  importer(runtime& into, const import_options& options)
      : into_(into)
      , options_(options) {}

  expected<void> take(const record_head& head, const artifact& value) {
    report.payload_bytes += value.payload().size();
    if (storage::is_entry_type(head.type)) {
      ++report.types[head.type];
      return take_entry(head, value);
    }
    const auto known = options_.types.find(head.type);
    if (known != options_.types.end()) return hand_over(known->second, head, value);
    ++report.unknown[head.type];
    return keep(head, value);
  }

  expected<void> finish() {
    while (!under_way_.empty())
      if (auto one = await_oldest(); !one) return one;
    return {};
  }

  import_report report;

private:
  struct insert_under_way {
    future<insert_outcome> outcome;
    std::uint64_t bytes;
  };

  expected<void> take_entry(const record_head& head, const artifact& value) {
    const auto* kind = set_kind_of(head.key);
    auto members = kind ? decode_members(value.payload()) : fail(errc::malformed, "not a set");
    if (!members) return insert(head, value);
    set_change change;
    change.joined = std::move(*members);
    change.limits = kind->limits;
    return join(head, change);
  }

  // Joins a set with what the store has of it.
  expected<void> join(const record_head& head, const set_change& change) {
    const auto id = cache_id::make(head.cache, head.version);
    const auto name = key::decode(head.key);
    if (!id || !name) return fail(id ? name.error() : id.error());
    const cache_key key(internals::name(into_.open_apart(*id)), name->encoded());
    auto& core = internals::core(into_);
    const auto reply =
        engine::ask_actor<set_reply>(core, core.shards().owner_of(key), verb::merge_v, key, change);
    if (!reply) return fail(reply.error());
    count(reply->outcome.changed);
    return {};
  }

  expected<void> insert(const record_head& head, const artifact& value) {
    const auto id = cache_id::make(head.cache, head.version);
    const auto name = key::decode(head.key);
    if (!id || !name) return fail(id ? name.error() : id.error());
    const auto bytes = value.payload().size() + value.metadata_bytes().size();
    while (!under_way_.empty() &&
           (under_way_.size() >= max_under_way || bytes_under_way_ + bytes > max_bytes_under_way))
      if (auto one = await_oldest(); !one) return one;
    under_way_.push_back({into_.open_apart(*id).insert_async(*name, value), bytes});
    bytes_under_way_ += bytes;
    return {};
  }

  expected<void> await_oldest() {
    auto first = std::move(under_way_.front());
    under_way_.pop_front();
    bytes_under_way_ -= first.bytes;
    const auto outcome = first.outcome.get();
    if (!outcome) return fail(outcome.error());
    count(*outcome == insert_outcome::inserted);
    return {};
  }

  expected<void> hand_over(const record_handler& to, const record_head& head,
                           const artifact& value) {
    const auto is_new = to(head, value);
    if (!is_new) return fail(is_new.error());
    count(*is_new);
    return {};
  }

  expected<void> keep(const record_head& head, const artifact& value) {
    record_head kept;
    kept.cache = storage::kept_records_cache;
    kept.key = storage::key_of_kept(head).encoded();
    return insert(kept, artifact::make(value.payload(), storage::metadata_of_kept(head)));
  }

  void count(bool is_new) { ++(is_new ? report.added : report.existed); }

  runtime& into_;
  const import_options& options_;
  std::deque<insert_under_way> under_way_;
  std::uint64_t bytes_under_way_ = 0;
};

expected<void> take_all(storage::bundle_reader& in, importer& to) {
  for (;;) {
    const auto head = in.next();
    if (!head) return fail(head.error());
    if (!*head) return to.finish();
    const auto value = read_artifact(in, **head);
    if (!value) return fail(value.error());
    if (auto taken = to.take(**head, *value); !taken) return taken;
  }
}

// Reports the progress of one of two passes, after `before` passes, as half of the whole.
bundle_progress half_of(const bundle_progress& whole, unsigned before) {
  if (!whole) return {};
  return [whole, before](std::uint64_t done, std::uint64_t all) {
    whole(before * all + done, 2 * all);
  };
}

error stopped(const error& why, const import_report& report) {
  return {why.code(), why.text() + "; " + std::to_string(report.added + report.existed) +
                          " records were there by then, all of them whole"};
}

expected<void> check_store(runtime& into) {
  if (auto no = internals::core(into).refusal()) return fail(*no);
  if (!into.has_disk())
    return fail(errc::io, "there is no store to import into: " + into.disk_problem().text());
  return {};
}

// Returns the bytes of a bundle from its start, for one of two passes.
using source_maker = std::function<storage::byte_source(unsigned pass)>;

// Verifies the bundle in a first pass and imports it in a second one. `name` is that of the bundle
// in errors.
expected<import_report> import_from(runtime& into, const source_maker& read,
                                    const import_options& options, const std::string& name) {
  storage::bundle_reader first(read(0));
  const auto whole = look_through(
      first, [](const record_head&) {}, options.signed_by);
  if (!whole) return fail(whole.error().within(name));
  storage::bundle_reader again(read(1), first.marks());
  importer to(into, options);
  if (auto taken = take_all(again, to); !taken)
    return fail(stopped(taken.error().within(name), to.report));
  return std::move(to.report);
}

// Reads from bytes in memory.
storage::byte_source source_in_memory(std::string_view bytes, const bundle_progress& progress) {
  return [left = bytes, all = bytes.size(),
          progress](char* to, std::size_t max_bytes) mutable -> expected<std::size_t> {
    const auto taken = left.copy(to, max_bytes);
    left.remove_prefix(taken);
    if (progress) progress(all - left.size(), all);
    return taken;
  };
}

} // namespace

expected<import_report> import_bundle(runtime& into, const std::string& file,
                                      const import_options& options) {
  if (auto good = check_store(into); !good) return fail(good.error());
  auto bytes = os::rereadable_file::open(file);
  if (!bytes) return fail(bytes.error());
  const auto read = [&](unsigned pass) {
    bytes->rewind();
    return source_of(*bytes, half_of(options.progress, pass));
  };
  return import_from(into, read, options, file);
}

expected<import_report> import_bundle_bytes(runtime& into, std::string_view bytes,
                                            const import_options& options) {
  if (auto good = check_store(into); !good) return fail(good.error());
  const auto read = [&](unsigned pass) {
    return source_in_memory(bytes, half_of(options.progress, pass));
  };
  return import_from(into, read, options, "the bundle");
}

expected<bundle_summary> list_bundle(const std::string& file,
                                     const std::function<void(const record_head&)>& visit,
                                     const storage::signing_keys& signed_by) {
  auto bytes = os::rereadable_file::open(file);
  if (!bytes) return fail(bytes.error());
  storage::bundle_reader in(source_of(*bytes));
  auto found = look_through(in, visit, signed_by);
  return found ? std::move(found) : fail(found.error().within(file));
}

} // namespace hearth
