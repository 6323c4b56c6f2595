// Artifacts carried between machines: bundles, sessions that record what goes into one, packages.
#pragma once

#include "runtime/caches/bundle/bundle.hpp"
#include "runtime/caches/bundle/package.hpp"
#include "runtime/handle/recording_session.hpp"
