// Reads the blocks of a bundle. It checks each block before it unpacks it, and the whole bundle at
// the end.
//
// One thread at a time. The input is untrusted: the reader holds two blocks, whatever lengths the
// bytes state.
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

/// Reads up to `max_bytes` of the next bytes of a file into `to`; returns 0 at the end of the file.
using byte_source = std::function<expected<std::size_t>(char* to, std::size_t max_bytes)>;

/// A mark of each block that the first pass read; the second pass compares them, to detect a file
/// that changed. Valid in this process only.
using block_marks = std::vector<std::uint64_t>;

class block_reader {
public:
  /// The first pass: records marks.
  explicit block_reader(byte_source from);
  /// The second pass over a bundle with these marks: a block that has changed since is an `io`
  /// error.
  block_reader(byte_source from, block_marks marks);
  block_reader(const block_reader&) = delete;
  block_reader& operator=(const block_reader&) = delete;
  ~block_reader();

  /// The content of the next block, valid until the next call; empty at the end of an intact
  /// bundle. Errors: `malformed`, with the block and its place; the source's.
  expected<std::string_view> next();
  /// The last block. Valid once `next` has returned the end.
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
  std::uint64_t blocks_ = 0; // number of blocks read before this one
  std::uint64_t position_ = 0, content_bytes_ = 0;
  bundle_end end_;
};

} // namespace hearth::storage
