// The machine as a part of a host's keys: system, processor, compilers, GPUs and their software.
#pragma once

#include "runtime/fingerprints/machine/system_info.hpp"
