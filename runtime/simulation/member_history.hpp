// The writes of all hosts' clients to one member of an entry that grows (a path of a nested tree, a
// tuning of a bundle), and the checks of what a host finds. One thread.
//
// On one host a member is a regular register (history.hpp). Another host's write may arrive at any
// time; once a client of this host has found it, it counts as a write of this host. Between hosts a
// write is certainly later than another if the other one had reached the server before it began,
// and the server answered its writer.
#pragma once

#include "runtime/simulation/history.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::simulation {

class member_history {
public:
  using moment = history::moment;

  /// `hosts_keep_it`: the entry is in the tiers of a host too. Otherwise only the server has it.
  explicit member_history(bool hosts_keep_it = true)
      : hosts_keep_it_(hosts_keep_it) {}

  /// Begins a write of these bytes; returns its number.
  std::size_t begin(moment now, const std::string& host, std::string process, std::string bytes);
  /// The write was acknowledged. `knew_fleet`: the server had answered the writer, so that the
  /// write is later than those that had reached the server.
  void succeed(std::size_t number, moment now, bool knew_fleet);

  /// The write certainly had no effect.
  void withdraw(std::size_t number);

  /// Whether a write of these bytes had begun at this moment.
  bool has(std::string_view bytes, moment ended) const;
  /// Describes the mistake of a read on a host, begun and ended at these moments, that found
  /// `bytes`; empty: none.
  std::string judge_hit(const std::string& host, std::string_view bytes, moment begun,
                        moment ended) const;
  /// The same for a read that missed.
  std::string judge_miss(const std::string& host, moment begun, moment ended) const;
  /// A read on a host, begun and ended at these moments, found `bytes` in what its disk holds.
  void see(const std::string& host, std::string_view bytes, moment begun, moment ended);

  /// The server has everything that this process has written.
  void reach_fleet(std::string_view process, moment now);
  /// The process ended: what it has not written yet may never reach the server.
  void end_process(std::string_view process);
  /// The writes of a host that ended before `durable` are durable; the others are uncertain from
  /// now on.
  void lose_after(const std::string& host, moment durable);

  /// Describes the mistake of a read on any host that found `bytes` at the end, when the server has
  /// lost nothing and every host has heard of everything; empty: none.
  std::string judge_hit_at_end(std::string_view bytes) const;
  /// The same for a read that missed.
  std::string judge_miss_at_end() const;

private:
  struct write {
    std::string host;
    std::string process; // empty: it died before the write reached the server
    std::string bytes;   // empty: withdrawn
    std::size_t number;  // in the host's history
    moment start;
    moment end = history::never;
    moment reached = history::never;
    bool knew_fleet = false;
  };
  bool is_later(const write& a, const write& b) const;

  bool hosts_keep_it_;
  std::vector<write> writes_;
  std::map<std::string, history> hosts_;
};

} // namespace hearth::simulation
