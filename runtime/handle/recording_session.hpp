// Records the artifacts that a compilation stores and hits, so that a bundle of them warms another
// machine.
//
//   auto session = hearth::recording_session::begin(rt);
//   auto cache = session->watch(*rt.open("objects"));      // used in place of the cache itself
//   auto graphs = kept_graphs.recorded_by(*session);       // a graph cache
//   auto tuned = known_tunings.recorded_by(*session);      // tunings
//   ... one compilation ...
//   hearth::write_bundle(*session->finish(), "warm.bundle");
//
// A plan is recorded by `tuning_options::recording`.
//
// Any thread; copies share the session. A session that is not finished ends, and drops its
// artifacts, when its last copy and its last watched cache are destroyed.
#pragma once

#include "messages/error.hpp"
#include "messages/recording.hpp"
#include "messages/visibility.hpp"
#include "runtime/handle/cache.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace HEARTH_PUBLIC hearth {

class runtime;

/// A cache whose hits and stores a session records. Its calls behave like those of `cache`.
class recorded_cache {
public:
  expected<lookup> get(const key& k, const call_options& options = {}) const;
  lookup_list get_many(std::span<const key> keys, const call_options& options = {}) const;
  /// When the entry exists already, the session records the existing value.
  expected<insert_outcome> insert(const key& k, const artifact& value,
                                  const call_options& options = {}) const;
  expected<void> put(const key& k, const artifact& value, const call_options& options = {}) const;
  expected<artifact> get_or_compile(const key& k, const compile_function& compile,
                                    const call_options& options = {}) const;

private:
  friend class recording_session;
  struct shared;
  recorded_cache(cache watched, std::shared_ptr<const shared> session)
      : cache_(std::move(watched))
      , session_(std::move(session)) {}
  void note(const key& k, const artifact& value) const;

  cache cache_;
  std::shared_ptr<const shared> session_;
};

class recording_session {
public:
  /// Errors: `closed`, `forked`.
  static expected<recording_session> begin(runtime& in, const recording_limits& limits = {});

  recorded_cache watch(const cache& one) const { return {one, shared_}; }
  /// Records another artifact: of an asynchronous call, or of one of the host's types. Errors:
  /// `invalid_argument` for an invalid name of a type.
  expected<void> note(const cache& in, const key& k, const artifact& value,
                      std::string_view type = "entry") const;
  /// The number of recorded artifacts. Errors: as `finish`.
  expected<std::uint64_t> count() const;
  /// Ends the session and returns its artifacts. Errors: `not_found` the second time; `closed`,
  /// `forked`.
  expected<recording> finish() const;

private:
  friend class internals;
  explicit recording_session(std::shared_ptr<const recorded_cache::shared> shared)
      : shared_(std::move(shared)) {}

  std::shared_ptr<const recorded_cache::shared> shared_;
};

} // namespace hearth
