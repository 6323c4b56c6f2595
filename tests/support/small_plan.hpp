// The smallest plan: one kernel with one configuration and one shape, for tests of commands.
#pragma once

#include "tests/support/files.hpp"

#include <filesystem>
#include <string>

namespace hearth::test {

/// Writes plan.toml and its source into `folder`. `toolchain`: further lines of that table.
inline void write_small_plan(const std::filesystem::path& folder,
                             const std::string& toolchain = {}) {
  write_text(folder / "one.cpp", "#include <cstdint>\n"
                                 "extern \"C\" void one(void* const* buffers, const int64_t*) {\n"
                                 "  *static_cast<int32_t*>(buffers[0]) = 1;\n"
                                 "}\n");
  write_text(folder / "plan.toml",
             "[toolchain]\ncompiler = \"g++\"\n" + toolchain +
                 "[[kernel]]\nname = \"one\"\nsource = \"one.cpp\"\nentry = \"one\"\n"
                 "symbols = [\"n\"]\n"
                 "buffers = [{ type = \"i32\", shape = [\"n\"], output = true }]\n"
                 "configs = [{ TILE = 1 }]\nshapes = [{ n = 1 }]\n");
}

} // namespace hearth::test
