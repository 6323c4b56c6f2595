// Attachments as bytes: files are kept unchanged, and no path leads out of its folder.
#include "messages/attachment.hpp"

#include <doctest/doctest.h>

namespace attachment_test {

using namespace hearth;

namespace {

attached_file file_of(std::string path, std::string bytes) {
  return {std::move(path), std::move(bytes), false, {}};
}

std::string there_and_back(std::string bytes, std::string_view here, std::string_view there) {
  auto file = file_of("meta.json", std::move(bytes));
  cut_folder(file, here);
  return bytes_in(file, there);
}

} // namespace

TEST_CASE("attachment: files come back with their places and rights") {
  attachment files{"triton/abc",
                   {file_of("kernel.json", "{\"at\": \"/tmp/a/k.cubin\"}"),
                    {"bin/k.cubin", std::string("\0\xff\x01", 3), true, {}}}};
  cut_folder(files.files[0], "/tmp/a");
  const auto kept = encode_attachment(files);
  REQUIRE(kept);
  const auto back = decode_attachment("triton/abc", *kept);
  REQUIRE(back);
  REQUIRE(back->files.size() == 2);
  CHECK(back->files[0] == files.files[1]); // in the order of their paths
  CHECK(back->files[1] == files.files[0]);
}

TEST_CASE("attachment: the folder's name becomes the name of the new place") {
  CHECK(there_and_back("[\"/a/b\", \"/a/b/k.cubin\"]", "/a/b", "/elsewhere/x") ==
        "[\"/elsewhere/x\", \"/elsewhere/x/k.cubin\"]");
  CHECK(there_and_back("/a/b", "/a/b", "/c") == "/c");
  CHECK(there_and_back("/a/b/a/b", "/a/b", "/c") == "/c/c");
  CHECK(there_and_back("", "/a/b", "/c") == "");
}

TEST_CASE("attachment: a longer name with the same beginning is another folder") {
  CHECK(there_and_back("/a/bc /a/b-1 /a/b.x /a/b_y", "/a/b", "/c") == "/a/bc /a/b-1 /a/b.x /a/b_y");
}

TEST_CASE("attachment: text that looks like a placeholder is text") {
  const std::string text = "[REPLACE] ${folder} /a/b [REPLACE]";
  CHECK(there_and_back(text, "/a/b", "/a/b") == text);
  CHECK(there_and_back("[REPLACE]/a/b", "/a/b", "/c") == "[REPLACE]/c");
}

TEST_CASE("attachment: equal files have one key whatever the name of their folder") {
  auto a = file_of("m.json", "at /one");
  auto b = file_of("m.json", "at /other");
  cut_folder(a, "/one");
  cut_folder(b, "/other");
  const auto kept_a = encode_attachment({"one", {a, file_of("z", "1")}});
  const auto kept_b = encode_attachment({"other", {file_of("z", "1"), b}});
  CHECK(same_bytes(*kept_a, *kept_b));
  CHECK(attachment_key(sha256(kept_a->payload())) == attachment_key(sha256(kept_b->payload())));
}

TEST_CASE("attachment: a path that leads out of the folder is refused on both sides") {
  for (const auto* path : {"", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", ".", "a/./b"}) {
    CAPTURE(path);
    CHECK_FALSE(is_inner_path(path));
    CHECK(encode_attachment({"f", {file_of(path, "x")}}).error().code() == errc::invalid_argument);
    const auto forged = artifact::make(
        encode(value{value::array{value::array{path, false, value::array{}, binary{"x"}}}}));
    CHECK(decode_attachment("f", forged).error().code() == errc::malformed);
  }
  CHECK_FALSE(is_inner_path(std::string_view("a\0b", 3)));
  CHECK(is_inner_path("a/.hidden/..b"));
  CHECK(encode_attachment({"f", {file_of("x", "1"), file_of("x", "2")}}).error().code() ==
        errc::invalid_argument);
}

TEST_CASE("attachment: bytes that are no attachment are malformed") {
  const auto line = [](std::int64_t place) {
    return value::array{value::array{"x", false, value::array{place}, binary{"12"}}};
  };
  CHECK(decode_attachment("f", artifact::make(encode(value{line(2)}))));
  for (const auto& bytes :
       {encode(value{line(3)}), encode(value{line(-1)}), encode(value{value::map{}}),
        encode(value{value::array{1}}), std::string("\xc1"), std::string{},
        encode(value{value::array{value::array{"x", 1, value::array{}, binary{""}}}})})
    CHECK(decode_attachment("f", artifact::make(bytes)).error().code() == errc::malformed);
}

} // namespace attachment_test
