// Certificates for tests of TLS, newly made: an authority, and the ones that it issues. Files are
// PEM.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace hearth::test {

struct certificate_files {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

class certificate_authority {
public:
  /// Writes its files to `directory`, with names that begin with `name`.
  certificate_authority(std::filesystem::path directory, std::string name);
  certificate_authority(certificate_authority&&) noexcept;
  ~certificate_authority();

  /// The authority's own certificate, for clients that trust it.
  std::filesystem::path file() const;

  /// Issues a certificate for `names` ("DNS:localhost,IP:127.0.0.1"), valid between these seconds
  /// from now.
  certificate_files issue(const std::string& name, const std::string& names,
                          long from_seconds = -3600, long until_seconds = 3600);

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

} // namespace hearth::test
