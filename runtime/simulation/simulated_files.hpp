// The two files that a compiler of a simulated host reads: one on a mounted image, which is
// replaced by other images with the same inode, size and times, and one that is written in place.
// One thread.
#pragma once

#include "runtime/fingerprints/files/file_source.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hearth::simulation {

class simulated_files {
public:
  using virtual_clock = std::function<std::chrono::nanoseconds()>;

  static constexpr const char* on_image = "/image/header.h";
  static constexpr const char* in_place = "/work/own.h";

  /// `host`: its name, which tells its mounts from those of others.
  simulated_files(std::string host, virtual_clock clock);

  /// Mounts an image. Its header is the same on every host.
  void mount(unsigned image);
  /// Writes the other file, in a time that may be that of the last writing.
  void write(unsigned version);
  /// After a restart of the host the same files are on other mounts.
  void reboot();
  /// What a compiler reads from both.
  std::string content() const;
  /// By the clock of the files' times.
  std::int64_t now_ns() const;
  /// The files as one process sees them, with the digests that it remembers.
  std::unique_ptr<fingerprints::file_source> for_process();

private:
  struct process_view;
  struct file {
    std::string path, content;
    fingerprints::file_stamp stamp;
  };

  std::uint64_t new_mount();
  const file* find(std::string_view path) const;

  std::string host_;
  virtual_clock clock_;
  std::uint64_t mounts_ = 0;
  std::array<file, 2> files_; // on the image, in place
};

} // namespace hearth::simulation
