// Embedding Hearth: a named cache over a store, and a compile that runs once for all callers.
#include <hearth/hearth.hpp>

#include <filesystem>
#include <iostream>

int main() {
  const auto store = std::filesystem::temp_directory_path() / "hearth-embed-example";
  hearth::config settings;
  settings.store = store;
  settings.log = [](hearth::log_level, std::string_view text) { std::cerr << text << '\n'; };
  hearth::runtime rt(settings);

  const auto kernels = rt.open("kernels", hearth::cache_options().with_version("1"));
  if (!kernels) return std::cerr << kernels.error().text() << '\n', 1;

  // When several threads and processes request this key at once, only one runs the function.
  const hearth::key key = hearth::key::tuple({"matmul", hearth::key::integer(256)});
  const auto binary = kernels->get_or_compile(key, [] {
    std::cout << "compiling\n";
    return hearth::artifact::make("machine code", {{"time_taken_ns", 1'000'000}});
  });
  if (!binary) return std::cerr << binary.error().text() << '\n', 1;
  std::cout << "have " << binary->payload().size() << " bytes\n";

  // From now on it is a hit: in memory here, on disk in the next process.
  const auto found = kernels->get(key);
  const bool hit = found && found->hit();
  std::cout << (hit ? hearth::to_string(found->from) : "no") << " hit\n";
  return hit ? 0 : 1;
}
