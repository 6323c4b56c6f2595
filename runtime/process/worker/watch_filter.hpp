// The filter by which the kernel tells a supervisor of system calls that name files (seccomp's user
// notification, Linux 5.9 or later). It needs no privileges, and holds for static programs and all
// descendants.
#pragma once

#include "messages/process.hpp"

#include <cstddef>
#include <cstdint>

namespace hearth::worker {

/// How a system call names a file.
struct call_form {
  enum class kind : std::uint8_t {
    path,         ///< argument `path`
    path_at,      ///< argument `path`, relative to the folder of the descriptor in the one before
    socket,       ///< argument `path` is the address of a socket, which may be a file
    path_how,     ///< as `path_at`; flags of an open and more are in the structure after it
    listed,       ///< a descriptor of a folder that is listed
    own_folder,   ///< the working folder's path is asked for
    out_of_sight, ///< after it, paths mean something else than the supervisor can see
  };
  kind how = kind::path;
  std::uint8_t path = 0;           ///< the number of the argument
  bool follows = true;             ///< whether it follows a symbolic link at the path's end,
  std::uint8_t flags = no_flags;   ///< unless the argument with this number
  std::uint32_t not_following = 0; ///< has this bit
  bool runs = false;               ///< whether it starts the file as a program
  std::uint8_t mode = no_flags;    ///< the argument with the flags of an open
  bool reads_link = false;         ///< whether it reads the text of a symbolic link
  bool tells_place = false;        ///< whether it tells where a file is, and nothing else
  bool tells_emptiness = false;    ///< whether it fails for a folder that is not empty
  /// The argument with the name that it gives a file, which fails if it is taken. Relative, where
  /// `how` is `path_at`, to the folder of the descriptor in the one before.
  std::uint8_t new_name = no_flags;
  static constexpr std::uint8_t no_flags = 0xff;
};

/// The form of a watched system call of this machine's own architecture; null for others.
const call_form* form_of(int call);
/// Whether the numbers of system calls are those of this machine's own architecture.
bool is_native(std::uint32_t architecture);

/// In the child that becomes the program, before it does: installs the filter. Returns a descriptor
/// for the notifications, or a negative error; -ENOSYS before Linux 5.9. `links`: also the calls
/// that tell where files are (symbolic links, the working folder), and those that may name a path
/// although they ask about a descriptor.
int install_filter(bool links);

} // namespace hearth::worker
