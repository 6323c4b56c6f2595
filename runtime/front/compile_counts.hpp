// How the compiles of `hearth cc` ended, counted for each store: a few numbers in a file of it that
// all processes map. What cannot be counted (no store, no room, no rights) is not. Any thread.
#pragma once

#include "runtime/launcher/uncached.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace hearth::front {

/// One way in which a compile ends. The numbers are places in the file: new ones are added at the
/// end.
enum class compile_end : std::uint8_t {
  hit, ///< found in this host's store
  /// Found by the runtime: in the remote tier, by waiting for another process that made it, or
  /// here, with a setting that the small program does not read.
  hit_elsewhere,
  miss,        ///< the compiler ran
  not_kept,    ///< counted besides `miss`: its result cannot be kept
  failed,      ///< the compiler failed, and ran as it is
  on_terminal, ///< there are messages, and a terminal, so it ran as it is
  trouble,     ///< Hearth could not do its work, so it ran as it is
};

/// Counts one compile in the store of this folder, and the time that its hit has saved.
void count_compile(const std::filesystem::path& store, compile_end how, std::int64_t saved_ns = 0);
/// Counts one that is not cached.
void count_compile(const std::filesystem::path& store, launcher::uncached why);

/// The counts of a store; all zero where nothing was counted.
struct compile_counts {
  static constexpr std::size_t ends = 7;
  std::array<std::uint64_t, ends> by_end{};        ///< by `compile_end`
  std::uint64_t saved_ns = 0;                      ///< by hits
  std::map<std::string, std::uint64_t> uncached{}; ///< by `launcher::reason_text`; none is zero

  std::uint64_t of(compile_end how) const { return by_end[static_cast<std::size_t>(how)]; }
};
compile_counts counts_of_compiles(const std::filesystem::path& store);

/// Sets all to zero. False: they cannot be written.
bool forget_counts_of_compiles(const std::filesystem::path& store);

} // namespace hearth::front
