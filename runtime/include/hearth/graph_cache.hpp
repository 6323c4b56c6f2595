// Compiled graphs with guards, counters, attachments and the time that they took.
#pragma once

#include "runtime/graphs/graph_cache.hpp"
