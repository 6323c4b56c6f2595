// The structural keys of a plan: everything that can change a program, as a map whose canonical
// bytes are hashed. Pure functions, any thread.
#pragma once

#include "messages/digest.hpp"
#include "messages/key_field.hpp"
#include "messages/value.hpp"
#include "runtime/fingerprints/machine/machine.hpp"
#include "runtime/fingerprints/toolchain/toolchain.hpp"
#include "runtime/orchestrator/plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace hearth::orchestrator {

/// The arguments that every kernel's compile has beside flags and macros. Part of every key.
std::vector<std::string> link_arguments();

/// The details that all entries of a plan share: toolchain, flags, environment, machine, link
/// arguments.
value::map shared_details(const fingerprints::toolchain& compiler,
                          const fingerprints::machine& host);

/// `shared` with the details of one entry: kernel, symbols, buffers, tolerance, and its guard or
/// its shape.
value::map entry_details(value::map shared, const plan_kernel& kernel, const plan_entry& entry);

/// The same for people: the toolchain by its files, the machine by its properties, the variables by
/// their names.
key_field shown_details(const fingerprints::toolchain& compiler, const fingerprints::machine& host,
                        const value::map& entry);

/// The details of one configuration: its macros in order, and the identity of its sources, or the
/// reason why they cannot be read.
value::map config_details(const plan_config& config, const std::string& sources);

/// SHA-256 of the details' canonical bytes.
digest key_digest(const value::map& details);

/// The configuration as an object, and as text: "TILE=16 UNROLL=2".
value::map config_object(const plan_config& config);
std::string config_text(const plan_config& config);

} // namespace hearth::orchestrator
