// Compile plans, as `hearth compile` runs them. Link hearth::orchestrator: the shared library
// leaves them out.
#pragma once

#include "runtime/orchestrator/compile_plan.hpp"
#include "runtime/orchestrator/plan.hpp"
