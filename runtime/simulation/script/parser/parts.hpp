// The statements of scripts, by their first words: each function reads the text after its word,
// notes the names that it creates, and throws `syntax_error`. Each file has those of one subject.
#pragma once

#include "runtime/simulation/script/line_reader.hpp"
#include "runtime/simulation/script/parser/scope.hpp"
#include "runtime/simulation/script/statements.hpp"

#include <string>

namespace hearth::script {

using statement_body = decltype(statement::what);

// --- setup.cpp
statement_body parse_host(line_reader& in, scope& names);
statement_body parse_process(line_reader& in, scope& names);
statement_body parse_client(line_reader& in, scope& names);
statement_body parse_cache(line_reader& in, scope& names);

// --- message.cpp
/// Parses the text after the name of a client.
statement_body parse_message(line_reader& in, scope& names, const std::string& client);

// --- steps.cpp
statement_body parse_deliver(line_reader& in, scope& names);
statement_body parse_run_until_idle(line_reader& in, scope& names);
statement_body parse_advance(line_reader& in, scope& names);
statement_body parse_run(line_reader& in, scope& names);
statement_body parse_stall(line_reader& in, scope& names);
statement_body parse_order(line_reader& in, scope& names);
statement_body parse_limit(line_reader& in, scope& names);
statement_body parse_forget(line_reader& in, scope& names);

// --- faults.cpp
statement_body parse_crash(line_reader& in, scope& names);
statement_body parse_start(line_reader& in, scope& names);
statement_body parse_stop(line_reader& in, scope& names);
statement_body parse_flush(line_reader& in, scope& names);
statement_body parse_power(line_reader& in, scope& names);
statement_body parse_disk(line_reader& in, scope& names);
statement_body parse_damage(line_reader& in, scope& names);
statement_body parse_flip(line_reader& in, scope& names);
statement_body parse_cut(line_reader& in, scope& names);
statement_body parse_remove(line_reader& in, scope& names);
/// Parses a new server, or an event of one.
statement_body parse_remote(line_reader& in, scope& names);
/// Parses a new cluster, or an event of one.
statement_body parse_cluster(line_reader& in, scope& names);
statement_body parse_compiler(line_reader& in, scope& names);
statement_body parse_trial(line_reader& in, scope& names);

// --- expectations.cpp
/// Parses all expectations but a trace, which has lines of its own.
statement_body parse_expect(line_reader& in, scope& names);

} // namespace hearth::script
