// The names that a script has made so far, and what is written by them. One thread.
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
  name_set labels; ///< of answers

  /// Whether it is a word of the language, or the name of anything but an answer.
  bool is_taken(const std::string& name) const;

  /// A name that nothing has.
  std::string take_new(line_reader& in, std::string_view what) const;
  std::string take_host(line_reader& in) const;
  std::string take_process(line_reader& in) const;
  /// OWNER.PART or OWNER.PART[INDEX]; the owner is a process, a host or a remote server.
  place take_slot(line_reader& in, std::string_view what) const;
  /// PROCESS.ACTOR, as a.memory or a.disk[0].
  place take_actor(line_reader& in, actor_kind& kind) const;
};

/// A name that is one of these.
std::string take_known(line_reader& in, const name_set& names, std::string_view what);

} // namespace hearth::script
