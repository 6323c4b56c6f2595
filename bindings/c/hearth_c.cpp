// The functions of hearth.h. No exception leaves one: what may throw (memory, threads) becomes a
// status.
#include "bindings/c/backing.hpp"
#include "messages/expiry.hpp"
#include "runtime/api/version.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using hearth::artifact;
using hearth::errc;
using hearth::error;
using hearth::expected;
using hearth::key;

struct hearth_host {
  std::unique_ptr<hearth::c::host_backing> backing;
  std::string disk_problem, remote_problem;
};

struct hearth_cache {
  std::shared_ptr<hearth::c::cache_backing> backing;
  const hearth::cache* handle;      // of the backing, if it has one
  hearth::cache_counters* counters; // of the backing
};

struct hearth_key {
  key value;
};

struct hearth_lease {
  std::unique_ptr<hearth::c::lease> held;
};

namespace {

thread_local std::string last_error;

hearth_status status_of(errc code) { return static_cast<hearth_status>(code); }
static_assert(static_cast<int>(errc::program_refused) == HEARTH_PROGRAM_REFUSED);
static_assert(static_cast<int>(errc::corrupt) == HEARTH_CORRUPT);
static_assert(static_cast<int>(errc::forked) == HEARTH_FORKED);

hearth_status failed(const error& why) {
  last_error = why.text();
  return status_of(why.code());
}

hearth_status missing(const char* what) {
  return failed({errc::invalid_argument, std::string(what) + " is NULL"});
}

// Calls `body`; an exception becomes a status.
template <class Body>
hearth_status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    last_error.clear(); // no memory for a text
    return HEARTH_INTERNAL;
  } catch (const std::exception& why) {
    return failed({errc::internal, why.what()});
  } catch (...) {
    return failed({errc::internal, "an exception that is not a std::exception"});
  }
}

// --- values

static_assert(sizeof(artifact) <= sizeof(hearth_value::held) &&
              alignof(artifact) <= alignof(void*));

artifact& held_in(hearth_value& value) {
  return *std::launder(reinterpret_cast<artifact*>(value.held));
}
const artifact& held_in(const hearth_value& value) {
  return *std::launder(reinterpret_cast<const artifact*>(value.held));
}

void make_empty(hearth_value& value) { value = {nullptr, 0, nullptr, 0, {nullptr, nullptr}}; }

[[gnu::always_inline]] inline void fill(hearth_value& value, artifact&& from) {
  const auto payload = from.payload();
  const auto metadata = from.metadata_bytes();
  value.data = payload.data();
  value.size = payload.size();
  value.metadata = metadata.data();
  value.metadata_size = metadata.size();
  ::new (static_cast<void*>(value.held)) artifact(std::move(from));
}

// Without a time to live the artifact never ends.
artifact made_of(const void* data, std::size_t size, std::int64_t ttl_ms) {
  const auto ttl = std::chrono::milliseconds(std::min(ttl_ms, hearth::max_ttl.count()));
  return hearth::with_ttl(artifact::make({static_cast<const char*>(data), size}), ttl);
}

hearth_status negative_ttl() {
  return failed({errc::invalid_argument, "ttl_ms is below zero; 0 is an entry that never ends"});
}

bool is_bytes(const void* data, std::size_t size) { return data || size == 0; }

void note_saved(const hearth_cache& cache, const hearth_value& hit) {
  if (hit.metadata_size != 0) [[unlikely]]
    cache.counters->add_time_saved(hearth::time_taken(held_in(hit)));
}

// Fills in `value` if there is a hit; else leaves it as it is.
hearth_status found_in(const hearth_cache& cache, expected<hearth::lookup>& found,
                       hearth_value& value) {
  if (!found) return failed(found.error());
  if (!found->hit()) return HEARTH_MISS;
  fill(value, std::move(found->value));
  note_saved(cache, value);
  return HEARTH_OK;
}

// The options that the caller knows, with the defaults of the others.
expected<hearth_options> read_options(const hearth_options* given) {
  hearth_options all = HEARTH_OPTIONS_INIT;
  if (!given) return all;
  if (given->size < offsetof(hearth_options, memory_budget_bytes))
    return hearth::fail(errc::invalid_argument,
                        "hearth_options.size is too small: use HEARTH_OPTIONS_INIT");
  std::memcpy(&all, given, std::min(given->size, sizeof all));
  if (all.backing != HEARTH_BACKING_RUNTIME && all.backing != HEARTH_BACKING_STORE)
    return hearth::fail(
        errc::invalid_argument,
        "hearth_options.backing is neither HEARTH_BACKING_RUNTIME nor HEARTH_BACKING_STORE");
  return all;
}

constexpr std::array<std::pair<hearth_status, const char*>, 4> answer_names{
    {{HEARTH_OK, "ok"},
     {HEARTH_MISS, "miss"},
     {HEARTH_EXISTS, "exists"},
     {HEARTH_COMPILE, "compile"}}};

} // namespace

// --- statuses ----------------------------------------------------------------------------------

const char* hearth_status_name(int status) {
  for (const auto& [one, name] : answer_names)
    if (one == status) return name;
  const bool is_code = (status >= 1 && status <= HEARTH_PROCESS_FAILED) ||
                       (status >= HEARTH_OVERFLOW && status <= HEARTH_PROGRAM_REFUSED);
  if (!is_code) return "unknown";
  return hearth::to_string(static_cast<errc>(status)).data(); // a literal, which ends with a zero
}

const char* hearth_error(void) { return last_error.c_str(); }

const char* hearth_version(void) { return hearth::version().data(); }

// --- hosts -------------------------------------------------------------------------------------

hearth_status hearth_open(const char* store, const hearth_options* options, hearth_host** host) {
  if (!host) return missing("host");
  *host = nullptr;
  return guarded([&] {
    const auto settings = read_options(options);
    if (!settings) return failed(settings.error());
    auto backing = settings->backing == HEARTH_BACKING_STORE
                       ? hearth::c::open_plain_store(store, *settings)
                       : hearth::c::start_runtime(store, *settings);
    if (!backing) return failed(backing.error());
    auto made = std::make_unique<hearth_host>();
    made->backing = std::move(*backing);
    if (store && *store) made->disk_problem = made->backing->disk_problem();
    if (settings->remote_url && *settings->remote_url)
      made->remote_problem = made->backing->remote_problem();
    *host = made.release();
    return HEARTH_OK;
  });
}

const char* hearth_disk_problem(const hearth_host* host) {
  return host ? host->disk_problem.c_str() : "";
}

const char* hearth_remote_problem(const hearth_host* host) {
  return host ? host->remote_problem.c_str() : "";
}

hearth_status hearth_flush(hearth_host* host) {
  if (!host) return missing("host");
  return guarded([&] {
    const auto done = host->backing->flush();
    return done ? HEARTH_OK : failed(done.error());
  });
}

void hearth_close(hearth_host* host) {
  if (!host) return;
  guarded([&] {
    host->backing->close();
    delete host;
    return HEARTH_OK;
  });
}

// --- caches ------------------------------------------------------------------------------------

hearth_status hearth_cache_open(hearth_host* host, const char* name, const char* version,
                                hearth_cache** cache) {
  if (!cache) return missing("cache");
  *cache = nullptr;
  if (!host || !name) return missing(host ? "name" : "host");
  return guarded([&] {
    const auto id = hearth::cache_id::make(name, version ? version : "0");
    if (!id) return failed(id.error());
    auto backing = host->backing->open(*id);
    if (!backing) return failed(backing.error());
    const auto* const handle = (*backing)->handle();
    auto& counters = (*backing)->counters();
    *cache = new hearth_cache{std::move(*backing), handle, &counters};
    return HEARTH_OK;
  });
}

void hearth_cache_close(hearth_cache* cache) { delete cache; }

// --- keys --------------------------------------------------------------------------------------

namespace {

template <class Make>
hearth_key* key_made_by(Make make) noexcept {
  try {
    return new hearth_key{make()};
  } catch (const std::exception&) {
    return nullptr;
  }
}

} // namespace

hearth_key* hearth_key_text(const char* text, size_t size) {
  if (!is_bytes(text, size)) return nullptr;
  return key_made_by([&] { return key(std::string_view(text, size)); });
}

hearth_key* hearth_key_bytes(const void* bytes, size_t size) {
  if (!is_bytes(bytes, size)) return nullptr;
  return key_made_by([&] { return key::bytes({static_cast<const char*>(bytes), size}); });
}

hearth_key* hearth_key_integer(int64_t number) {
  return key_made_by([&] { return key::integer(number); });
}

hearth_key* hearth_key_tuple(const hearth_key* const* keys, size_t count) {
  if ((!keys && count) || std::find(keys, keys + count, nullptr) != keys + count) return nullptr;
  return key_made_by([&] {
    std::vector<key> parts;
    for (size_t i = 0; i < count; ++i)
      parts.push_back(keys[i]->value);
    return key::tuple(parts);
  });
}

hearth_status hearth_key_decode(const void* msgpack, size_t size, hearth_key** made) {
  if (!made) return missing("key");
  *made = nullptr;
  if (!is_bytes(msgpack, size)) return missing("msgpack");
  return guarded([&] {
    auto decoded = key::decode({static_cast<const char*>(msgpack), size});
    if (!decoded) return failed(decoded.error());
    *made = new hearth_key{std::move(*decoded)};
    return HEARTH_OK;
  });
}

const void* hearth_key_encoded(const hearth_key* of, size_t* size) {
  if (size) *size = of ? of->value.encoded().size() : 0;
  return of ? of->value.encoded().data() : nullptr;
}

void hearth_key_free(hearth_key* made) { delete made; }

// --- values ------------------------------------------------------------------------------------

void hearth_value_release(hearth_value* value) {
  if (!value || !value->held[0]) return;
  held_in(*value).~artifact();
  value->data = value->held[0] = nullptr;
  value->size = value->metadata_size = 0;
}

int64_t hearth_value_time_taken_ns(const hearth_value* value) {
  return value && value->held[0] ? hearth::time_taken(held_in(*value)).count() : 0;
}

// --- calls -------------------------------------------------------------------------------------

// A hit in memory is the path that counts: it writes each member of the value once, and calls
// nothing but the handle.
[[gnu::flatten]] hearth_status hearth_get(hearth_cache* cache, const hearth_key* wanted,
                                          hearth_value* value) {
  if (!value) return missing("value");
  if (!cache || !wanted) {
    make_empty(*value);
    return missing(cache ? "key" : "cache");
  }
  const auto status = guarded([&] {
    if (!cache->handle) {
      auto found = cache->backing->get(wanted->value);
      return found_in(*cache, found, *value);
    }
    auto found = cache->handle->get(wanted->value);
    if (!found || !found->hit()) [[unlikely]]
      return found_in(*cache, found, *value);
    fill(*value, std::move(found->value));
    note_saved(*cache, *value);
    return HEARTH_OK;
  });
  if (status != HEARTH_OK) [[unlikely]]
    make_empty(*value);
  return status;
}

hearth_status hearth_look(hearth_cache* cache, const hearth_key* wanted, hearth_value* value) {
  if (!value) return missing("value");
  make_empty(*value);
  if (!cache || !wanted) return missing(cache ? "key" : "cache");
  return guarded([&] {
    auto found = cache->backing->look(wanted->value);
    return found_in(*cache, found, *value);
  });
}

void hearth_get_many(hearth_cache* cache, const hearth_key* const* keys, size_t count,
                     hearth_value* values, hearth_status* statuses) {
  if (count && (!values || !statuses)) return;
  for (size_t i = 0; i < count; ++i) {
    make_empty(values[i]);
    statuses[i] = HEARTH_INTERNAL;
  }
  const auto outcome = guarded([&] {
    if (!cache || (count && !keys)) return missing("an argument");
    std::vector<key> wanted;
    wanted.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      if (!keys[i]) return missing("a key");
      wanted.push_back(keys[i]->value);
    }
    auto found = cache->backing->get_many(wanted);
    for (size_t i = 0; i < count; ++i)
      statuses[i] = found_in(*cache, found[i], values[i]);
    return HEARTH_OK;
  });
  if (outcome == HEARTH_OK) return;
  for (size_t i = 0; i < count; ++i) {
    hearth_value_release(&values[i]);
    statuses[i] = outcome;
  }
}

hearth_status hearth_insert(hearth_cache* cache, const hearth_key* at, const void* data,
                            size_t size) {
  return hearth_insert_ttl(cache, at, data, size, 0);
}

hearth_status hearth_insert_ttl(hearth_cache* cache, const hearth_key* at, const void* data,
                                size_t size, int64_t ttl_ms) {
  if (!cache || !at || !is_bytes(data, size)) return missing("an argument");
  if (ttl_ms < 0) return negative_ttl();
  return guarded([&] {
    const auto done = cache->backing->insert(at->value, made_of(data, size, ttl_ms));
    if (!done) return failed(done.error());
    return *done == hearth::insert_outcome::inserted ? HEARTH_OK : HEARTH_EXISTS;
  });
}

hearth_status hearth_put(hearth_cache* cache, const hearth_key* at, const void* data, size_t size) {
  return hearth_put_ttl(cache, at, data, size, 0);
}

hearth_status hearth_put_ttl(hearth_cache* cache, const hearth_key* at, const void* data,
                             size_t size, int64_t ttl_ms) {
  if (!cache || !at || !is_bytes(data, size)) return missing("an argument");
  if (ttl_ms < 0) return negative_ttl();
  return guarded([&] {
    const auto done = cache->backing->put(at->value, made_of(data, size, ttl_ms));
    return done ? HEARTH_OK : failed(done.error());
  });
}

hearth_status hearth_erase(hearth_cache* cache, const hearth_key* at) {
  if (!cache || !at) return missing("an argument");
  return guarded([&] {
    const auto done = cache->backing->erase(at->value);
    if (!done) return failed(done.error());
    return *done ? HEARTH_OK : HEARTH_MISS;
  });
}

// --- one compile for all who ask ---------------------------------------------------------------

hearth_status hearth_acquire(hearth_cache* cache, const hearth_key* wanted, int64_t timeout_ms,
                             hearth_value* value, hearth_lease** lease) {
  if (value) make_empty(*value);
  if (lease) *lease = nullptr;
  if (!cache || !wanted || !value || !lease) return missing("an argument");
  return guarded([&] {
    hearth::call_options options;
    if (timeout_ms >= 0) options = options.within(std::chrono::milliseconds(timeout_ms));
    auto got = cache->backing->acquire(wanted->value, options);
    if (!got) return failed(got.error());
    if (!got->held) {
      expected<hearth::lookup> found(std::move(got->found));
      return found_in(*cache, found, *value);
    }
    *lease = new hearth_lease{std::move(got->held)};
    return HEARTH_COMPILE;
  });
}

hearth_status hearth_fulfil(hearth_lease* lease, const void* data, size_t size,
                            hearth_value* value) {
  return hearth_fulfil_ttl(lease, data, size, 0, value);
}

hearth_status hearth_fulfil_ttl(hearth_lease* lease, const void* data, size_t size, int64_t ttl_ms,
                                hearth_value* value) {
  if (value) make_empty(*value);
  if (!lease) return missing("lease");
  const std::unique_ptr<hearth_lease> ended(lease);
  if (!is_bytes(data, size)) return missing("data");
  if (ttl_ms < 0) return negative_ttl();
  return guarded([&] {
    auto stored = ended->held->fulfil(made_of(data, size, ttl_ms));
    if (!stored) return failed(stored.error());
    if (value) fill(*value, std::move(*stored));
    return HEARTH_OK;
  });
}

void hearth_abandon(hearth_lease* lease, const char* text) {
  const std::unique_ptr<hearth_lease> ended(lease);
  if (!ended) return;
  guarded([&] {
    ended->held->abandon({errc::compile_failed, text ? text : "the compile failed"});
    return HEARTH_OK;
  });
}

void hearth_beat(hearth_lease* lease) {
  if (!lease) return;
  guarded([&] {
    lease->held->beat();
    return HEARTH_OK;
  });
}

void hearth_release(hearth_lease* lease) {
  guarded([&] {
    delete lease;
    return HEARTH_OK;
  });
}

// --- asynchronous forms ------------------------------------------------------------------------

namespace {

hearth_status no_async() {
  return failed({errc::unsupported, "HEARTH_BACKING_STORE has no asynchronous calls"});
}

} // namespace

hearth_status hearth_get_async(hearth_cache* cache, const hearth_key* wanted, hearth_answer answer,
                               void* context) {
  if (!cache || !wanted || !answer) return missing("an argument");
  return guarded([&] {
    const auto tell = [answer, context, noted = *cache](expected<hearth::lookup> found) {
      hearth_value value;
      make_empty(value);
      const auto status = found_in(noted, found, value);
      answer(context, status, &value, found ? "" : last_error.c_str());
    };
    return cache->backing->get_async(wanted->value, tell) ? HEARTH_OK : no_async();
  });
}

hearth_status hearth_insert_async(hearth_cache* cache, const hearth_key* at, const void* data,
                                  size_t size, hearth_answer answer, void* context) {
  return hearth_insert_ttl_async(cache, at, data, size, 0, answer, context);
}

hearth_status hearth_insert_ttl_async(hearth_cache* cache, const hearth_key* at, const void* data,
                                      size_t size, int64_t ttl_ms, hearth_answer answer,
                                      void* context) {
  if (!cache || !at || !is_bytes(data, size) || !answer) return missing("an argument");
  if (ttl_ms < 0) return negative_ttl();
  return guarded([&] {
    const auto tell = [answer, context](const expected<hearth::insert_outcome>& done) {
      hearth_value none;
      make_empty(none);
      const auto status = !done                                       ? failed(done.error())
                          : *done == hearth::insert_outcome::inserted ? HEARTH_OK
                                                                      : HEARTH_EXISTS;
      answer(context, status, &none, done ? "" : last_error.c_str());
    };
    return cache->backing->insert_async(at->value, made_of(data, size, ttl_ms), tell) ? HEARTH_OK
                                                                                      : no_async();
  });
}

// --- statistics --------------------------------------------------------------------------------

hearth_status hearth_get_stats(hearth_host* host, hearth_stats* stats) {
  if (!host || !stats) return missing("an argument");
  if (stats->size < sizeof(size_t))
    return failed({errc::invalid_argument, "hearth_stats.size is not set"});
  return guarded([&] {
    const auto now = host->backing->stats();
    std::chrono::nanoseconds saved{0};
    for (const auto& one : now.caches)
      saved += one.time_saved;
    const hearth_stats all{std::min(stats->size, sizeof all),
                           now.memory.hits,
                           now.memory.misses,
                           now.disk.hits,
                           now.disk.misses,
                           now.entries,
                           now.bytes_used,
                           saved.count()};
    std::memcpy(stats, &all, all.size);
    return HEARTH_OK;
  });
}

hearth_status hearth_get_cache_stats(const hearth_cache* cache, hearth_cache_stats* stats) {
  if (!cache || !stats) return missing("an argument");
  if (stats->size < sizeof(size_t))
    return failed({errc::invalid_argument, "hearth_cache_stats.size is not set"});
  return guarded([&] {
    const auto now = cache->backing->counts();
    const hearth_cache_stats all{std::min(stats->size, sizeof all),
                                 now.memory_hits,
                                 now.disk_hits,
                                 now.remote_hits,
                                 now.misses,
                                 now.waits,
                                 now.compiles,
                                 now.failures,
                                 now.inserted,
                                 now.existed,
                                 now.put,
                                 now.erased,
                                 now.time_saved.count()};
    std::memcpy(stats, &all, all.size);
    return HEARTH_OK;
  });
}
