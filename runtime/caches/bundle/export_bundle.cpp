#include "runtime/caches/bundle/bundle.hpp"

#include "runtime/caches/bundle/bundle_file.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "storage/bundle/kept_record.hpp"
#include "storage/disk/store.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace hearth {
namespace {

using storage::record_head;

record_head head_of(std::string_view type, const cache_id& cache, std::string_view key_bytes,
                    const artifact& value) {
  record_head head{std::string(type), cache.name(), cache.version(), std::string(key_bytes),
                   std::string(value.metadata_bytes())};
  if (cache.name() != storage::kept_records_cache) return head;
  return storage::kept_head(value.metadata_bytes()).value_or(std::move(head));
}

// Writes a bundle and counts its records.
class exporter {
public:
  exporter(storage::byte_sink to, const storage::signing_keys& keys)
      : writer_(std::move(to), keys) {}

  expected<void> add(std::string_view type, const cache_id& cache, std::string_view key_bytes,
                     const artifact& value) {
    ++report.records;
    report.payload_bytes += value.payload().size();
    return writer_.add(head_of(type, cache, key_bytes, value), value.payload());
  }

  expected<export_report> finish() {
    if (auto ended = writer_.finish(); !ended) return fail(ended.error());
    return report;
  }

  export_report report;

private:
  storage::bundle_writer writer_;
};

using record_writer = std::function<expected<void>(exporter& to)>;

// Writes a bundle with these records to a file.
expected<export_report> write_file(const std::string& file, const storage::signing_keys& keys,
                                   const record_writer& add) {
  auto output = bundle_output::begin(file);
  if (!output) return fail(output.error());
  exporter to(output->sink(), keys);
  if (auto added = add(to); !added) return fail(added.error());
  auto report = to.finish();
  if (!report) return report;
  if (auto kept = output->commit(); !kept) return fail(kept.error());
  return report;
}

// Damaged entries are left out and counted; entries removed meanwhile are left out and not counted.
expected<void> add_stored(storage::store& from, const cache_id& cache, std::string_view key_bytes,
                          exporter& to) {
  const auto read = from.get({cache, key_bytes});
  if (read.status == storage::read_status::hit)
    return to.add(storage::entry_record_type, cache, key_bytes, read.value);
  to.report.damaged += read.status == storage::read_status::corrupt ||
                       read.status == storage::read_status::unreadable;
  return {};
}

expected<void> add_all(storage::store& from, const export_options& options, exporter& to) {
  const auto all_bytes = from.stats().live_bytes;
  std::uint64_t done_bytes = 0;
  expected<void> result;
  const auto listed = from.list([&](const storage::entry_info& entry) {
    if (options.cache && entry.cache != *options.cache) return true;
    const auto id = cache_id::make(entry.cache, entry.version);
    result = id ? add_stored(from, *id, entry.key, to) : fail(id.error());
    done_bytes += entry.stored_bytes;
    if (options.progress) options.progress(std::min(done_bytes, all_bytes), all_bytes);
    return result.has_value();
  });
  return listed ? result : fail(listed.error());
}

expected<void> check_keys(storage::store& from, const cache_id& cache,
                          const std::vector<key>& keys) {
  for (const auto& one : keys)
    if (from.get({cache, one.encoded()}).status != storage::read_status::hit)
      return fail(errc::not_found, "no entry " + one.describe() + " in cache '" + cache.name() +
                                       "'; nothing was exported");
  return {};
}

expected<void> add_recorded(const recording& session, exporter& to) {
  for (const auto& one : session.artifacts)
    if (auto added = to.add(one.type, one.key.cache->id, one.key.bytes, one.value); !added)
      return added;
  return {};
}

expected<cache_id> named(const export_options& options) {
  return cache_id::make(options.cache.value_or("default"));
}

expected<void> add_keys(storage::store& from, const export_options& options, exporter& to) {
  const auto cache = named(options);
  for (const auto& one : options.keys)
    if (auto added = add_stored(from, *cache, one.encoded(), to); !added) return added;
  return {};
}

} // namespace

expected<export_report> export_bundle(storage::store& from, const std::string& file,
                                      const export_options& options) {
  const auto cache = named(options);
  if (!cache) return fail(cache.error());
  if (auto there = check_keys(from, *cache, options.keys); !there) return fail(there.error());
  return write_file(file, options.sign, [&](exporter& to) {
    return options.keys.empty() ? add_all(from, options, to) : add_keys(from, options, to);
  });
}

expected<export_report> export_bundle(runtime& from, const std::string& file,
                                      const export_options& options) {
  if (auto no = internals::core(from).refusal()) return fail(*no);
  if (!from.has_disk())
    return fail(errc::io, "there is no store to export: " + from.disk_problem().text());
  return export_bundle(*internals::core(from).store(), file, options);
}

expected<export_report> write_bundle(const recording& session, const std::string& file,
                                     const storage::signing_keys& sign) {
  return write_file(file, sign, [&](exporter& to) { return add_recorded(session, to); });
}

expected<std::string> bundle_bytes(const recording& session, const storage::signing_keys& sign) {
  std::string bytes;
  exporter to(
      [&bytes](std::string_view more) -> expected<void> {
        bytes.append(more);
        return {};
      },
      sign);
  if (auto added = add_recorded(session, to); !added) return fail(added.error());
  if (auto ended = to.finish(); !ended) return fail(ended.error());
  return bytes;
}

} // namespace hearth
