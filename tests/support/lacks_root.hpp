// For tests that only root can run: without root they are skipped, and so not counted as passed.
// `TEST_CASE("..." * doctest::skip(lacks_root()))`
#pragma once

#include <unistd.h>

namespace hearth::test {

inline bool lacks_root() { return ::geteuid() != 0; }

} // namespace hearth::test
