// Guards and sizes: expressions over symbols, parsed once and evaluated from any thread.
#pragma once

#include "messages/guard.hpp"
