// Nodes of a destroyed index that readers still hold; they are freed later.
//
// Owner: the process; never destroyed. Any thread; no lock, so that a fork cannot leave one taken.
#pragma once

#include "storage/memory/node_slab.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace hearth::storage {

/// Takes over what is left of an index: nodes out of its tables, and the slab that they are in.
void bury(std::unique_ptr<node_slab> slab, std::vector<node*> nodes);

/// Frees those buried nodes that no slot names any more. Indexes do it now and then.
void visit_graveyard();

/// Nodes buried and not yet freed.
std::size_t buried_nodes() noexcept;

} // namespace hearth::storage
