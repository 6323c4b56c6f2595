// Replacing a text inside of another. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace hearth {

/// Each `what` in `text` becomes `by`; what `by` brings is not looked at again. Nothing happens
/// when `what` is empty.
inline void replace_all(std::string& text, std::string_view what, std::string_view by) {
  if (what.empty()) return;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

} // namespace hearth
