#pragma once

// scale.cpp includes this file and add.cpp does not: a change here affects only scale.cpp.

/// The factor of the kernel `scale`.
constexpr float scale_factor = 2.5f;
