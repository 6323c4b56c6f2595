// hearth get, insert, put and erase: one entry of a named cache.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <optional>
#include <string>

namespace hearth::cli {

struct entry_arguments {
  std::string cache = "default";
  std::string key;     ///< text
  std::string file;    ///< insert, put: the input; "-" is stdin
  std::string details; ///< JSON file of the key's details, kept with the entry; or empty
  std::string ttl;     ///< insert, put: how long the entry lasts; empty: for ever
  std::optional<std::string> output; ///< get: the output; stdout when absent or "-"
  bool json = false;
};

status get_entry(const config& settings, const entry_arguments& arguments);
status insert_entry(const config& settings, const entry_arguments& arguments);
status put_entry(const config& settings, const entry_arguments& arguments);
status erase_entry(const config& settings, const entry_arguments& arguments);

} // namespace hearth::cli
