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
    shell("mkdir mounted && mke2fs -q -t ext4 -d content one 2M && "
          "for time in ctime mtime; do debugfs -w -R \"set_inode_field h.hpp $time "
          "20200101000000\" one 2> /dev/null; done && sed 's/VALUE 1111/VALUE 2222/' one > two");
  }

  // The status of a script in the folder, which mounts are seen by it alone.
  int try_shell(const std::string& script) const {
    const auto file = directory / "script";
    write_text(file, "set -e\ncd '" + folder.string() + "'\n" + script + "\n");
    const auto line = "unshare -m sh '" + file.string() + "'";
    return WEXITSTATUS(std::system(line.c_str()));
  }
  void shell(const std::string& script) const { REQUIRE(try_shell(script) == 0); }

  // The command that compiles a.o with this store.
  std::string compile(const std::string& store, const std::string& options = {}) const {
    return std::string(HEARTH_PROGRAM) + " run --store '" + (directory / store).string() + "' " +
           options + " --in a.cpp --out a.o -- g++ -MD -c a.cpp -o a.o\n";
  }
  static std::string mount(const std::string& image) {
    return "mount -o loop,ro " + image + " mounted || exit " + std::to_string(cannot_mount) + "\n";
  }
  // Compiles with the first image, then with the second in its place, and checks the objects. The
  // ages of the files are the same in both: `stat` says so.
  void check(const std::string& first, const std::string& second) const {
    const std::string look = "stat -c '%i %s %Y %Z %d' mounted/h.hpp > ";
    const auto status = try_shell(mount("one") + look + "seen1\n" + first + "cp a.o one.o\n" +
                                  first + // a hit, by the stamp
                                  "umount mounted\n" + mount("two") + look + "seen2\n" + second +
                                  "cp a.o two.o\ng++ -c a.cpp -o plain.o\numount mounted");
    if (status == cannot_mount) {
      MESSAGE("not tested: this system mounts no images (no loop device)");
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

} // namespace mounted_image_test
