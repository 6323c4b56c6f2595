// Compiled graphs with guards, counters, attachments and the time that they took.
#pragma once

#include "runtime/caches/graphs/graph_cache.hpp"
