// Artifacts carried between machines: bundles, sessions that record what goes into one, packages.
#pragma once

#include "runtime/bundle/bundle.hpp"
#include "runtime/bundle/package.hpp"
#include "runtime/bundle/recording_session.hpp"
