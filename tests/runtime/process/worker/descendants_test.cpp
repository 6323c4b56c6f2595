#include "runtime/process/worker/descendants.hpp"

#include "tests/runtime/process/process_support.hpp"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>

namespace descendants_test {

using namespace hearth::worker;

namespace {

// A child process that lives until it is killed.
class idle_child {
public:
  idle_child()
      : process_(::fork()) {
    if (process_ == 0)
      for (;;)
        ::pause();
  }
  ~idle_child() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  pid_t get() const { return process_; }

private:
  pid_t process_;
};

} // namespace

TEST_CASE("both ways to find children find all of them and no other process") {
  CHECK(list_children().empty());
  CHECK(search_children().empty());
  const idle_child children[3];
  auto listed = list_children();
  auto searched = search_children();
  std::ranges::sort(listed);
  std::ranges::sort(searched);
  CHECK(listed.size() == 3);
  CHECK(listed == searched);
  for (const auto& child : children)
    CHECK(std::ranges::count(listed, child.get()) == 1);
}

} // namespace descendants_test
