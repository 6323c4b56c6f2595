// bind.*: hits from other languages, in memory: from C beside the C++ handle, and from Python
// beside Python's bindings of LMDB and diskcache. The same keys and values for all.
#include "bench/frame/row_folder.hpp"
#include "bench/frame/timing.hpp"
#include "bench/peers/peer_program.hpp"
#include "bench/rows.hpp"

#include <hearth/hearth.hpp>

#include "bindings/c/include/hearth.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace hearth::bench {
namespace {

constexpr std::size_t keys = 1'000;
constexpr std::size_t value_bytes = 1024;
constexpr std::size_t gets_a_turn = 500'000;
constexpr std::size_t python_gets_a_turn = 50'000;
constexpr unsigned turns = 4;

std::string name_of(std::size_t number) { return "kernel " + std::to_string(number); }

void require(bool holds) {
  if (!holds) throw std::runtime_error("a key was not found");
}

class cpp_handle {
public:
  cpp_handle() {
    const auto value = artifact::make(std::string(value_bytes, 'x'));
    for (std::size_t i = 0; i < keys; ++i) {
      keys_.emplace_back(name_of(i));
      require(entries_.insert(keys_.back(), value).has_value());
    }
  }
  double gets(std::size_t count) const {
    return seconds_an_operation(1, [&](std::size_t) {
      for (std::size_t i = 0; i < count; ++i)
        require(entries_.get(keys_[i % keys])->value.payload().size() == value_bytes);
      return count;
    });
  }

private:
  runtime rt_{config{}};
  const cache entries_ = rt_.open("bench").value();
  std::vector<key> keys_;
};

class c_interface {
public:
  c_interface() {
    require(hearth_open(nullptr, nullptr, &host_) == HEARTH_OK);
    require(hearth_cache_open(host_, "bench", nullptr, &entries_) == HEARTH_OK);
    const std::string value(value_bytes, 'x');
    for (std::size_t i = 0; i < keys; ++i) {
      const auto name = name_of(i);
      keys_.push_back(hearth_key_text(name.data(), name.size()));
      require(hearth_insert(entries_, keys_.back(), value.data(), value.size()) == HEARTH_OK);
    }
  }
  c_interface(const c_interface&) = delete;
  c_interface& operator=(const c_interface&) = delete;
  ~c_interface() {
    for (auto* const one : keys_)
      hearth_key_free(one);
    hearth_cache_close(entries_);
    hearth_close(host_);
  }
  double gets(std::size_t count) const {
    return seconds_an_operation(1, [&](std::size_t) {
      for (std::size_t i = 0; i < count; ++i) {
        hearth_value found;
        require(hearth_get(entries_, keys_[i % keys], &found) == HEARTH_OK &&
                found.size == value_bytes);
        hearth_value_release(&found);
      }
      return count;
    });
  }

private:
  hearth_host* host_ = nullptr;
  hearth_cache* entries_ = nullptr;
  std::vector<hearth_key*> keys_;
};

void measure_c(row_run& run) {
  const cpp_handle handle;
  const c_interface c;
  const auto count = run.scaled(gets_a_turn, keys);
  run.compare(
      {{"hearth", [&] { return c.gets(count); }}, {"handle", [&] { return handle.gets(count); }}},
      "a hit of 1 KiB", turns);
}

// A program in Python (the system's, which has the peers) that makes the entries and prints the
// seconds of a get.
double python_gets(const std::string& which, const std::filesystem::path& folder,
                   std::size_t count) {
  const auto printed =
      run_peer({"env", std::string("PYTHONPATH=") + HEARTH_PYTHON_FOLDER,
                std::string("HEARTH_LIBRARY=") + HEARTH_SHARED_LIBRARY, "/usr/bin/python3",
                HEARTH_PYTHON_BENCH, which, std::to_string(keys), std::to_string(value_bytes),
                std::to_string(count), folder.string()});
  if (printed.status != 0)
    throw std::runtime_error("python3 failed for " + which + ": " + printed.text);
  return std::stod(printed.text);
}

void measure_python(row_run& run) {
  const row_folder place(run.how().directory / "python");
  const auto count = run.scaled(python_gets_a_turn, keys);
  int turn = 0;
  const auto contender_of = [&](const std::string& name) {
    return contender{name, [&, name] {
                       const auto folder = place.path() / (name + std::to_string(++turn));
                       std::filesystem::create_directory(folder);
                       return python_gets(name, folder, count);
                     }};
  };
  run.compare({contender_of("hearth"), contender_of("lmdb"), contender_of("diskcache")},
              "a hit of 1 KiB from Python");
}

} // namespace

void add_binding_rows(registry& all) {
  all.rows.push_back({"bind.c", "hits of 1 KiB through the C interface", {"handle"}, measure_c});
  all.rows.push_back({"bind.python",
                      "hits of 1 KiB through the Python binding",
                      {"lmdb", "diskcache"},
                      measure_python});
}

} // namespace hearth::bench
