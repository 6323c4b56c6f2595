#include "runtime/simulation/script/parser/parts.hpp"

#include "messages/time_text.hpp"
#include "runtime/simulation/script/remote_options.hpp"

#include <utility>

namespace hearth::script {
namespace {

// Another server is used as the one before it, unless an option behind its name says otherwise.
void add_server(const std::string& name, simulation::process_options& options) {
  if (options.remote.server.empty()) {
    options.remote.server = name;
    return;
  }
  auto another = options.farther.empty() ? options.remote : options.farther.back();
  another.server = name;
  options.farther.push_back(std::move(another));
}

void parse_option(line_reader& in, const scope& names, simulation::process_options& options) {
  const auto column = in.column();
  const auto word = in.take_word("an option, as memory=1MiB");
  const auto equals = word.find('=');
  const auto name = word.substr(0, equals);
  const auto text = equals == std::string::npos ? "" : word.substr(equals + 1);
  const auto number = size_of(text);
  const auto small = number && *number > 0 && *number <= 64 ? static_cast<unsigned>(*number) : 0;
  if (name == "disk" && text == "none")
    options.disk = false;
  else if (name == "memory" && number)
    options.memory_bytes = *number;
  else if (name == "disk" && number)
    options.disk_bytes = *number;
  else if (name == "segment" && number)
    options.segment_bytes = *number;
  else if (name == "memory_shards" && small)
    options.memory_shards = small;
  else if (name == "disk_shards" && small)
    options.disk_shards = small;
  else if (name == "workers" && small)
    options.workers = small;
  else if (const auto time = parse_milliseconds(text); name == "patience" && time)
    options.patience = *time;
  else if (name == "remote" && names.has_server(text))
    add_server(text, options);
  else if (name == "remote" && !text.empty())
    in.fail_at(column + equals + 1, "expected the name of a server or cluster, got '" + text + "'");
  else if (!set_remote_option(name, text,
                              options.farther.empty() ? options.remote : options.farther.back()))
    in.fail_at(column,
               "expected memory=SIZE, disk=SIZE, disk=none, segment=SIZE, "
               "memory_shards=N, disk_shards=N, workers=N (1 to 64), patience=TIME, remote=NAME, "
               "remote_mode=read_only, remote_mode=write_only, remote_queue=N, "
               "remote_value=SIZE, lease=TIME, lifetime=TIME or signing=ID, got '" +
                   word + "'");
}

} // namespace

statement_body parse_host(line_reader& in, scope& names) {
  auto name = names.take_new(in, "a name for the host");
  names.hosts.insert(name);
  return add_host{std::move(name)};
}

statement_body parse_process(line_reader& in, scope& names) {
  add_process made;
  made.name = names.take_new(in, "a name for the process");
  made.host = "host";
  if (in.accept("on")) made.host = names.take_host(in);
  while (!in.at_end())
    parse_option(in, names, made.options);
  names.processes.insert(made.name);
  names.hosts.insert(made.host);
  return made;
}

statement_body parse_client(line_reader& in, scope& names) {
  add_client made;
  made.name = names.take_new(in, "a name for the client");
  in.expect_word("in");
  made.process = names.take_process(in);
  names.clients.insert(made.name);
  return made;
}

statement_body parse_cache(line_reader& in, scope&) {
  const auto column = in.column();
  auto name = in.take_word("the name of a cache");
  use_cache made;
  const auto at = name.find('@');
  made.version = at == std::string::npos ? "0" : name.substr(at + 1);
  made.name = name.substr(0, at);
  if (!cache_id::make(made.name, made.version))
    in.fail_at(column, "expected the name of a cache, got '" + name + "'");
  while (!in.at_end()) {
    if (in.accept("memory=no"))
      made.use.memory = false;
    else if (in.accept("disk=no"))
      made.use.disk = false;
    else if (in.accept("remote=no"))
      made.use.remote = false;
    else if (in.accept("sign=yes"))
      made.use.sign = true;
    else
      in.fail("memory=no, disk=no, remote=no or sign=yes");
  }
  return made;
}

} // namespace hearth::script
