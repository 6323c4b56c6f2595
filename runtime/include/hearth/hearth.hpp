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
#include "runtime/api/call_options.hpp"
#include "runtime/api/config.hpp"
#include "runtime/api/future.hpp"
#include "runtime/api/timeout_increase.hpp"
#include "runtime/api/version.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/handle/in_memory.hpp"
#include "runtime/handle/runtime.hpp"
