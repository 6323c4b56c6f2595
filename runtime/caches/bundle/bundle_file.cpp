#include "runtime/caches/bundle/bundle_file.hpp"

#include "runtime/os/files/plain_file.hpp"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

// Empty when a regular file is to be made at `path`.
expected<os::descriptor> open_stream(const std::string& path) {
  return os::open_in_place(path == "-" ? "/dev/stdout" : path);
}

} // namespace

expected<bundle_output> bundle_output::begin(const std::string& path) {
  bundle_output made;
  auto stream = open_stream(path);
  if (!stream) return fail(stream.error());
  made.stream_ = std::move(*stream);
  if (made.stream_) return made;
  auto file = os::pending_file::begin(path);
  if (!file && file.error().code() == errc::not_found)
    return fail(errc::invalid_argument, file.error().text());
  if (!file) return fail(file.error());
  made.file_.emplace(std::move(*file));
  return made;
}

storage::byte_sink bundle_output::sink() {
  return [this](std::string_view bytes) {
    return file_ ? file_->write(bytes) : os::write_all(stream_.get(), bytes);
  };
}

expected<void> bundle_output::commit() {
  if (!file_) return {};
  if (auto kept = file_->sync(); !kept) return kept;
  return file_->commit();
}

storage::byte_source source_of(os::rereadable_file& file, const bundle_progress& progress) {
  return [&file, progress](char* to, std::size_t max_bytes) {
    auto count = file.read(to, max_bytes);
    if (progress) progress(file.position(), file.size());
    return count;
  };
}

expected<void> check_signature(const storage::bundle_end& end, const storage::signing_keys& keys) {
  if (keys.empty()) return {};
  if (!end.signed_by)
    return fail(errc::malformed, "the bundle is not signed; import it without keys to trust it");
  if (!storage::is_signed_by(keys, end.signed_by->view(), end.sum))
    return fail(errc::malformed, "the bundle's signature is wrong, or by a key that is not ours");
  return {};
}

expected<artifact> read_artifact(storage::bundle_reader& in, const storage::record_head& head) {
  auto* body =
      artifact_body::allocate(static_cast<std::uint32_t>(head.metadata.size()), head.payload_bytes);
  if (!body)
    return fail(errc::too_large,
                "no memory for a payload of " + std::to_string(head.payload_bytes) + " bytes");
  auto made = artifact::adopt(body);
  std::copy(head.metadata.begin(), head.metadata.end(), body->metadata_data());
  if (auto read = in.read_payload(body->payload_data()); !read) return fail(read.error());
  return made;
}

} // namespace hearth
