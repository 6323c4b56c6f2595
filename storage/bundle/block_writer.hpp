// Packs content into the blocks of a bundle, as a stream. It holds two blocks.
//
// One thread at a time. It writes to a sink and opens no file.
#pragma once

#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "storage/bundle/bundle_end.hpp"
#include "storage/bundle/format.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;

namespace hearth::storage {

/// Takes the next bytes of a file.
using byte_sink = std::function<expected<void>(std::string_view)>;

class block_writer {
public:
  explicit block_writer(byte_sink to);
  block_writer(const block_writer&) = delete;
  block_writer& operator=(const block_writer&) = delete;
  ~block_writer();

  /// Appends content of records, in parts of any size. Errors: the sink's.
  expected<void> write(std::string_view content);
  /// Ends the bundle, signed with the first of `keys`. The caller calls it once, last.
  expected<bundle_end> finish(std::uint64_t records, const signing_keys& keys);

private:
  struct context_deleter {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
  };
  expected<void> begin();
  expected<void> seal_content();
  expected<void> emit(block_coding coding, std::size_t stored_bytes, std::size_t content_bytes);

  byte_sink to_;
  std::unique_ptr<ZSTD_CCtx_s, context_deleter> context_;
  sha256_stream sum_;
  std::string content_; // content of the block that is being filled
  std::string block_;   // header and stored bytes of the block that is being written
  std::uint64_t blocks_ = 0, content_bytes_ = 0;
  bool is_begun_ = false;
};

} // namespace hearth::storage
