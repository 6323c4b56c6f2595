// Nodes of a destroyed index that readers still hold; they are freed later.
//
// Owner: the process; never destroyed. Any thread; no lock, so that a fork cannot leave one taken.
#pragma once

#include "storage/memory/node_slab.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace hearth::storage {

/// Takes over the rest of a destroyed index: nodes removed from its tables, and their slab.
void bury(std::unique_ptr<node_slab> slab, std::vector<node*> nodes);

/// Frees those buried nodes that no slot names any more. Indexes call it from time to time.
void visit_graveyard();

/// The number of buried nodes that are not yet freed.
std::size_t buried_nodes() noexcept;

} // namespace hearth::storage
