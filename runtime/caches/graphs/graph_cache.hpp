// Compiled graphs: entries with a guard, counters, attachments and the compile time. A hit has all
// effects of the compile, in one step.
//
//   auto graphs = hearth::graph_cache::open(rt, {.folder = "/tmp/kernels", .hooks = {...}});
//   auto found = graphs->get(key, {{"s0", 8}});
//   if (found && found->hit()) return load(found->payload);
//   auto making = graphs->begin(source);
//   making.count("fused", 3);
//   making.attach("triton/k1");                       // a folder that the compile filled
//   graphs->insert(key, making, payload, "s0 % 8 == 0");
//
// Any thread; copies share the cache. Hooks are called on the caller's thread.
#pragma once

#include "messages/counters.hpp"
#include "messages/error.hpp"
#include "messages/graph_entry.hpp"
#include "messages/key_field.hpp"
#include "messages/tuning.hpp"
#include "messages/visibility.hpp"
#include "runtime/caches/attachments/attachments.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/handle/recording_session.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

class runtime;

/// The host's callbacks on a hit. Each may be empty.
struct graph_hooks {
  /// Receives the entry's guard, which holds from now on, for the host's shape environment.
  std::function<void(std::string_view guard)> on_guard;
  /// Begins a session of tunings for the source of the entry.
  std::function<void(std::string_view source)> begin_tuning;
  /// Changes the host's counters as the compile did.
  std::function<void(const counter_deltas&)> replay;
  /// Receives the compile time that this hit saved, and the sum over all hits of this cache.
  std::function<void(std::chrono::nanoseconds saved, std::chrono::nanoseconds total)> on_time_saved;
};

/// Evaluates a guard for the host's own symbols. An error counts as a guard that does not hold.
using guard_evaluator = std::function<expected<bool>(std::string_view guard)>;

/// The tiers that a look-up asks.
enum class lookup_tiers : std::uint8_t { all, local, remote };

struct graph_cache_options {
  std::string_view name = "fxgraph"; ///< named cache that stores the entries
  std::filesystem::path folder{};    ///< folder below which attachments are written
  collect_options collect{};         ///< how attachments are collected
  graph_hooks hooks{};
  /// Unsafe: every guard holds, and `on_guard` is not called. For hosts that know their shapes.
  bool skip_guards = false;
};

/// An attachment that a hit has put back.
struct put_back_folder {
  std::string folder;
  put_back_outcome outcome = put_back_outcome::put;

  friend bool operator==(const put_back_folder&, const put_back_folder&) = default;
};

/// The result of a lookup.
struct graph_reply {
  guarded_status status = guarded_status::full_miss;
  tier from = tier::none;
  artifact entry;     ///< its payload is the compiled graph
  std::string guard;  ///< guard of the entry, on a hit
  std::string sample; ///< the last non-empty guard that was evaluated
  std::chrono::nanoseconds time_saved{0};
  /// Not empty when a hit became a miss: the folder of the attachment that no tier has.
  std::string missing_attachment;
  std::string source;                           ///< of the entry: its source code
  std::vector<put_back_folder> put_back;        ///< what the hit has put back, in its order
  std::map<std::string, std::string> documents; ///< of the entry: `graph_compile::keep_document`

  bool hit() const noexcept { return status == guarded_status::hit; }
};

/// One running compile: the parts of an entry besides its payload. One thread at a time.
class graph_compile {
public:
  explicit graph_compile(std::string source)
      : source_(std::move(source)) {}

  /// Changes a counter of this compile; concurrent compiles do not affect it.
  void count(std::string_view name, std::int64_t by = 1) { counters_.add(name, by); }
  /// Adds a folder, below the cache's, that `insert` collects.
  void attach(std::string folder) { folders_.push_back(std::move(folder)); }
  /// Keeps a text with the entry, for people: the graph as a program, the output code, what maps
  /// nodes to kernels. All documents of an entry and its other metadata have at most 16 MiB.
  void keep_document(std::string name, std::string text) {
    documents_.insert_or_assign(std::move(name), std::move(text));
  }
  /// Says what the entry's key is made of (`structural_key::details`). `insert` then tells how it
  /// differs from the nearest of the last 16 keys of this cache, and keeps both on this host's
  /// disk, for `hearth explain --last`, unless `config::keep_key_details` is off.
  void keep_details(key_field details) { key_details_ = std::move(details); }

private:
  friend class graph_cache;
  std::string source_;
  counter_set counters_;
  std::vector<std::string> folders_;
  std::map<std::string, std::string> documents_;
  std::optional<key_field> key_details_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class graph_cache {
public:
  /// Errors: those of `runtime::open`; `closed`, `forked`.
  static expected<graph_cache> open(runtime& in, graph_cache_options options);

  /// Looks for an entry whose guard holds. On a hit its attachments are written first; then its
  /// counters are replayed, a session of tunings begins, and the host gets its guard and the time
  /// saved. An entry with a missing attachment is a miss. Errors: `corrupt` and `malformed` for a
  /// damaged entry or attachment; those of writing files. After an error no hook was called.
  expected<graph_reply> get(const key& k, const hints& values,
                            lookup_tiers in = lookup_tiers::all) const;
  /// The same, but the host evaluates the guards, on this thread, in the order in which `get` tries
  /// them.
  expected<graph_reply> get_where(const key& k, const guard_evaluator& holds,
                                  lookup_tiers in = lookup_tiers::all) const;

  /// Begins a compile of `source`.
  std::unique_ptr<graph_compile> begin(std::string source) const;
  /// Ends the compile: collects its folders, and stores the attachments, then the entry. Errors:
  /// those of collecting and of storing.
  expected<insert_outcome> insert(const key& k, const graph_compile& done, std::string_view payload,
                                  std::string_view guard = {}) const;

  /// The compile time that hits of this cache have saved.
  std::chrono::nanoseconds time_saved() const;

  /// The same cache, whose hits and inserts the session records: entries with their guards, and
  /// attachments. Records of the type `graph`.
  graph_cache recorded_by(const recording_session& session) const;

private:
  struct shared;
  explicit graph_cache(std::shared_ptr<shared> parts)
      : shared_(std::move(parts)) {}
  expected<graph_reply> take(const cache& entries, const key& k, const guarded_reply& found) const;

  std::shared_ptr<shared> shared_;
  std::optional<recording_session> recording_;
};

} // namespace hearth
