// What makes programs, as a part of a host's keys: a compiler by the programs that do its work
// (`identify_compiler`), and everything that a toolchain is built from
// (`fingerprints::toolchain_key`).
#pragma once

#include "runtime/caches/facts/compiler_identity.hpp"
#include "runtime/fingerprints/toolchain/toolchain_key.hpp"
