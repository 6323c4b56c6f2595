// Spans in the Trace Event Format, which chrome://tracing and Perfetto read.
#pragma once

#include "messages/replies.hpp"

#include <string>

namespace hearth::cli {

std::string chrome_trace(const span_list& spans);

} // namespace hearth::cli
