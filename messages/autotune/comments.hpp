// Removes comments from code, because they contain run ids and paths, and hashes the rest; the hash
// names a session of tunings. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

namespace hearth {

/// The comment syntax of a language. A string contains no comments.
enum class comment_syntax {
  none,    ///< the language has no comments
  hash,    ///< `#` to the end of the line; strings of Python and TOML
  slashes, ///< `//` and `/* */`; strings and raw strings of C++
};

/// The syntax of a language by name ("python", "c++", "cuda", "toml", ...), or of a file by its
/// ending (".py"); `none` for any other.
comment_syntax comment_syntax_of(std::string_view language) noexcept;

/// The code without comments. Line ends stay; a `/* */` becomes a space, so that two words do not
/// become one.
std::string strip_comments(std::string_view code, comment_syntax syntax);

/// The code without comments. With `slashes` also with each run of blanks outside of strings as
/// one: a line end if it has one, else a space; none at the begin and the end. So two texts that
/// differ in comments and white space alone are equal, although their lines have other numbers. The
/// blanks of other languages stay: they may have a meaning.
std::string normal_code(std::string_view code, comment_syntax syntax);

/// "c" and 51 characters of base32 of the SHA-256 of the code without comments: as Inductor hashes
/// code.
std::string comment_stripped_hash(std::string_view code, comment_syntax syntax);

} // namespace hearth
