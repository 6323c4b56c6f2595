// The entries that a memory shard took in while the disk failed. On the shard's thread.
#pragma once

#include "actors/memory_shard/common.hpp"

#include <functional>

namespace hearth::actors::shard {

using unpersisted_value = state_type::unpersisted_value;

/// Keeps a value that the disk has refused with `why`, if `may_keep` holds once every process of
/// the host moves the epoch with its next change of the entry. `last_change`: the last change in
/// the journal before the value was taken.
void keep_unpersisted(self_pointer self, const cache_key& key, const artifact& value,
                      const error& why, std::uint64_t last_change,
                      const std::function<bool()>& may_keep);
/// Remembers a key that memory holds and the disk refused with `why`. The shard retries until the
/// disk holds this value or another one; in the latter case memory drops its own.
void note_unpersisted(self_pointer self, const cache_key& key, const artifact& value,
                      const error& why, const unpersisted_value& of);
/// Forgets the key, because memory now holds another value for it, or none.
void forget_unpersisted(state_type& state, const cache_key& key);
void flush_unpersisted(self_pointer self);

} // namespace hearth::actors::shard
