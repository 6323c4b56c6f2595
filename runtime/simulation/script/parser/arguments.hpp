// Parses the arguments of messages and statements: keys, values, times, tunings. Pure but for the
// reader's position.
#pragma once

#include "runtime/simulation/script/parser/scope.hpp"

namespace hearth::script {

/// CACHE/KEY, CACHE@VERSION/KEY; the key a word, "text" or #number.
key_name take_key(line_reader& in);
/// 5ms, or 1ms..5ms.
time_range take_time(line_reader& in);
/// The argument of a message's parameter.
spoken_argument take_argument(line_reader& in, const scope& names, parameter p);

} // namespace hearth::script
