// Files of code and binaries that are named by the hash of their content.
#pragma once

#include "runtime/fingerprints/code_files.hpp"
