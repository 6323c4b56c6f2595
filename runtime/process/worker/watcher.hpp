// Sees which files a program and its descendants open, run, list, ask about and look for in vain.
// Each such system call stops until it is answered here, and then goes on: this observes and
// forbids nothing. Owned by the supervisor, on its only thread.
#pragma once

#include "messages/sighting.hpp"
#include "runtime/os/files/descriptor.hpp"
#include "runtime/process/worker/watch_filter.hpp"

#include <string>
#include <unordered_map>

struct seccomp_notif;

namespace hearth::worker {

class watcher {
public:
  /// `listener`: what `install_filter` returned in the child.
  explicit watcher(os::descriptor listener);

  /// Readable when a call waits for its answer; hung up when no watched process is left. -1 after
  /// that.
  int listener() const { return listener_.get(); }
  /// Answers one call that waits.
  void answer();
  /// No watched process is left.
  void end() { listener_.reset(); }

  /// All that was seen, as `read_sightings` reads it.
  std::string sightings() const;
  /// Why not everything could be seen; empty: everything was.
  const std::string& blind_spot() const { return blind_spot_; }

private:
  /// How a path was looked at: each way has its own record.
  struct way {
    bool follows = true;
    bool is_relative = false;
  };
  /// What is done with a file besides looking for it.
  enum class use { none, listed, run };

  void look(const seccomp_notif& call);
  void note_path(const seccomp_notif& call, const call_form& form);
  void note_listed(const seccomp_notif& call);
  void note(std::string path, const way& how, use what);
  void miss(std::string why);

  os::descriptor listener_;
  std::unordered_map<std::string, sighting> seen_; // by way and path
  std::string blind_spot_;
};

/// Passes the listener to the supervisor through a socket, in the child; `listener` may be a
/// negative error instead. Closes it.
void pass_listener(int socket, int listener);
/// Receives it. Errors: why nothing can be watched.
expected<os::descriptor> receive_listener(int socket);

} // namespace hearth::worker
