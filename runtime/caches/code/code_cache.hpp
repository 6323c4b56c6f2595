// Code that is compiled at run time, loaded, and found again: a source becomes a shared object by
// an action, and the shared object a module of this process.
//
// Any thread; copies share the cache.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "runtime/api/call_options.hpp"
#include "runtime/caches/actions/action_cache.hpp"
#include "runtime/caches/modules/module_cache.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hearth {

class runtime;

/// How code is compiled. All of it is part of every key.
struct code_options {
  std::string compiler = "g++";
  std::vector<std::string> flags{"-O2", "-std=c++20"};
  std::string prologue{}; ///< comes before each source, ...
  std::string glue{};     ///< ... this behind it: entry points, bindings
  /// A header that each source begins with. GCC makes it into a precompiled one, once for all
  /// sources with the same flags; other compilers read it each time.
  std::string shared_header{};
  /// Where includes with relative names, and names in `flags`, are looked for. Empty: no files of
  /// the host's but by absolute names.
  std::filesystem::path directory{};
  std::chrono::milliseconds timeout{600'000}; ///< of one compiler run
};

class code_cache {
public:
  /// Errors: those of `action_cache::open`.
  static expected<code_cache> open(runtime& in, code_options options);

  /// The shared object of a source: found, or compiled once for all who ask. Errors:
  /// `compile_failed` with what the compiler said, `timeout`; those of `action_cache::run`.
  expected<artifact> compile(const std::string& source, const call_options& options = {}) const;
  /// The same, loaded.
  expected<loaded_module> load(const std::string& source, const call_options& options = {}) const;

  /// Lets go of what was loaded; what is compiled stays in the tiers.
  void clear() const;

private:
  struct shared;
  explicit code_cache(std::shared_ptr<shared> parts)
      : shared_(std::move(parts)) {}

  std::shared_ptr<shared> shared_;
};

} // namespace hearth
