// Reads the blocks of a bundle, each checked before it is unpacked, and the whole at its end.
//
// One thread at a time. Nothing that it reads is believed: it holds two blocks, whatever lengths
// the bytes say.
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
#include <vector>

struct ZSTD_DCtx_s;

namespace hearth::storage {

/// Gives up to `most` of the next bytes of a file; 0: it has ended.
using byte_source = std::function<expected<std::size_t>(char* to, std::size_t most)>;

/// What one pass over a bundle saw of each block, for a second one to see whether the file is still
/// the same. Of use in this process alone.
using block_marks = std::vector<std::uint64_t>;

class block_reader {
public:
  /// Reads for the first time, and notes marks.
  explicit block_reader(byte_source from);
  /// Reads once more what had these marks: a block that has changed since is `io`.
  block_reader(byte_source from, block_marks marks);
  block_reader(const block_reader&) = delete;
  block_reader& operator=(const block_reader&) = delete;
  ~block_reader();

  /// The content of the next block, valid until the next call; empty at the end, when the whole was
  /// right. Errors: `malformed`, with the block and its place; the source's.
  expected<std::string_view> next();
  /// What stands at the end, when that was reached.
  const bundle_end& end() const noexcept { return end_; }
  const block_marks& marks() const noexcept { return marks_; }

private:
  struct context_deleter {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  expected<void> read_bundle_header();
  expected<block_header> read_block();
  expected<void> fill(char* to, std::size_t bytes);
  expected<void> check_mark();
  expected<std::string_view> unpack(const block_header& header);
  expected<void> check_end();
  tl::unexpected<error> damaged(std::string_view what) const;
  std::string_view whole() const noexcept { return {block_.data(), block_bytes_}; }
  std::string_view stored() const noexcept { return whole().substr(block_header_bytes); }

  byte_source from_;
  bool is_second_pass_ = false;
  block_marks marks_;
  std::unique_ptr<ZSTD_DCtx_s, context_deleter> context_;
  sha256_stream sum_;
  std::string block_;   // header and stored bytes
  std::string content_; // unpacked
  std::size_t block_bytes_ = 0;
  std::uint64_t blocks_ = 0; // read before this one
  std::uint64_t position_ = 0, content_bytes_ = 0;
  bundle_end end_;
};

} // namespace hearth::storage
