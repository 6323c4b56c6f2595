// The script syntax of a process's remote options, and of a remote server's behavior.
#pragma once

#include "runtime/simulation/script/line_reader.hpp"
#include "runtime/simulation/simulated_process.hpp"

#include <optional>
#include <string>

namespace hearth::script {

/// `remote_mode=`, `remote_queue=`, `remote_value=`, `lease=`, `lifetime=`, `signing=`. False:
/// `name` is another option, or its text is wrong.
bool set_remote_option(const std::string& name, const std::string& text,
                       simulation::remote_options& options);

/// `heals`, `refuses`, `distrusts`, `stalls`, `slow TIME`, `cuts`, `garbles`, `errors "text" [to
/// reads|writes|scripts]`; nothing when the line goes on with another word.
std::optional<simulation::redis_behavior> accept_behavior(line_reader& in);

} // namespace hearth::script
