// Sees which files a program and its descendants open, run, list, ask about and look for in vain.
// Each such system call stops until it is answered here, and then goes on: this observes and
// forbids nothing. Owned by the supervisor, on its only thread.
#pragma once

#include "messages/process.hpp"
#include "messages/sighting.hpp"
#include "runtime/os/files/descriptor.hpp"
#include "runtime/process/worker/watch_filter.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

struct seccomp_notif;

namespace hearth::worker {

class watcher {
public:
  /// `listener`: what `install_filter` returned in the child. `scratch`: the scratch directory of
  /// the program, without symbolic links in its path; may be empty. `cover`: the overlay that it
  /// runs beneath, whose changes are looked at as they are at each look.
  watcher(os::descriptor listener, std::string scratch,
          const std::optional<folder_cover>& cover = std::nullopt);

  /// Readable when a call waits for its answer; hung up when no watched process is left. -1 after
  /// that.
  int listener() const { return listener_.get(); }
  /// Answers one call that waits.
  void answer();
  /// No watched process is left.
  void end() { listener_.reset(); }

  /// All that was seen, in the order of the first looks.
  const std::vector<sighting>& sightings() const { return seen_; }
  /// Why not everything could be seen; empty: everything was.
  const std::string& blind_spot() const { return blind_spot_; }

private:
  /// From where a name is meant.
  struct call_place {
    pid_t thread;
    int descriptor;  ///< of a folder, or AT_FDCWD
    bool reads_link; ///< the text of a link is read
    int depth = 0;   ///< of interpreters
  };

  void look(const seccomp_notif& call);
  void note_path(const seccomp_notif& call, const call_form& form);
  void note_socket(const seccomp_notif& call, const call_form& form);
  void note_folder(const seccomp_notif& call, int descriptor, bool is_listed);
  void note_name(sighting one, std::string_view name, const call_place& from);
  void note_interpreter(const std::string& program, const call_place& from);
  void note(sighting one);
  std::string known_folder(pid_t thread, int descriptor);
  bool is_in_scratch(std::string_view path) const;
  bool shows_host(const std::string& link, std::string_view text) const;
  void follow_links(sighting& one, bool reads_link);
  std::string changed_file(const std::string& path) const;
  std::string note_own_ways(const sighting& one, pid_t thread);
  void miss(std::string why);

  os::descriptor listener_;
  std::string scratch_;
  std::optional<folder_cover> cover_;
  std::vector<sighting> seen_;
  std::unordered_map<std::string, std::size_t> places_; // in `seen_`, by path and way
  std::size_t seen_bytes_ = 0;
  std::string blind_spot_;
};

/// Passes the listener to the supervisor through a socket, in the child; `listener` may be a
/// negative error instead. Closes it.
void pass_listener(int socket, int listener);
/// Receives it. Errors: why nothing can be watched.
expected<os::descriptor> receive_listener(int socket);

} // namespace hearth::worker
