// The fuser's cache of kernels by graph.
#pragma once

#include "runtime/caches/kernels/kernel_cache.hpp"
