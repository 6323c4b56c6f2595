// Device kernels by name, and generated sources by hash.
#pragma once

#include "runtime/caches/code/device_kernels.hpp"
#include "runtime/caches/code/source_artifacts.hpp"
