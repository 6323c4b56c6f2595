// An artifact as LLVM reads it.
#pragma once

#include <hearth/hearth.hpp>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string>
#include <utility>

namespace hearth {

/// A `MemoryBuffer` over the bytes of an artifact, which it keeps alive; nothing is copied. The
/// bytes begin at a multiple of 16, as object files need, and no null follows them.
class llvm_artifact_buffer final : public llvm::MemoryBuffer {
public:
  /// Copies the reference: one that came from a memory hit may occupy a slot of its thread, which
  /// must not be held for as long as a buffer lives.
  explicit llvm_artifact_buffer(const artifact& content, std::string name = "hearth")
      : content_(content)
      , name_(std::move(name)) {
    const auto bytes = content_.payload();
    init(bytes.data(), bytes.data() + bytes.size(), false);
  }

  llvm::StringRef getBufferIdentifier() const override { return name_; }
  BufferKind getBufferKind() const override { return MemoryBuffer_Malloc; }

private:
  artifact content_;
  std::string name_;
};

inline std::unique_ptr<llvm::MemoryBuffer> llvm_buffer_of(const artifact& content,
                                                          llvm::StringRef name) {
  return std::make_unique<llvm_artifact_buffer>(content, name.str());
}

} // namespace hearth
