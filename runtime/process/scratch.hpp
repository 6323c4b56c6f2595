// Scratch directories for what programs make: below $TMPDIR, private, removed when they go.
#pragma once

#include "actors/ports.hpp"

namespace hearth {

/// Any thread.
class temporary_scratch_space : public actors::scratch_space {
public:
  expected<std::unique_ptr<actors::scratch_directory>> make() override;
};

} // namespace hearth
