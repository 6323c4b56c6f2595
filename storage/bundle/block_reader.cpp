#include "storage/bundle/block_reader.hpp"

#include "messages/hash.hpp"

#include <utility>
#include <zstd.h>

namespace hearth::storage {
void block_reader::context_deleter::operator()(ZSTD_DCtx_s* context) const noexcept {
  ZSTD_freeDCtx(context);
}

block_reader::block_reader(byte_source from)
    : from_(std::move(from))
    , context_(ZSTD_createDCtx())
    , block_(block_header_bytes + bundle_block_bytes, '\0')
    , content_(bundle_block_bytes, '\0') {}

block_reader::block_reader(byte_source from, block_marks marks)
    : block_reader(std::move(from)) {
  is_second_pass_ = true;
  marks_ = std::move(marks);
}

block_reader::~block_reader() = default;

tl::unexpected<error> block_reader::damaged(std::string_view what) const {
  return fail(errc::malformed, "the bundle is damaged in block " + std::to_string(blocks_) +
                                   ", before byte " + std::to_string(position_) + ": " +
                                   std::string(what) + "; get it again");
}

expected<void> block_reader::fill(char* to, std::size_t bytes) {
  while (bytes > 0) {
    const auto count = from_(to, bytes);
    if (!count) return fail(count.error());
    if (*count == 0) return damaged("it ends too early");
    to += *count;
    bytes -= *count;
    position_ += *count;
  }
  return {};
}

expected<void> block_reader::read_bundle_header() {
  if (auto read = fill(block_.data(), bundle_header_bytes); !read) return read;
  const auto header = std::string_view(block_).substr(0, bundle_header_bytes);
  if (!header.starts_with(bundle_magic)) return fail(errc::malformed, "this is no bundle");
  const auto version = take_number<std::uint32_t>(header.data() + bundle_magic.size());
  if (version != bundle_version)
    return fail(errc::malformed, "a bundle of format " + std::to_string(version) +
                                     "; this program reads " + std::to_string(bundle_version));
  if (take_number<std::uint32_t>(header.data() + bundle_magic.size() + 4) != 0)
    return damaged("its header has bits that mean nothing");
  sum_.update(bundle_digest_label).update(header);
  return {};
}

expected<block_header> block_reader::read_block() {
  if (auto read = fill(block_.data(), block_header_bytes); !read) return fail(read.error());
  const auto header = take_header(block_.data());
  if (!is_possible(header)) return damaged("its header is none");
  block_bytes_ = block_header_bytes + header.stored_bytes;
  auto read = fill(block_.data() + block_header_bytes, header.stored_bytes);
  if (!read) return fail(read.error());
  if (header.sum != fast_hash(whole().substr(block_sum_bytes), blocks_))
    return damaged("its checksum does not fit");
  if (auto same = check_mark(); !same) return fail(same.error());
  return header;
}

expected<void> block_reader::check_mark() {
  const auto mark = fast_hash(whole(), process_seed());
  if (!is_second_pass_)
    marks_.push_back(mark);
  else if (blocks_ >= marks_.size() || marks_[blocks_] != mark)
    return fail(errc::io, "the bundle was changed while it was read");
  return {};
}

expected<std::string_view> block_reader::unpack(const block_header& header) {
  content_bytes_ += header.content_bytes;
  if (static_cast<block_coding>(header.coding) == block_coding::raw) return stored();
  const auto size = ZSTD_decompressDCtx(context_.get(), content_.data(), header.content_bytes,
                                        stored().data(), stored().size());
  if (size != header.content_bytes) return damaged("it does not unpack");
  return std::string_view(content_).substr(0, size);
}

expected<void> block_reader::check_end() {
  auto end = decode_end(stored());
  if (!end) return damaged("its end says nothing");
  if (end->content_bytes != content_bytes_) return damaged("there is another amount of content");
  sum_.update(bytes_of(end->records)).update(bytes_of(end->content_bytes));
  // The second pass checks the marks of the first pass, which compared the digest.
  if (!is_second_pass_ && sum_.finish() != end->sum) return damaged("the digest does not fit");
  char more = 0;
  const auto left = from_(&more, 1);
  if (!left) return fail(left.error());
  if (*left != 0) return damaged("something follows its end");
  end_ = std::move(*end);
  return {};
}

expected<std::string_view> block_reader::next() {
  if (blocks_ == 0)
    if (auto header = read_bundle_header(); !header) return fail(header.error());
  const auto header = read_block();
  if (!header) return fail(header.error());
  if (static_cast<block_coding>(header->coding) == block_coding::end) {
    if (auto whole = check_end(); !whole) return fail(whole.error());
    return std::string_view{};
  }
  if (!is_second_pass_) sum_.update(whole());
  auto content = unpack(*header);
  ++blocks_;
  return content;
}

} // namespace hearth::storage
