#pragma once

// What scale.cpp includes and add.cpp does not: a change of this file concerns only the first.

/// The factor of the kernel `scale`.
constexpr float scale_factor = 2.5f;
