#include "runtime/simulation/simulated_files.hpp"

#include "messages/hash.hpp"

#include <algorithm>
#include <utility>

namespace hearth::simulation {
namespace {

using fingerprints::file_content;
using fingerprints::file_stamp;

// The start of the virtual time, in nanoseconds since the epoch. Images are older.
constexpr std::int64_t start_ns = 1'800'000'000'000'000'000;
constexpr std::int64_t image_ns = 1'000'000'000;
constexpr std::int64_t time_tick_ns = 4'000'000; // files get times in steps of this

} // namespace

struct simulated_files::process_view : fingerprints::file_source {
  explicit process_view(const simulated_files& of)
      : files(of) {}
  std::optional<file_stamp> stamp(const std::string& path) override {
    const auto* found = files.find(path);
    return found ? std::optional(found->stamp) : std::nullopt;
  }
  expected<file_content> hash(const std::string& path) override {
    const auto* found = files.find(path);
    if (!found) return fail(errc::not_found, path + ": there is no such file");
    return file_content{found->stamp, sha256(found->content),
                        fingerprints::is_reliable(found->stamp, files.now_ns())};
  }
  std::int64_t clock_ns() override { return start_ns + files.clock_().count(); }
  std::optional<std::set<std::uint64_t>> mounts() override {
    std::set<std::uint64_t> all;
    for (const auto& one : files.files_)
      all.insert(one.stamp.mount);
    return all;
  }
  const simulated_files& files;
};

simulated_files::simulated_files(std::string host, virtual_clock clock)
    : host_(std::move(host))
    , clock_(std::move(clock)) {
  files_[0].path = on_image;
  files_[1].path = in_place;
  mount(0);
  write(0);
  files_[1].stamp.mount = new_mount();
}

std::uint64_t simulated_files::new_mount() {
  return fast_hash(host_ + " " + std::to_string(++mounts_));
}

void simulated_files::mount(unsigned image) {
  files_[0].content = "image " + std::to_string(image) + ".";
  files_[0].stamp = {new_mount(), 1,       1, static_cast<std::int64_t>(files_[0].content.size()),
                     image_ns,    image_ns};
}

void simulated_files::write(unsigned version) {
  const auto time = now_ns();
  auto& one = files_[1];
  one.content = "own " + std::to_string(version) + ".";
  one.stamp = {one.stamp.mount, 2, 1, static_cast<std::int64_t>(one.content.size()), time, time};
}

void simulated_files::reboot() {
  for (auto& one : files_)
    one.stamp.mount = new_mount();
}

std::string simulated_files::content() const { return files_[0].content + files_[1].content; }

std::int64_t simulated_files::now_ns() const {
  return start_ns + clock_().count() / time_tick_ns * time_tick_ns;
}

const simulated_files::file* simulated_files::find(std::string_view path) const {
  const auto* const at =
      std::find_if(files_.begin(), files_.end(), [&](const file& one) { return one.path == path; });
  return at == files_.end() ? nullptr : at;
}

std::unique_ptr<fingerprints::file_source> simulated_files::for_process() {
  return std::make_unique<process_view>(*this);
}

} // namespace hearth::simulation
