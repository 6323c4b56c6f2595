// Whether this build has AddressSanitizer: programs take several times as long to start there, so
// tests that start hundreds make fewer rounds. The release build's tests make all of them.
#pragma once

namespace hearth::test {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

} // namespace hearth::test
