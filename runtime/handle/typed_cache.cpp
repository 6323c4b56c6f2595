#include "runtime/handle/typed_cache.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace hearth {
namespace {

std::string name_of(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : type.name();
}

} // namespace

error value_mismatch(const cache& in, const key& k, const std::type_info& type, const error& why) {
  return {errc::malformed, "cache '" + in.id().name() + "', key " + k.describe() +
                               ": what is stored is no '" + name_of(type) + "' (" + why.text() +
                               "); put it anew, or give the cache another version"};
}

} // namespace hearth
