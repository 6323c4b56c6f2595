#include "runtime/caches/autotune/tuning_caches.hpp"

#include "messages/autotune/names.hpp"
#include "runtime/engine/core.hpp"

namespace hearth {
namespace {

named_cache_ptr named(engine::runtime_core& core, std::string_view name,
                      const cache_options& options) {
  return core.name(*cache_id::make(name), options).value_or(nullptr);
}

cache_options of_this_host() {
  cache_options options;
  options.remote = false;
  return options;
}

cache_options of_the_fleet() {
  cache_options options;
  options.memory = false;
  options.disk = false;
  return options;
}

} // namespace

tuning_caches::tuning_caches(engine::runtime_core& core)
    : local(named(core, local_tunings, of_this_host()))
    , remote(named(core, remote_tunings, of_the_fleet()))
    , bundles(named(core, bundled_tunings, of_the_fleet()))
    , times(named(core, measured_choices, of_this_host())) {}

named_cache_ptr open_inductor_tunings(engine::runtime_core& core) {
  constexpr bool foreign = true;
  return core.name(*cache_id::make(inductor_tunings), of_the_fleet(), foreign).value_or(nullptr);
}

} // namespace hearth
