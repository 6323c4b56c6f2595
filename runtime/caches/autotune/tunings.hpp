// Stored results of tuning, over all tiers: the best configuration of each kernel, and bundles of
// the configurations of a session.
//
//   auto tuned = hearth::tunings::open(rt, {.scope = {toolchain, "cuda:90", ""}});
//   auto session = tuned->begin(code, "python");
//   if (auto best = tuned->best("cabc.py", {configs, hash}, *session); best && *best) use(**best);
//   else tuned->save("cabc.py", tune(), *session);
//   session->finish();
//
// Any thread; copies share the tunings. A call asks an actor and waits for its answer.
#pragma once

#include "messages/autotune/choice.hpp"
#include "messages/autotune/names.hpp"
#include "messages/tuning.hpp"
#include "messages/visibility.hpp"
#include "runtime/api/config.hpp"
#include "runtime/handle/recording_session.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

class runtime;

/// The form of tunings in the remote tier.
enum class tuning_form : std::uint8_t {
  hearth,   ///< envelopes, which hosts of Hearth alone read
  inductor, ///< names and JSON of PyTorch's Inductor, which reads and writes them too; not signed
};

struct tuning_settings {
  bool local = true;
  bool remote = true; ///< needs a remote tier and a backend hash
  tuning_form remote_form = tuning_form::hearth;
  bool bundle = true; ///< needs the local tier
  bool coordinate_descent = false;
  tuning_scope scope;
};

/// A session of tunings. Destroying it without `finish` abandons it: nothing of it is stored.
/// Move-only.
class tuning_session {
public:
  tuning_session(tuning_session&&) noexcept;
  tuning_session& operator=(tuning_session&&) noexcept;
  tuning_session(const tuning_session&) = delete;
  tuning_session& operator=(const tuning_session&) = delete;
  ~tuning_session();

  /// The result of its begin: whether there was a bundle, and how much tuning it saved.
  const bundle_session& begun() const noexcept { return begun_; }
  /// Ends the session, and stores its bundle if anything is new. Errors: `not_found` when it has
  /// ended.
  expected<bundle_end> finish();
  /// Ends the session and stores nothing.
  void abandon() noexcept;

private:
  friend class tunings;
  struct shared;
  tuning_session(std::shared_ptr<shared> parts, bundle_session begun);

  std::shared_ptr<shared> shared_; // null: ended, or bundling is off
  bundle_session begun_;
};

class tunings {
public:
  /// Errors: `unsupported` when neither tier is on, or Inductor's form is asked for where entries
  /// of the remote tier have to be signed; `closed`, `forked`.
  static expected<tunings> open(runtime& in, tuning_settings settings);

  /// The best known configuration of the kernel in `filename`; empty when none of these candidates
  /// is known. `coordinate_descent` comes from the settings.
  expected<std::optional<chosen_config>> best(std::string_view filename,
                                              autotune_choices among) const;
  expected<std::optional<chosen_config>> best(std::string_view filename, autotune_choices among,
                                              const tuning_session& session) const;

  /// Stores the best configuration in every tier that is on.
  expected<void> save(std::string_view filename, const autotune_record& record) const;
  expected<void> save(std::string_view filename, const autotune_record& record,
                      const tuning_session& session) const;

  /// Begins a session for `code`: its bundle, if there is one, is copied into the local cache. The
  /// language ("python", "c++") gives the syntax of comments. Without bundling the session does
  /// nothing.
  expected<tuning_session> begin(std::string_view code, std::string_view language) const;
  /// The same when the code's hash is known.
  expected<tuning_session> begin_hash(std::string_view code_hash) const;

  /// The same tunings, of which the session records those that are saved and those that the local
  /// tier has. Records of the type `tuning`. Without the local tier nothing is recorded.
  tunings recorded_by(const recording_session& session) const;

  /// Which tiers are on.
  bool has_local() const noexcept;
  bool has_remote() const noexcept;

  /// A msgpack message with which another process opens the same tunings. It names the files of
  /// passwords and keys, and contains the remote tier's URL with its password.
  std::string connection() const;

private:
  struct shared;
  explicit tunings(std::shared_ptr<const shared> parts)
      : shared_(std::move(parts)) {}
  autotune_address address_of(std::string_view filename, std::string_view configs_hash) const;
  expected<std::optional<chosen_config>> ask_best(std::string_view filename, autotune_choices among,
                                                  tuning_notes notes) const;
  expected<void> ask_save(std::string_view filename, const autotune_record& record,
                          tuning_notes notes) const;

  std::shared_ptr<const shared> shared_;
  std::optional<recording_session> recording_;
};

/// The content of a connection: the settings of a runtime, and of the tunings in it.
struct tuning_connection {
  config runtime;
  tuning_settings tunings;
};

/// Errors: `malformed`.
expected<tuning_connection> decode_connection(std::string_view message);

} // namespace hearth
