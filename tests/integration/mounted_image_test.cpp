// A header on a read-only image that is replaced by its next version: device, inode, size and times
// are the same, as in images of containers and of reproducible builds.
#include "tests/support/hearth_program.hpp"
#include "tests/support/lacks_root.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <sys/wait.h>

namespace mounted_image_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

constexpr int cannot_mount = 77;

// Two ext4 images that differ in one digit of one file, and a source that includes it.
struct images {
  images() {
    fs::create_directories(folder / "content");
    write_text(folder / "content" / "h.hpp", "#define VALUE 1111\n");
    write_text(folder / "a.cpp", "#include \"mounted/h.hpp\"\nint f() { return VALUE; }\n");
    // Fixed times: those of now would not be believed yet.
    REQUIRE(status_of("sh",
                      "mkdir mounted\nmke2fs -q -t ext4 -d content one 2M 2> log\n"
                      "for time in ctime mtime; do debugfs -w -R \"set_inode_field h.hpp $time "
                      "20200101000000\" one 2> log; done\n"
                      "LC_ALL=C sed 's/VALUE 1111/VALUE 2222/' one > two && cp one backing") == 0);
  }

  // The status of a script in the folder, run by this program.
  int status_of(const std::string& by, const std::string& script) const {
    const auto file = directory / "script";
    write_text(file, "set -e\ncd '" + folder.string() + "'\nPATH=$PATH:/usr/sbin:/sbin\n" + script +
                         "\n");
    return WEXITSTATUS(std::system((by + " '" + file.string() + "'").c_str()));
  }

  // The command that compiles a.o with this store.
  std::string compile(const std::string& store, const std::string& options = {}) const {
    return std::string(HEARTH_PROGRAM) + " run --store '" + (directory / store).string() + "' " +
           options + " --in a.cpp --out a.o -- g++ -MD -c a.cpp -o a.o\n";
  }
  // Puts this image on the device, whose number is in each stamp, and mounts it.
  static std::string mount(const std::string& image) {
    return "cat " + image + " > backing\nmount -o ro $device mounted || exit " +
           std::to_string(cannot_mount) + "\n";
  }
  static std::string take_device() {
    return "device=$(losetup -f --show backing) || exit " + std::to_string(cannot_mount) +
           "\ntrap 'losetup -d $device' EXIT\n";
  }
  // Compiles with the first image, then with the second in its place, and checks the objects. The
  // header is the same file in both as far as `stat` shows.
  void check(const std::string& first, const std::string& second) const {
    const std::string look = "stat -c '%i %s %Y %Z %d' mounted/h.hpp > ";
    // Only the script sees what it mounts.
    const bool has_own_mounts = status_of("unshare -m sh", "true") == 0;
    const auto status =
        !has_own_mounts
            ? cannot_mount
            : status_of("unshare -m sh", take_device() + mount("one") + look + "seen1\n" + first +
                                             "cp a.o one.o\numount mounted\n" + mount("two") +
                                             look + "seen2\n" + second +
                                             "cp a.o two.o\ng++ -c a.cpp -o plain.o\n"
                                             "umount mounted");
    if (status == cannot_mount) {
      MESSAGE("not tested: this system mounts no images (no right to mount, or no loop device)");
      return;
    }
    REQUIRE(status == 0);
    MESSAGE("tested with ext4 images on a loop device");
    const auto in = [&](const char* name) { return file_text(folder / name); };
    REQUIRE(in("seen1") == in("seen2"));
    CHECK(in("one.o") != in("plain.o"));
    CHECK(in("two.o") == in("plain.o"));
  }

  temporary_directory directory;
  fs::path folder = directory / "work";
};

} // namespace

TEST_CASE_FIXTURE(images,
                  "a replaced image is another one for `run`" * doctest::skip(lacks_root())) {
  check(compile("store"), compile("store"));
}

TEST_CASE_FIXTURE(images, "an observation of another host's image is not believed by its stamps" *
                              doctest::skip(lacks_root())) {
  const local_redis redis;
  const auto options = "--remote " + redis.url() + " --remote-deadline 10s";
  check(compile("a", options), compile("b", options));
}

// The object has the old header, and the new one is what the cache sees at the end.
TEST_CASE_FIXTURE(images, "an image that is replaced while the command runs" *
                              doctest::skip(lacks_root())) {
  const auto at = [&](const char* name) { return "'" + (folder / name).string() + "'"; };
  write_text(folder / "compile.sh", "set -e\ng++ -MD -c a.cpp -o a.o\n[ -e " + at("swap") +
                                        " ] || exit 0\nrm " + at("swap") + "\numount " +
                                        at("mounted") + "\ncat " + at("two") + " > " +
                                        at("backing") + "\nmount -o ro $(cat " + at("device") +
                                        ") " + at("mounted") + "\n");
  const auto run = std::string(HEARTH_PROGRAM) + " run --store '" + (directory / "store").string() +
                   "' --in compile.sh --in a.cpp --out a.o --depfile a.d -- sh compile.sh\n";
  check("echo $device > device; touch swap\n" + run + "[ ! -e swap ]\n", run);
}

} // namespace mounted_image_test
