#include "runtime/server/http/message/action_result.hpp"

#include "runtime/server/http/message/http_routes.hpp"

#include <cstdint>
#include <utility>

namespace hearth::server {
namespace {

// Field numbers of the messages.
namespace result_fields {
constexpr std::uint64_t output_files = 2, output_directories = 3, stdout_digest = 6,
                        stderr_digest = 8;
}
namespace file_fields {
constexpr std::uint64_t digest = 2;
}
namespace directory_fields {
constexpr std::uint64_t tree_digest = 3, root_directory_digest = 5;
}
namespace tree_fields {
constexpr std::uint64_t root = 1, children = 2;
}
namespace folder_fields {
constexpr std::uint64_t files = 1;
}
namespace digest_fields {
constexpr std::uint64_t hash = 1;
}

enum wire_type : unsigned { varint = 0, fixed_64 = 1, delimited = 2, fixed_32 = 5 };

struct wire_field {
  std::uint64_t number = 0;
  unsigned type = varint;
  std::string_view bytes; // of a delimited field
};

// Reads the fields of one message in order.
class field_reader {
public:
  explicit field_reader(std::string_view message)
      : rest_(message) {}

  bool is_at_end() const { return rest_.empty(); }

  expected<wire_field> next() {
    const auto tag = read_varint();
    if (!tag) return fail(tag.error());
    wire_field field{*tag >> 3, static_cast<unsigned>(*tag & 7), {}};
    if (field.number == 0) return broken();
    if (auto good = read_value(field); !good) return fail(good.error());
    return field;
  }

private:
  static tl::unexpected<error> broken() {
    return fail(errc::malformed, "not an ActionResult or a Tree in protobuf");
  }

  expected<void> read_value(wire_field& field) {
    switch (field.type) {
    case varint: return read_varint().map([](std::uint64_t) {});
    case fixed_64: return skip(8);
    case fixed_32: return skip(4);
    case delimited: break;
    default: return broken();
    }
    const auto size = read_varint();
    if (!size || *size > rest_.size()) return broken();
    field.bytes = rest_.substr(0, *size);
    return skip(*size);
  }

  expected<void> skip(std::size_t count) {
    if (count > rest_.size()) return broken();
    rest_.remove_prefix(count);
    return {};
  }

  expected<std::uint64_t> read_varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return number;
    }
    return broken();
  }

  std::string_view rest_;
};

// Calls `visit` with each field until it returns an error.
template <class Visit>
expected<void> for_each_field(std::string_view message, Visit visit) {
  field_reader reader(message);
  while (!reader.is_at_end()) {
    const auto field = reader.next();
    if (!field) return fail(field.error());
    if (auto good = visit(*field); !good) return good;
  }
  return {};
}

class blob_collector {
public:
  expected<void> add_result(std::string_view message) {
    return for_each_field(message, [this](const wire_field& field) -> expected<void> {
      switch (field.number) {
      case result_fields::output_files: return add_members(field, file_fields::digest);
      case result_fields::output_directories: return add_directory(field);
      case result_fields::stdout_digest:
      case result_fields::stderr_digest: return add_digest(field);
      default: return {};
      }
    });
  }

  expected<void> add_tree(std::string_view message) {
    return for_each_field(message, [this](const wire_field& field) -> expected<void> {
      const bool is_folder =
          field.number == tree_fields::root || field.number == tree_fields::children;
      return is_folder ? add_folder(field) : expected<void>{};
    });
  }

  std::vector<named_blob> found;

private:
  static expected<void> check_message(const wire_field& field) {
    if (field.type == delimited) return {};
    return fail(errc::malformed, "not an ActionResult: a message has another wire type");
  }

  expected<void> add_directory(const wire_field& message) {
    if (auto good = check_message(message); !good) return good;
    return for_each_field(message.bytes, [&](const wire_field& field) -> expected<void> {
      switch (field.number) {
      case directory_fields::tree_digest: return add_digest(field, true);
      case directory_fields::root_directory_digest: return add_digest(field);
      default: return {};
      }
    });
  }

  expected<void> add_folder(const wire_field& message) {
    if (auto good = check_message(message); !good) return good;
    return for_each_field(message.bytes, [&](const wire_field& field) -> expected<void> {
      return field.number == folder_fields::files ? add_members(field, file_fields::digest)
                                                  : expected<void>{};
    });
  }

  expected<void> add_members(const wire_field& message, std::uint64_t digest) {
    if (auto good = check_message(message); !good) return good;
    return for_each_field(message.bytes, [&](const wire_field& field) -> expected<void> {
      return field.number == digest ? add_digest(field) : expected<void>{};
    });
  }

  expected<void> add_digest(const wire_field& message, bool is_tree = false) {
    if (auto good = check_message(message); !good) return good;
    std::string_view hash;
    auto good = for_each_field(message.bytes, [&](const wire_field& field) -> expected<void> {
      if (field.number == digest_fields::hash) hash = field.bytes;
      return {};
    });
    if (!good) return good;
    if (!is_digest_name(hash))
      return fail(errc::malformed, "an ActionResult names a blob without a SHA-256");
    if (found.size() == max_named_blobs)
      return fail(errc::too_large, "an ActionResult names too many blobs");
    found.push_back({std::string(hash), is_tree});
    return {};
  }
};

} // namespace

expected<std::vector<named_blob>> blobs_of_tree(std::string_view bytes) {
  blob_collector collector;
  if (auto good = collector.add_tree(bytes); !good) return fail(good.error());
  return std::move(collector.found);
}

expected<std::vector<named_blob>> blobs_of_result(std::string_view bytes) {
  blob_collector collector;
  if (auto good = collector.add_result(bytes); !good) return fail(good.error());
  return std::move(collector.found);
}

} // namespace hearth::server
