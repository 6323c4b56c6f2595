// The fuser's kernel cache: graphs in TorchScript's text, and the kernels compiled for them. Graphs
// that differ only in names and tensor types share a kernel.
//
// Any thread; copies share the cache. A call asks the cache's actor and waits for its answer. After
// the runtime's shutdown every call fails with `closed`.
#pragma once

#include "messages/error.hpp"
#include "messages/replies.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

class runtime;

struct kernel_cache_options {
  std::uint64_t max_kernels = 0; ///< above it the oldest is dropped; 0: no bound
  /// A named cache that stores kernels by graph, for later starts and other processes. Empty:
  /// kernels end with the runtime.
  std::string_view kept_in = {};
};

/// The kernel of a graph.
struct found_kernel {
  std::int64_t id = -1; ///< -1: there is none
  artifact spec;
};

class kernel_cache {
public:
  /// A new, empty cache. Errors: those of `runtime::open` for `kept_in`; `closed`, `forked`.
  static expected<kernel_cache> open(runtime& in, const kernel_cache_options& options = {});

  /// Stores a kernel and returns its number, counted from 0 in this cache. A graph that has a
  /// kernel keeps its first one. Errors: `malformed` ("line 1, column 7: ..."), `too_large`.
  expected<std::int64_t> save(std::string_view graph, const artifact& spec) const;
  /// The kernel of that number, or a miss.
  expected<lookup> get(std::int64_t id) const;
  /// The first kernel of the graph. Errors: as `save`.
  expected<found_kernel> find(std::string_view graph) const;
  /// The number of kernels.
  expected<std::uint64_t> count() const;

private:
  struct shared;
  explicit kernel_cache(std::shared_ptr<shared> parts)
      : shared_(std::move(parts)) {}

  std::shared_ptr<shared> shared_;
};

} // namespace hearth
