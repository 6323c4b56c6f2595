// How scripts write what processes want of a remote server, and how such a server behaves.
#pragma once

#include "runtime/simulation/script/line_reader.hpp"
#include "runtime/simulation/simulated_process.hpp"

#include <optional>
#include <string>

namespace hearth::script {

/// `remote_mode=`, `remote_queue=`, `remote_value=`, `lease=`, `lifetime=`, `signing=`. False: it
/// is none of these, or its text is wrong.
bool set_remote_option(const std::string& name, const std::string& text,
                       simulation::remote_options& options);

/// `heals`, `refuses`, `distrusts`, `stalls`, `slow TIME`, `cuts`, `garbles`, `errors "text" [to
/// reads|writes|scripts]`; nothing when something else stands there.
std::optional<simulation::redis_behavior> accept_behavior(line_reader& in);

} // namespace hearth::script
