// Hearth for hosts that are actors of CAF themselves.
#pragma once

#include "runtime/actor_form.hpp"
