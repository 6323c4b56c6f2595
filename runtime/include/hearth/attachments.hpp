// Files that belong to an entry.
#pragma once

#include "runtime/caches/attachments/attachments.hpp"
