// Code compiled at run time: an action compiles a source to a shared object, which is stored and
// loaded as a module of this process.
//
// Any thread; copies share the cache.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/visibility.hpp"
#include "runtime/api/call_options.hpp"
#include "runtime/caches/actions/action_cache.hpp"
#include "runtime/caches/modules/module_cache.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {

class runtime;

/// The options of a compile. The compiler, the flags and the texts are part of every key.
struct code_options {
  std::string compiler = "g++";
  std::vector<std::string> flags{"-O2", "-std=c++20"};
  std::string prologue{}; ///< text before each source
  std::string glue{};     ///< text after each source: entry points, bindings
  /// A header that each source includes first. It is precompiled once for all sources with the same
  /// flags, except with Clang, which reads it each time.
  std::string shared_header{};
  /// The folder of relative names in includes and in `flags`. Empty: only absolute names reach
  /// files of the host.
  std::filesystem::path directory{};
  std::chrono::milliseconds timeout{600'000}; ///< time limit of one compiler run
};

class code_cache {
public:
  /// Errors: those of `action_cache::open`.
  static expected<code_cache> open(runtime& in, code_options options);

  /// The shared object of a source: stored, or compiled once for all callers. Errors:
  /// `compile_failed` with the compiler's messages, `timeout`; those of `action_cache::run`.
  expected<artifact> compile(const std::string& source, const call_options& options = {}) const;
  /// Compiles a source as `compile` does, and loads the object.
  expected<loaded_module> load(const std::string& source, const call_options& options = {}) const;

  /// Releases the loaded modules; compiled objects stay in the tiers.
  void clear() const;

private:
  struct shared;
  explicit code_cache(std::shared_ptr<shared> parts)
      : shared_(std::move(parts)) {}

  std::shared_ptr<shared> shared_;
};

} // namespace hearth
