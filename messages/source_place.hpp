// Names places in source texts, for errors. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth {

/// The column of the byte at `offset` in a text of one line: UTF-8 characters, counted from 1.
std::size_t column_of(std::string_view text, std::size_t offset);

/// "line 3, column 7", both counted from 1, for the byte at `offset` of a text of several lines.
std::string line_and_column(std::string_view text, std::size_t offset);

/// At most 40 bytes of `text` in quotes, with control characters escaped, for one line of an error.
std::string in_quotes(std::string_view text);

} // namespace hearth
