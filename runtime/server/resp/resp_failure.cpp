#include "runtime/server/resp/resp_failure.hpp"

namespace hearth::server {
namespace {

std::string_view code_of(errc code) {
  switch (code) {
  case errc::no_space:
  case errc::too_large: return "OOM";
  case errc::read_only: return "READONLY";
  case errc::overloaded:
  case errc::busy: return "BUSY";
  default: return "ERR";
  }
}

} // namespace

std::string wrong_subcommand_arity(std::string_view name) {
  return "ERR wrong number of arguments for '" + std::string(name) + "' command";
}

std::string failure_text(const error& why) {
  return std::string(code_of(why.code())) + ' ' + why.text();
}

} // namespace hearth::server
