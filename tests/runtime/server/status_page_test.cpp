// The status page as the program has it. scripts/test-status-page looks at it in a browser.
#include "runtime/server/status/status_page.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace status_page_test {

using namespace hearth::server;

TEST_CASE("the embedded page is the file, byte for byte") {
  const auto file =
      std::filesystem::path(HEARTH_SOURCE_DIR) / "runtime/server/status/page/status.html";
  std::ifstream in(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  REQUIRE_FALSE(text.empty());
  CHECK(status_page_html() == text);
}

TEST_CASE("the page names no other server, and its policy forbids them") {
  std::string page(status_page_html());
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.find("default-src 'none'") != std::string::npos);
  CHECK(page.find("connect-src 'self'") != std::string::npos);
  // The name of SVG is no address.
  for (const std::string name = "http://www.w3.org/2000/svg"; page.find(name) != page.npos;)
    page.erase(page.find(name), name.size());
  CHECK(page.find("http://") == std::string::npos);
  CHECK(page.find("https://") == std::string::npos);
}

} // namespace status_page_test
