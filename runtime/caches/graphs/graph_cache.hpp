// Compiled graphs: entries with a guard, counters, attachments and the time that they took. A hit
// does all that the compile would have done, as one step.
//
//   auto graphs = hearth::graph_cache::open(rt, {.folder = "/tmp/kernels", .hooks = {...}});
//   auto found = graphs->get(key, {{"s0", 8}});
//   if (found && found->hit()) return load(found->payload);
//   auto making = graphs->begin(source);
//   making.count("fused", 3);
//   making.attach("triton/k1");                       // a folder that the compile filled
//   graphs->insert(key, making, payload, "s0 % 8 == 0");
//
// Any thread; copies share the cache. Hooks are called on the thread that asks.
#pragma once

#include "messages/counters.hpp"
#include "messages/error.hpp"
#include "messages/graph_entry.hpp"
#include "messages/tuning.hpp"
#include "runtime/caches/attachments/attachments.hpp"
#include "runtime/handle/cache.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

class runtime;

/// What a hit does at the host. Each may be empty.
struct graph_hooks {
  /// The entry's guard, which holds from now on: for the host's shape environment.
  std::function<void(std::string_view guard)> on_guard;
  /// Begins a session of tunings for what the entry was compiled from.
  std::function<void(std::string_view source)> begin_tuning;
  /// Moves the host's counters as the compile did.
  std::function<void(const counter_deltas&)> replay;
  /// The compile time that this hit saved, and all hits of this cache until now.
  std::function<void(std::chrono::nanoseconds saved, std::chrono::nanoseconds total)> on_time_saved;
};

struct graph_cache_options {
  std::string_view name = "fxgraph"; ///< of the named cache that keeps the entries
  std::filesystem::path folder{};    ///< below which attachments are put back
  collect_options collect{};         ///< how they are collected
  graph_hooks hooks{};
};

/// A lookup's answer.
struct graph_reply {
  guarded_status status = guarded_status::full_miss;
  tier from = tier::none;
  artifact entry;     ///< its payload is the compiled graph
  std::string guard;  ///< of the entry, on a hit
  std::string sample; ///< the last guard that was evaluated and is not empty
  std::chrono::nanoseconds time_saved{0};
  /// A hit that became a miss: this folder of it is gone from every tier.
  std::string missing_attachment;

  bool hit() const noexcept { return status == guarded_status::hit; }
};

/// One compile, from its begin: what an entry needs beside its payload. One thread at a time.
class graph_compile {
public:
  explicit graph_compile(std::string source)
      : source_(std::move(source)) {}

  /// Moves a counter, in this compile alone: others under way at the same time do not mix in.
  void count(std::string_view name, std::int64_t by = 1) { counters_.add(name, by); }
  /// A folder, below the cache's, to be collected when the entry is inserted.
  void attach(std::string folder) { folders_.push_back(std::move(folder)); }

private:
  friend class graph_cache;
  std::string source_;
  counter_set counters_;
  std::vector<std::string> folders_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class graph_cache {
public:
  /// Errors: those of `runtime::open`; `closed`, `forked`.
  static expected<graph_cache> open(runtime& in, graph_cache_options options);

  /// Looks for an entry whose guard holds. On a hit its attachments are put back first; when that
  /// is done, its counters are replayed, a session of tunings is begun, its guard is given to the
  /// host and the time saved is told. An entry with an attachment that is gone is a miss. Errors:
  /// `corrupt` and `malformed`, an entry or attachment that is not what was kept; those of putting
  /// files back; then no hook was called.
  expected<graph_reply> get(const key& k, const hints& values) const;

  /// Begins a compile, from `source`.
  std::unique_ptr<graph_compile> begin(std::string source) const;
  /// Ends it: collects its folders and keeps the entry, attachments first. Errors: those of
  /// collecting and of storing.
  expected<insert_outcome> insert(const key& k, const graph_compile& done, std::string_view payload,
                                  std::string_view guard = {}) const;

  /// What hits of this cache have saved.
  std::chrono::nanoseconds time_saved() const;

private:
  struct shared;
  explicit graph_cache(std::shared_ptr<shared> parts)
      : shared_(std::move(parts)) {}

  std::shared_ptr<shared> shared_;
};

} // namespace hearth
