// Hearth, for programs that embed it.
//
//   hearth::runtime rt{{.store = "/var/cache/me"}};
//   auto cache = rt.open("kernels");
//   auto binary = cache->get_or_compile(key, [&] { return compile(source); });
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/value.hpp"
#include "runtime/cache.hpp"
#include "runtime/call_options.hpp"
#include "runtime/config.hpp"
#include "runtime/future.hpp"
#include "runtime/in_memory.hpp"
#include "runtime/runtime.hpp"
#include "runtime/version.hpp"
