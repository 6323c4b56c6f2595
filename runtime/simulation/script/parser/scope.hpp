// The names that a script has created so far, and the places written with them. One thread.
#pragma once

#include "runtime/simulation/script/line_reader.hpp"
#include "runtime/simulation/script/statements.hpp"

#include <set>
#include <string>
#include <string_view>

namespace hearth::script {

using name_set = std::set<std::string, std::less<>>;

struct scope {
  name_set hosts{"host"};
  name_set remotes, processes, clients;
  name_set labels; ///< names of answers

  /// Whether `name` is a word of the language, or names anything but an answer.
  bool is_taken(const std::string& name) const;

  /// Takes an unused name.
  std::string take_new(line_reader& in, std::string_view what) const;
  std::string take_host(line_reader& in) const;
  std::string take_process(line_reader& in) const;
  /// OWNER.PART or OWNER.PART[INDEX]; the owner is a process, a host or a remote server.
  place take_slot(line_reader& in, std::string_view what) const;
  /// PROCESS.ACTOR, as a.memory or a.disk[0].
  place take_actor(line_reader& in, actor_kind& kind) const;
};

/// Takes a name that is in `names`.
std::string take_known(line_reader& in, const name_set& names, std::string_view what);

} // namespace hearth::script
