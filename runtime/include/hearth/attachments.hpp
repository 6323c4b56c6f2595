// Files that belong to an entry.
#pragma once

#include "runtime/attachments/attachments.hpp"
