// Device kernels by name, and generated sources by hash.
#pragma once

#include "runtime/code/device_kernels.hpp"
#include "runtime/code/source_artifacts.hpp"
