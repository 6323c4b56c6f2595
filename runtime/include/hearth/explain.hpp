// Why a key missed: the fields in which it differs from another, and from the keys that were made
// before it. `hearth::explain` compares two keys, `hearth::key_history` a key with those of its
// subject.
#pragma once

#include "messages/explain.hpp"
#include "runtime/caches/facts/key_history.hpp"
