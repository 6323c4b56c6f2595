// Scratch directories for programs: private, inside one directory of this process below $TMPDIR,
// which is removed with the space. A later process removes the directory of a killed one.
#pragma once

#include "actors/ports/programs.hpp"

#include <memory>
#include <mutex>

namespace hearth::process {

/// Any thread. Directories do not outlive their space.
class temporary_scratch_space : public actors::scratch_space {
public:
  temporary_scratch_space();
  ~temporary_scratch_space() override;

  expected<std::unique_ptr<actors::scratch_directory>> make() override;

private:
  class base_directory;
  std::mutex mutex_;
  std::unique_ptr<base_directory> base_; // made with the first scratch directory
};

} // namespace hearth::process
