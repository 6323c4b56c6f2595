// Code without its comments, which say run ids and paths, and the hash of it: how a session of
// tunings is named. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

namespace hearth {

/// How a language writes comments; never inside its strings.
enum class comment_syntax {
  none,    ///< nothing is a comment
  hash,    ///< `#` to the end of the line; strings as Python and TOML have them
  slashes, ///< `//` and `/* */`; strings and raw strings as C++ has them
};

/// Of a language by its name ("python", "c++", "cuda", "toml", ...), or a file by its ending
/// (".py"); `none` for any other.
comment_syntax comment_syntax_of(std::string_view language) noexcept;

/// The code without comments. What ends a line stays; a `/* */` becomes a space, so that no two
/// words become one.
std::string strip_comments(std::string_view code, comment_syntax syntax);

/// "c" and 51 characters of base32 of the SHA-256 of the code without comments: as Inductor hashes
/// code.
std::string comment_stripped_hash(std::string_view code, comment_syntax syntax);

} // namespace hearth
