// Structural keys: the key of a compile, made of named fields (docs/keys.md).
#pragma once

#include "messages/digest.hpp"
#include "messages/key_builder.hpp"
