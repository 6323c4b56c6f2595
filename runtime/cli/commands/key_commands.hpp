// Commands on structural keys: print a key, explain why two keys differ.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <string>

namespace hearth::cli {

struct key_arguments {
  std::string details; ///< a file of JSON; "-": stdin
  bool debug = false;
  bool json = false;
};

/// Prints the key; with `debug`, one line per field before it. Returns 1 when the key bypasses the
/// cache.
status show_key(const config& settings, const key_arguments& arguments);

struct explain_arguments {
  std::string first;  ///< files of JSON; one may be "-"
  std::string second; ///< empty with `stored`
  bool stored = false;
  bool last = false;             ///< the misses of the last run instead
  std::string cache = "default"; ///< searched with `stored`
  bool json = false;
};

/// Prints a line for each place in which two keys differ; returns 1 when they do. With `stored` the
/// second key is the nearest of those stored with their details in the cache; returns 1 too when
/// there is none. With `last` prints the misses of the last run that had some; 1 when none is
/// known.
status explain_keys(const config& settings, const explain_arguments& arguments);

} // namespace hearth::cli
