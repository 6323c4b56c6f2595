// Replaces a text inside another. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace hearth {

/// Replaces each `what` in `text` by `by`; the inserted text is not searched again. Does nothing if
/// `what` is empty.
inline void replace_all(std::string& text, std::string_view what, std::string_view by) {
  if (what.empty()) return;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

} // namespace hearth
