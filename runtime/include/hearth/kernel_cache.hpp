// The fuser's cache of kernels by graph.
#pragma once

#include "runtime/kernel_cache.hpp"
