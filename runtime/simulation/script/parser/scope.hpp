// The names that a script has created so far, and the places written with them. One thread.
#pragma once

#include "runtime/simulation/script/line_reader.hpp"
#include "runtime/simulation/script/statements.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace hearth::script {

using name_set = std::set<std::string, std::less<>>;

struct scope {
  name_set hosts{"host"};
  name_set remotes, processes, clients;
  std::map<std::string, std::size_t, std::less<>> clusters; ///< the nodes of each
  name_set labels;                                          ///< names of answers

  /// Whether `name` is a word of the language, or names anything but an answer.
  bool is_taken(const std::string& name) const;

  /// Takes an unused name.
  std::string take_new(line_reader& in, std::string_view what) const;
  std::string take_host(line_reader& in) const;
  std::string take_process(line_reader& in) const;
  /// Whether processes can use it.
  bool has_server(const std::string& name) const {
    return remotes.contains(name) || clusters.contains(name);
  }
  /// The number in `NAME[NUMBER]`, which is taken off the word; none: it has no brackets.
  std::optional<std::size_t> take_index(line_reader& in, std::size_t column,
                                        std::string& word) const;
  /// The same, of a node that there is.
  std::optional<std::size_t> take_node(line_reader& in, std::size_t column,
                                       std::string& word) const;
  /// OWNER.PART or OWNER.PART[INDEX]; the owner is a process, a host, a remote server or a cluster,
  /// also CLUSTER[NODE].
  place take_slot(line_reader& in, std::string_view what) const;
  /// PROCESS.ACTOR, as a.memory or a.disk[0].
  place take_actor(line_reader& in, actor_kind& kind) const;
};

/// Takes a name that is in `names`.
std::string take_known(line_reader& in, const name_set& names, std::string_view what);

} // namespace hearth::script
