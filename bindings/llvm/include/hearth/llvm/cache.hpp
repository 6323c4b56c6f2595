// A named cache of compiled modules, as the compiler, the object cache and the file cache use it.
//
// A handle: copies share options and counts. Any thread. When the cache fails, the caller compiles
// as if there were none; `on_error` hears of it.
#pragma once

#include <hearth/hearth.hpp>
#include <hearth/llvm/buffer.hpp>
#include <hearth/llvm/keys.hpp>

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace hearth {

/// An object, or the compiler's error.
using llvm_object = llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>;

/// Plain value.
struct llvm_cache_options {
  /// Text in every key: whatever decides what the object is and is neither in the module nor in the
  /// target machine, such as the version of the caller's own passes, or LLVM's command line
  /// options.
  std::string salt{};
  /// The content of modules by a name that the caller has; empty: the SHA-256 of their bitcode.
  llvm_module_identity identity{};
  /// Deadline and cancellation of each call on the cache. When they end one, the caller compiles.
  call_options limits{};
  /// Called with each error of the cache, from any thread; must not block.
  std::function<void(const error&)> on_error{};
};

/// What happened to the modules of a cache. Plain value.
struct llvm_cache_counts {
  std::uint64_t hits = 0;     ///< objects that were there
  std::uint64_t waits = 0;    ///< objects that another caller compiled while this one waited
  std::uint64_t compiles = 0; ///< modules compiled here
  std::uint64_t errors = 0;   ///< of the cache; each is reported to `on_error`
  /// What compiling the objects of `hits` and `waits` took when they were compiled.
  std::chrono::nanoseconds time_saved{0};
};

class llvm_cache {
public:
  /// Implicit, so that a `hearth::cache` alone does where an `llvm_cache` is asked for.
  llvm_cache(cache objects, llvm_cache_options options = {})
      : state_(std::make_shared<state>(std::move(objects), std::move(options))) {}

  /// The object, or null. `name` is that of the buffer.
  std::unique_ptr<llvm::MemoryBuffer> get(const key& k, llvm::StringRef name) const {
    const auto found = state_->objects.get(k, state_->options.limits);
    if (!found) return report(found.error()), nullptr;
    if (!found->hit()) return nullptr;
    count_saved(state_->hits, found->value);
    return llvm_buffer_of(found->value, name);
  }

  /// Keeps an object that took `time` to make; returns it as it was stored.
  artifact insert(const key& k, llvm::StringRef object, std::chrono::nanoseconds time) const {
    add_one(state_->compiles);
    auto made = artifact_of(object, time);
    const auto stored = state_->objects.insert(k, made, state_->options.limits);
    if (!stored) report(stored.error());
    return made;
  }

  /// The object, or what `compile` makes, a callable that returns an `llvm_object`. One of all
  /// concurrent callers of a key, in any thread and process, compiles; the others wait for its
  /// object. The lease ends with the call: when `compile` fails, this caller gets its error, and
  /// the callers that waited compile themselves.
  template <class Compile>
  llvm_object get_or_compile(const key& k, llvm::StringRef name, Compile&& compile) const {
    std::optional<llvm_object> own;
    const auto outcome = state_->objects.lookup_or_compile(
        k, [&]() -> expected<artifact> { return compile_into(own, name, compile); },
        state_->options.limits);
    if (own) return finish_own(std::move(*own), outcome);
    if (outcome) {
      count_saved(outcome->hit() ? state_->hits : state_->waits, outcome->value);
      return llvm_buffer_of(outcome->value, name);
    }
    report(outcome.error());
    add_one(state_->compiles);
    return compile();
  }

  llvm_cache_counts counts() const noexcept {
    return {state_->hits, state_->waits, state_->compiles, state_->errors,
            std::chrono::nanoseconds(state_->saved_ns)};
  }
  const llvm_cache_options& options() const noexcept { return state_->options; }
  /// The named cache itself.
  const cache& objects() const noexcept { return state_->objects; }

private:
  using counter = std::atomic<std::uint64_t>;
  struct state {
    state(cache in, llvm_cache_options with)
        : objects(std::move(in))
        , options(std::move(with)) {}

    const cache objects;
    const llvm_cache_options options;
    counter hits{0}, waits{0}, compiles{0}, errors{0};
    std::atomic<std::int64_t> saved_ns{0};
  };

  static artifact artifact_of(llvm::StringRef object, std::chrono::nanoseconds time) {
    return artifact::make({object.data(), object.size()},
                          {{"time_taken_ns", std::int64_t{time.count()}}});
  }

  template <class Compile>
  static expected<artifact> compile_into(std::optional<llvm_object>& own, llvm::StringRef name,
                                         Compile& compile) {
    const auto start = std::chrono::steady_clock::now();
    own.emplace(compile());
    if (!*own)
      return fail(errc::compile_failed, "LLVM cannot compile the module " + name.str() +
                                            "; its first caller has the error");
    return artifact_of((*own)->get()->getBuffer(), std::chrono::steady_clock::now() - start);
  }

  // The caller gets its object even when the cache could not keep it.
  template <class Outcome>
  llvm_object finish_own(llvm_object own, const Outcome& outcome) const {
    add_one(state_->compiles);
    if (own && !outcome) report(outcome.error());
    return own;
  }

  static void add_one(counter& of) noexcept { of.fetch_add(1, std::memory_order_relaxed); }
  void count_saved(counter& of, const artifact& object) const {
    add_one(of);
    state_->saved_ns.fetch_add(time_taken(object).count(), std::memory_order_relaxed);
  }
  void report(const error& why) const {
    add_one(state_->errors);
    if (state_->options.on_error) state_->options.on_error(why);
  }

  std::shared_ptr<state> state_; // never null
};

} // namespace hearth
