// Names places in source texts, for errors. Pure functions, any thread.
#pragma once

#include "messages/error.hpp"

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

/// "file:line: member: what" in one line, with the control characters of every part escaped. A line
/// of 0 and an empty member are left out.
error error_at(std::string_view file, std::size_t line, std::string_view member, errc code,
               std::string_view what);

} // namespace hearth
