// Hearth for hosts that are actors of CAF themselves.
#pragma once

#include "runtime/handle/actor_form.hpp"
