// Entries that grow: sets of members. Several processes and hosts add to one set at the same time,
// so no writer replaces it: wherever two copies meet, the result is their union
// (docs/architecture.md, "Entries that grow"). Plain values, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// One member. It never changes: a change is a new member with the same id and a later stamp.
struct set_member {
  std::string id; ///< bytes, unique in a set
  std::string content;
  std::int64_t stamp = 0; ///< not negative; of two members with one id the later one counts

  friend bool operator==(const set_member&, const set_member&) = default;
};

/// Whether `a` counts rather than `b`, a member with the same id: its stamp is later, or, with
/// equal stamps, its content is greater. Every process and host decides alike.
bool is_later(const set_member& a, const set_member& b) noexcept;

/// The largest set that is kept. Above it the members with the earliest stamps are dropped.
struct set_limits {
  std::size_t members = 1024;
  std::size_t bytes = std::size_t{4} << 20; ///< of ids and contents
};

/// Members, one for each id. Union is commutative, associative and idempotent, so that copies that
/// have seen the same members are equal, in whatever order they came.
class member_set {
public:
  member_set() = default;

  /// The members in the order of their ids.
  const std::vector<set_member>& members() const noexcept { return members_; }
  bool empty() const noexcept { return members_.empty(); }
  std::size_t size() const noexcept { return members_.size(); }
  /// The member with this id, or null.
  const set_member* find(std::string_view id) const noexcept;
  /// The members that `other` lacks, or has only earlier ones of.
  member_set without(const member_set& other) const;
  /// The latest stamp of a member; 0 without one.
  std::int64_t latest_stamp() const noexcept;

  /// Adds a member, unless the set has it or a later one with its id. Returns whether it was added.
  bool add(set_member member);
  /// Adds every member of `other`. Returns whether one was added.
  bool merge(const member_set& other);
  /// Removes exactly these members; a later one with the same id stays. Returns whether one was
  /// removed.
  bool remove(const std::vector<set_member>& gone);
  /// Drops the members with the earliest stamps until the set is within `limits`, and returns them.
  std::vector<set_member> trim(const set_limits& limits);

  friend bool operator==(const member_set&, const member_set&) = default;

private:
  std::vector<set_member> members_; // sorted by id
};

/// A change of a set.
struct set_change {
  /// New members, by id and content: each gets a stamp later than that of every member that the set
  /// has where the change is applied first.
  std::vector<set_member> written;
  std::vector<set_member> added;   ///< as `written`, but a member whose id the set has stays
  member_set joined;               ///< members of another copy, which have their stamps
  std::vector<set_member> removed; ///< members that are dropped: what they lead to is gone
  set_limits limits;
};

/// What a change did.
struct set_outcome {
  bool changed = false;
  std::vector<set_member> written; ///< written and added members, with their stamps
  std::size_t new_ids = 0;         ///< of those, how many the set had no member for
  /// Members that the set does not have any more: replaced by written ones, or above the limits.
  std::vector<set_member> dropped;
};

/// Applies a change to a set.
set_outcome apply(member_set& set, const set_change& change);

/// The msgpack form of a set: the version, and the members in order. Equal sets have equal bytes.
std::string encode(const member_set& set);
/// Errors: `malformed`, also for ids that are not in order.
expected<member_set> decode_members(std::string_view bytes);

/// The msgpack form of one member. Errors of reading: `malformed`.
std::string encode(const set_member& member);
expected<set_member> decode_member(std::string_view bytes);

} // namespace hearth
