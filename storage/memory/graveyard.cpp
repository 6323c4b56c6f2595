#include "storage/memory/graveyard.hpp"

#include "storage/memory/hazard.hpp"

#include <atomic>

namespace hearth::storage {

namespace {

struct grave {
  std::unique_ptr<node_slab> slab;
  std::vector<node*> nodes;
  grave* next = nullptr;
};

constinit std::atomic<grave*> graves{nullptr};
constinit std::atomic<std::size_t> buried{0};

void add(grave* g) noexcept {
  g->next = graves.load(std::memory_order_relaxed);
  while (!graves.compare_exchange_weak(g->next, g, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

} // namespace

void bury(std::unique_ptr<node_slab> slab, std::vector<node*> nodes) {
  buried.fetch_add(nodes.size(), std::memory_order_relaxed);
  add(new grave{std::move(slab), std::move(nodes)});
}

void visit_graveyard() {
  if (!graves.load(std::memory_order_relaxed)) return;
  // The thread that takes the list owns it; it puts back the graves that still hold nodes.
  auto* taken = graves.exchange(nullptr, std::memory_order_acquire);
  hazard_scan scan;
  scan.take();
  while (taken) {
    std::unique_ptr<grave> g(taken);
    taken = g->next;
    const auto freed = std::erase_if(g->nodes, [&](node* n) {
      if (scan.holds(n)) return false;
      g->slab->free(n);
      return true;
    });
    buried.fetch_sub(freed, std::memory_order_relaxed);
    if (!g->nodes.empty()) add(g.release());
  }
}

std::size_t buried_nodes() noexcept { return buried.load(std::memory_order_relaxed); }

} // namespace hearth::storage
