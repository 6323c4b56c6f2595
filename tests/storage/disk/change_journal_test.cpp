// The journal of changes that the fleet has not heard of: what it keeps, and what other processes,
// here other openings of the store, read in it and take over.
#include "storage/disk/change_journal.hpp"

#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/files.hpp"

#include <cerrno>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace change_journal_test {

using namespace hearth;
using namespace hearth::test;
using storage::change_journal;
using storage::unheard_change;
using kind = unheard_change::kind;
namespace fs = std::filesystem;

namespace {

const auto in_c = std::make_shared<const named_cache>(
    named_cache{cache_id::make("c", "0").value(), 0, cache_id::make("c", "0").value().seed()});

cache_key at(const std::string& name) { return {in_c, key(name).encoded()}; }

unheard_change change(kind what, const std::string& name, std::uint64_t value = 0) {
  return {what, "c", "0", key(name).encoded(), value};
}

// A process: its opening of the store and its journal.
struct process {
  explicit process(const fs::path& directory, const std::string& fleet = "server",
                   storage::file_system* files = nullptr)
      : store(open_store(options_of(directory, files)))
      , journal(std::move(store->open_journal(fleet).value())) {}
  static storage::store_options options_of(const fs::path& directory, storage::file_system* files) {
    auto options = small_store(directory);
    options.files = files;
    return options;
  }
  std::unique_ptr<storage::store> store;
  std::unique_ptr<change_journal> journal;
};

std::vector<unheard_change>
changes_of(const std::vector<change_journal::numbered_change>& numbered) {
  std::vector<unheard_change> all;
  for (const auto& one : numbered)
    all.push_back(one.change);
  return all;
}

std::vector<unheard_change> taken_over_by(const process& one) {
  return changes_of(one.journal->look().taken_over);
}

std::vector<unheard_change> others_of(const process& one) {
  return changes_of(one.journal->look().others);
}

std::vector<fs::path> journals_in(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& one : fs::directory_iterator(directory / "v1"))
    if (one.path().filename().string().starts_with("unheard.")) found.push_back(one.path());
  return found;
}

using changes = std::vector<unheard_change>;

// Longer than a journal may be that has so little in it: it is written anew.
void note_until_written_anew(change_journal& journal) {
  for (int i = 0; i < 40'000; ++i)
    REQUIRE(journal.note(at("l"), kind::erase).kept);
}

} // namespace

TEST_CASE("journal: other processes read what is open, and only that") {
  const temporary_directory directory;
  const process one(directory.path()), two(directory.path());
  const auto first = one.journal->note(at("k"), kind::put, 7);
  CHECK(first.kept);
  CHECK(one.journal->note(at("l"), kind::erase).kept);
  CHECK(others_of(two) == changes{change(kind::put, "k", 7), change(kind::erase, "l")});
  CHECK(others_of(one).empty());
  one.journal->settle(first.which);
  CHECK(others_of(two) == changes{change(kind::erase, "l")});
  CHECK(two.journal->look().taken_over.empty()); // its process has not ended
}

TEST_CASE("journal: the last change of an entry counts, and settling an earlier one does nothing") {
  const temporary_directory directory;
  const process one(directory.path()), two(directory.path());
  const auto put = one.journal->note(at("k"), kind::put, 7);
  const auto erase = one.journal->note(at("k"), kind::erase);
  CHECK_FALSE(one.journal->find(put.which));
  CHECK(one.journal->find(erase.which) == kind::erase);
  one.journal->settle(put.which);
  CHECK(others_of(two) == changes{change(kind::erase, "k")});
  one.journal->settle(erase.which);
  CHECK(others_of(two).empty());
}

TEST_CASE("journal: a process takes over what an ended one has left, once") {
  const temporary_directory directory;
  const process later(directory.path());
  {
    const process ended(directory.path());
    CHECK(ended.journal->note(at("k"), kind::put, 7).kept);
    CHECK(ended.journal->note(at("l"), kind::erase).kept);
    CHECK(later.journal->look().taken_over.empty());
  }
  CHECK(journals_in(directory.path()).size() == 1);
  CHECK(taken_over_by(later) == changes{change(kind::put, "k", 7), change(kind::erase, "l")});
  CHECK(later.journal->look().taken_over.empty());
  const process other(directory.path());
  CHECK(others_of(other).size() == 2); // it is the later process's now
}

TEST_CASE("journal: a process that has told everything leaves no file") {
  const temporary_directory directory;
  {
    const process one(directory.path());
    one.journal->settle(one.journal->note(at("k"), kind::erase).which);
  }
  CHECK(journals_in(directory.path()).empty());
}

TEST_CASE("journal: of two ended processes that changed an entry, the later change is told") {
  const temporary_directory directory;
  {
    const process one(directory.path());
    const process two(directory.path());
    CHECK(one.journal->note(at("k"), kind::put, 7).kept);
    CHECK(two.journal->note(at("k"), kind::erase).kept);
    CHECK(two.journal->note(at("l"), kind::erase).kept);
    CHECK(one.journal->note(at("l"), kind::put, 8).kept);
  }
  CHECK(taken_over_by(process(directory.path())) ==
        changes{change(kind::erase, "k"), change(kind::put, "l", 8)});
}

TEST_CASE("journal: of an ended and a living process that changed an entry, the later is told") {
  const temporary_directory directory;
  faulty_file_system files;
  const process later(directory.path(), "server", &files);
  const process living(directory.path());
  {
    const process ended(directory.path());
    CHECK(ended.journal->note(at("k"), kind::put, 7).kept);
    CHECK(living.journal->note(at("k"), kind::erase).kept);
  }
  const auto synced = files.calls(call::sync);
  const auto found = later.journal->look();
  CHECK(found.taken_over.empty());
  CHECK(changes_of(found.others) == changes{change(kind::erase, "k")});
  CHECK(journals_in(directory.path()).size() == 1);
  CHECK(files.calls(call::sync) == synced + 3); // both journals, and the folder
  {
    const process ended(directory.path());
    CHECK(living.journal->note(at("l"), kind::erase).kept);
    CHECK(ended.journal->note(at("l"), kind::put, 8).kept);
  }
  CHECK(taken_over_by(later) == changes{change(kind::put, "l", 8)});
}

TEST_CASE("journal: of a change that is taken over it is known whether a later one was told") {
  const temporary_directory directory;
  const process later(directory.path()), other(directory.path(), "another server");
  {
    const process ended(directory.path());
    for (const auto* name : {"before", "after", "elsewhere"})
      CHECK(ended.journal->note(at(name), kind::put, 7).kept);
    const auto put = later.journal->note(at("before"), kind::put, 8);
    later.journal->note_told(at("before"), put.which);
    later.journal->settle(put.which);
    const auto first = later.journal->note(at("after"), kind::put, 8);
    const auto last = ended.journal->note(at("after"), kind::put, 9);
    CHECK_FALSE(ended.journal->was_told_since(at("after"), first.which - 1));
    later.journal->note_told(at("after"), first.which);
    later.journal->settle(first.which);
    CHECK(ended.journal->was_told_since(at("after"), first.which - 1));
    CHECK_FALSE(ended.journal->was_told_since(at("after"), last.which));
    other.journal->note_told(at("elsewhere"), last.which + 1);
  }
  // In the order of their addresses. The server may have got "before" after what was told.
  const auto taken = later.journal->look().taken_over;
  CHECK(changes_of(taken) == changes{change(kind::put, "after", 9), change(kind::put, "before"),
                                     change(kind::put, "elsewhere", 7)});
  for (const auto& one : taken)
    CHECK(one.was_passed == (one.change.key == change(kind::put, "before").key));
  // A later change that is told after the take-over stands for it too: the number is kept.
  const auto put = later.journal->note(at("elsewhere"), kind::put, 8);
  CHECK(put.which > taken.back().which);
  later.journal->note_told(at("elsewhere"), put.which);
  CHECK(later.journal->was_told_since(at("elsewhere"), taken.back().which));
}

TEST_CASE(
    "journal: a change that was told itself is not told again, unless the host made another") {
  const temporary_directory directory;
  const process later(directory.path());
  {
    const process ended(directory.path());
    const auto erased = ended.journal->note(at("k"), kind::erase);
    ended.journal->note_told(at("k"), erased.which);
    const auto put = ended.journal->note(at("l"), kind::put, 7);
    ended.journal->note_told(at("l"), put.which);
    CHECK(later.journal->note(at("l"), kind::erase).which > put.which);
    later.journal->settle(later.journal->last());
  }
  CHECK(taken_over_by(later) == changes{change(kind::put, "l")});
}

TEST_CASE("journal: of a change that is taken over and this process's own the later one counts") {
  const temporary_directory directory;
  const process later(directory.path());
  const auto early = later.journal->note(at("k"), kind::put, 7).which;
  change_journal::number left = 0;
  {
    const process ended(directory.path());
    left = ended.journal->note(at("k"), kind::erase).which;
    CHECK(ended.journal->note(at("l"), kind::erase).kept);
  }
  const auto late = later.journal->note(at("l"), kind::put, 8).which;
  const auto taken = later.journal->look().taken_over;
  REQUIRE(taken.size() == 1);
  CHECK(taken.front().which == left);
  CHECK(taken.front().change == change(kind::erase, "k"));
  CHECK_FALSE(later.journal->find(early));
  CHECK(later.journal->find(left) == kind::erase);
  CHECK(later.journal->find(late) == kind::put);
  later.journal->settle(early);
  CHECK(others_of(process(directory.path())) ==
        changes{change(kind::erase, "k"), change(kind::put, "l", 8)});
}

TEST_CASE("journal: what is taken over has its number and the id of its journal") {
  const temporary_directory directory;
  const process later(directory.path());
  std::uint64_t first_id = 0, second_id = 0;
  change_journal::number first = 0, second = 0;
  {
    const process ended(directory.path());
    first = ended.journal->note(at("k"), kind::put, 7).which;
    first_id = ended.journal->id();
  }
  {
    const process ended(directory.path());
    second = ended.journal->note(at("l"), kind::erase).which;
    second_id = ended.journal->id();
  }
  CHECK(first_id != 0);
  CHECK(std::set{first_id, second_id, later.journal->id()}.size() == 3);
  const auto taken = later.journal->look().taken_over;
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].which == first);
  CHECK(taken[0].journal == first_id);
  CHECK(taken[1].which == second);
  CHECK(taken[1].journal == second_id);
  CHECK(change_journal().id() == 0);
}

TEST_CASE("journal: numbers go on from what was told if their count is lost") {
  const temporary_directory directory;
  change_journal::number before = 0;
  {
    const process one(directory.path());
    for (int i = 0; i < 9; ++i)
      before = one.journal->note(at("k"), kind::erase).which;
    one.journal->note_told(at("k"), before);
    one.journal->settle(before);
  }
  { // a power loss may keep one page of the file and not another
    std::fstream order(directory.path() / "v1" / "changes",
                       std::ios::in | std::ios::out | std::ios::binary);
    order.write(std::string(16, '\0').data(), 16);
  }
  const process later(directory.path());
  const auto next = later.journal->note(at("k"), kind::put, 7);
  CHECK(next.which > before);
  CHECK_FALSE(later.journal->was_told_since(at("k"), next.which));
}

TEST_CASE("journal: what cannot be noted is said, and noted once the disk has room") {
  const temporary_directory directory;
  faulty_file_system files;
  const process one(directory.path(), "server", &files);
  const auto& journal = one.journal;
  const process other(directory.path());
  {
    const process ended(directory.path());
    CHECK(ended.journal->note(at("left"), kind::erase).kept);
  }
  files.fail(call::write, ENOSPC);
  const auto noted = journal->note(at("k"), kind::erase);
  REQUIRE_FALSE(noted.kept);
  CHECK(noted.kept.error().code() == errc::no_space);
  CHECK(journal->find(noted.which) == kind::erase); // in this process it holds
  CHECK(journal->look().taken_over.size() == 1);
  CHECK(journal->look().taken_over.empty());
  CHECK(journals_in(directory.path()).size() == 1); // the ended process's still has its change
  files.heal();
  CHECK(journal->note(at("l"), kind::erase).kept);
  CHECK(others_of(other) ==
        changes{change(kind::erase, "k"), change(kind::erase, "l"), change(kind::erase, "left")});
}

TEST_CASE("journal: another server's changes are left alone") {
  const temporary_directory directory;
  { CHECK(process(directory.path(), "one").journal->note(at("k"), kind::erase).kept); }
  CHECK(process(directory.path(), "two").journal->look().taken_over.empty());
  CHECK(taken_over_by(process(directory.path(), "one")) == changes{change(kind::erase, "k")});
}

TEST_CASE("journal: what stands before a torn or damaged record counts") {
  const temporary_directory directory;
  const process one(directory.path());
  CHECK(one.journal->note(at("k"), kind::erase).kept);
  CHECK(one.journal->note(at("l"), kind::erase).kept);
  const auto file = journals_in(directory.path()).at(0);
  const auto whole = fs::file_size(file);
  SUBCASE("cut anywhere in the second record") {
    for (auto size = whole - 1; size >= whole / 2; --size) {
      fs::resize_file(file, size);
      CHECK(others_of(process(directory.path())) == changes{change(kind::erase, "k")});
    }
  }
  SUBCASE("a bit flipped in the second record") {
    const auto bytes = file_text(file);
    for (auto byte = whole / 2; byte < whole; ++byte) {
      auto flipped = bytes;
      flipped[byte] = static_cast<char>(flipped[byte] ^ 4);
      write_text(file, flipped);
      CHECK(others_of(process(directory.path())) == changes{change(kind::erase, "k")});
    }
  }
}

TEST_CASE(
    "journal: a change that the host may have made again since is told by what the store holds") {
  const temporary_directory directory;
  const process later(directory.path());
  change_journal::number told = 0;
  {
    const process ended(directory.path());
    CHECK(ended.journal->note(at("k"), kind::erase).kept);
    CHECK(ended.journal->note(at("l"), kind::erase).kept);
    told = later.journal->note(at("k"), kind::put, 7).which;
    later.journal->settle(told);
  }
  CHECK(taken_over_by(later) == changes{change(kind::put, "k", 0), change(kind::erase, "l")});
  CHECK_FALSE(later.journal->is_overtaken(at("k"), told)); // taking it over is no change
}

TEST_CASE("journal: what is taken over twice has the id of the first journal") {
  const temporary_directory directory;
  const process third(directory.path());
  change_journal::number which = 0;
  std::uint64_t first_id = 0, second_id = 0;
  {
    const process first(directory.path());
    which = first.journal->note(at("k"), kind::put, 7).which;
    first_id = first.journal->id();
    CHECK(first.journal->origin_of(which) == first_id);
  }
  {
    const process second(directory.path());
    second_id = second.journal->id();
    REQUIRE(second.journal->look().taken_over.size() == 1);
    CHECK(second.journal->origin_of(which) == first_id);
  }
  const auto taken = third.journal->look().taken_over;
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].which == which);
  CHECK(taken[0].journal == first_id);
  CHECK(taken[0].holder == second_id);
  CHECK(third.journal->origin_of(which) == first_id);
  const auto own = third.journal->note(at("k"), kind::erase).which;
  CHECK(third.journal->origin_of(own) == third.journal->id());
}

// A process that is killed during a takeover leaves every change in a journal.
TEST_CASE("journal: an ended process's journal goes when all of its changes are in another one") {
  const temporary_directory directory;
  struct : faulty_file_system {
    std::function<void()> before_removal;
    int remove_at(int folder, const char* name) noexcept override {
      if (const auto now = std::exchange(before_removal, nullptr)) now();
      return faulty_file_system::remove_at(folder, name);
    }
  } files;
  const process one(directory.path(), "server", &files);
  const process watching(directory.path());
  {
    const process ended(directory.path());
    for (const auto* name : {"k", "l", "m"})
      CHECK(ended.journal->note(at(name), kind::erase).kept);
  }
  const auto ended = journals_in(directory.path()).at(0);
  changes found;
  files.before_removal = [&] {
    fs::rename(ended, directory.path() / "aside");
    found = others_of(watching);
    fs::rename(directory.path() / "aside", ended);
  };
  CHECK(one.journal->look().taken_over.size() == 3);
  CHECK(found ==
        changes{change(kind::erase, "k"), change(kind::erase, "l"), change(kind::erase, "m")});
  CHECK(journals_in(directory.path()).size() == 1);
}

TEST_CASE("journal: a file that takes another one's place is synced before that goes") {
  const temporary_directory directory;
  faulty_file_system files;
  const process one(directory.path(), "server", &files);
  const auto& journal = one.journal;
  {
    const process ended(directory.path());
    CHECK(ended.journal->note(at("k"), kind::erase).kept);
  }
  SUBCASE("of an ended process") {
    files.fail(call::sync, EIO);
    CHECK(journal->look().taken_over.size() == 1);
    CHECK(journals_in(directory.path()).size() == 1);
    files.heal();
    CHECK(journal->note(at("l"), kind::erase).kept);
    CHECK(journals_in(directory.path()).size() == 1);
    CHECK(files.calls(call::sync) >= 2); // the file, and the folder
  }
  SUBCASE("of its own") {
    CHECK(journal->look().taken_over.size() == 1);
    const auto before = files.calls(call::sync);
    note_until_written_anew(*journal);
    CHECK(files.calls(call::sync) > before);
  }
}

TEST_CASE("journal: a process that replaces its journal has not ended") {
  const temporary_directory directory;
  struct : faulty_file_system {
    std::function<void()> before_removal, after_opening;
    int remove_at(int folder, const char* name) noexcept override {
      if (const auto now = std::exchange(before_removal, nullptr)) now();
      return faulty_file_system::remove_at(folder, name);
    }
    int open_at(int folder, const char* name, int flags, unsigned mode) noexcept override {
      const int opened = faulty_file_system::open_at(folder, name, flags, mode);
      if (std::string_view(name).starts_with("unheard."))
        if (const auto now = std::exchange(after_opening, nullptr)) now();
      return opened;
    }
  } files;
  const process one(directory.path(), "server", &files);
  const process other(directory.path(), "server", &files);
  CHECK(one.journal->note(at("k"), kind::erase).kept);
  change_journal::looked found;
  SUBCASE("another one looks before the old file is removed") {
    files.before_removal = [&] { found = other.journal->look(); };
    note_until_written_anew(*one.journal);
    CHECK_FALSE(files.before_removal);
  }
  SUBCASE("another one has opened the old file before") {
    files.after_opening = [&] { note_until_written_anew(*one.journal); };
    found = other.journal->look();
    CHECK_FALSE(files.after_opening);
  }
  CHECK(found.taken_over.empty());
  CHECK(changes_of(found.others) == changes{change(kind::erase, "k"), change(kind::erase, "l")});
}

TEST_CASE("journal: a look that cannot read everything says so") {
  const temporary_directory directory;
  faulty_file_system files;
  const process one(directory.path(), "server", &files);
  const auto& journal = one.journal;
  const process other(directory.path());
  CHECK(other.journal->note(at("k"), kind::erase).kept);
  CHECK(journal->look().is_whole);
  SUBCASE("the folder, or a journal, cannot be opened") { files.fail(call::open, EMFILE); }
  SUBCASE("a journal alone cannot be opened") { files.fail(call::open, EMFILE, 1); }
  SUBCASE("a journal cannot be read") { files.fail(call::read, EIO); }
  CHECK_FALSE(journal->look().is_whole);
  files.heal();
  CHECK(journal->look().is_whole);
  CHECK(changes_of(journal->look().others) == changes{change(kind::erase, "k")});
}

// While the folder is being read another process takes a journal over: what it held is in a new
// one.
TEST_CASE("journal: a change that moves to another journal during a look is not missed") {
  const temporary_directory directory;
  struct : faulty_file_system {
    std::function<void()> after_listing;
    int list(int folder, std::vector<std::string>& names) noexcept override {
      const int listed = faulty_file_system::list(folder, names);
      if (auto now = std::exchange(after_listing, nullptr)) now();
      return listed;
    }
  } files;
  const process one(directory.path(), "server", &files);
  const auto& journal = one.journal;
  const process other(directory.path());
  {
    const process ended(directory.path());
    CHECK(ended.journal->note(at("k"), kind::erase).kept);
  }
  files.after_listing = [&] { CHECK(taken_over_by(other) == changes{change(kind::erase, "k")}); };
  const auto found = journal->look();
  CHECK(found.taken_over.empty());
  CHECK(changes_of(found.others) == changes{change(kind::erase, "k")});
  CHECK(found.is_whole);
}

TEST_CASE("journal: numbers go on from those in the journals after their file is lost") {
  const temporary_directory directory;
  change_journal::number before = 0;
  {
    const process ended(directory.path());
    for (int i = 0; i < 9; ++i)
      before = ended.journal->note(at("k"), kind::erase).which;
  }
  fs::remove(directory.path() / "v1" / "changes");
  const process later(directory.path());
  CHECK(taken_over_by(later).size() == 1);
  CHECK(later.journal->note(at("l"), kind::erase).which > before);
}

TEST_CASE("journal: beyond its bound the whole cache counts as changed, until that is told") {
  const temporary_directory directory;
  const process one(directory.path()), two(directory.path());
  for (std::size_t i = 0; i < change_journal::max_changes; ++i)
    REQUIRE(one.journal->note(at(std::to_string(i)), kind::erase).kept);
  CHECK(others_of(two).size() == change_journal::max_changes);
  const auto more = one.journal->note(at("more"), kind::erase);
  const auto whole = one.journal->take_number(more.which);
  CHECK(whole != more.which);
  CHECK(one.journal->find(whole) == kind::whole_cache);
  const unheard_change all{kind::whole_cache, "c", "0", {}, 0};
  CHECK(others_of(two) == changes{all});
  // Changes have their place in the host's order all the same.
  const auto again = one.journal->note(at("again"), kind::put, 1);
  CHECK(one.journal->take_number(again.which) == whole);
  CHECK(again.which > more.which);
  CHECK(two.journal->is_overtaken(at("again"), again.which - 1));
  CHECK_FALSE(two.journal->is_overtaken(at("again"), again.which));
  // While it is told, later changes are noted by themselves.
  one.journal->begin_telling(whole);
  const auto later = one.journal->note(at("later"), kind::erase).which;
  CHECK(one.journal->take_number(later) == later);
  one.journal->settle(whole);
  CHECK(others_of(two) == changes{change(kind::erase, "later")});
}

TEST_CASE("journal: a change of a whole cache that cannot be written leaves those of its entries") {
  const temporary_directory directory;
  faulty_file_system files;
  const process one(directory.path(), "server", &files), two(directory.path());
  for (std::size_t i = 0; i < change_journal::max_changes; ++i)
    REQUIRE(one.journal->note(at(std::to_string(i)), kind::erase).kept);
  files.fail(call::write, ENOSPC);
  CHECK_FALSE(one.journal->note(at("more"), kind::erase).kept);
  CHECK(others_of(two).size() == change_journal::max_changes);
  // The whole takes one write, and is there or not.
  files.fail(call::write, ENOSPC, 2);
  CHECK(one.journal->note(at("more"), kind::erase).kept);
  CHECK(others_of(two) == changes{{kind::whole_cache, "c", "0", {}, 0}});
}

TEST_CASE("journal: it tells whether any process has changed an entry since") {
  const temporary_directory directory;
  const process one(directory.path()), two(directory.path());
  const auto before = one.journal->last();
  CHECK(before != 0);
  CHECK_FALSE(one.journal->is_overtaken(at("k"), before));
  const auto put = one.journal->note(at("k"), kind::put, 7);
  CHECK(one.journal->is_overtaken(at("k"), before));
  CHECK(two.journal->is_overtaken(at("k"), before));
  CHECK_FALSE(one.journal->is_overtaken(at("k"), put.which));
  const auto erase = two.journal->note(at("k"), kind::erase);
  CHECK(one.journal->is_overtaken(at("k"), put.which));
  two.journal->settle(erase.which);
  CHECK(one.journal->is_overtaken(at("k"), put.which)); // it was changed all the same
  CHECK_FALSE(one.journal->is_overtaken(at("k"), one.journal->last()));
}

TEST_CASE("journal: what a fleet is told again overtakes changes for that fleet only") {
  const temporary_directory directory;
  const process near(directory.path(), "near"), sibling(directory.path(), "near");
  const process far(directory.path(), "far");
  const auto changed = near.journal->note(at("k"), kind::put, 7).which;
  const auto again = near.journal->note_again(at("k"), kind::put, 7).which;
  CHECK(again > changed);
  CHECK(sibling.journal->is_overtaken(at("k"), changed));
  CHECK_FALSE(far.journal->is_overtaken(at("k"), changed));
  CHECK_FALSE(near.journal->is_overtaken(at("k"), again));
  const auto later = far.journal->note(at("k"), kind::erase).which;
  CHECK(near.journal->is_overtaken(at("k"), again));
  CHECK_FALSE(near.journal->is_overtaken(at("k"), later));
}

TEST_CASE("journal: a copy is stored only if the host has not changed the entry since") {
  const temporary_directory directory;
  const process one(directory.path()), two(directory.path());
  const auto copy = [&](change_journal::number since, std::string_view payload) {
    const auto to = at("k");
    storage::write_request request{storage::write_kind::insert, storage::entry_key(to)};
    request.value = artifact::make(payload);
    request.journal = one.journal.get();
    request.last_change = since;
    one.store->apply(one.store->shard_of(to.disk_hash), {&request, 1});
    return request.status;
  };
  const auto before = one.journal->last();
  CHECK(two.journal->note(at("k"), kind::erase).kept);
  for (const auto& payload : {std::string("small"), noise(3u << 20, 5)}) {
    CHECK(copy(before, payload) == storage::write_status::overtaken);
    CHECK(one.store->get(storage::entry_key(at("k"))).status == storage::read_status::miss);
  }
  CHECK(copy(one.journal->last(), "small") == storage::write_status::inserted);
}

TEST_CASE("journal: without a store it keeps a process's own changes") {
  change_journal one;
  const auto noted = one.note(at("k"), kind::erase);
  CHECK(noted.kept);
  CHECK(one.find(noted.which) == kind::erase);
  CHECK(one.look().others.empty());
  CHECK(one.look().taken_over.empty());
  CHECK_FALSE(one.is_overtaken(at("k"), 0));
  one.settle(noted.which);
  CHECK_FALSE(one.find(noted.which));
}

TEST_CASE("journal: a read-only store has none") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  (void)open_store(options);
  options.read_only = true;
  const auto opened = open_store(options)->open_journal("server");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code() == errc::read_only);
}

TEST_CASE("change journal: a process of several fleets notes a change for each, under one number") {
  temporary_directory directory;
  process near(directory.path(), "near");
  const std::shared_ptr<change_journal> far(near.store->open_journal("far").value().release());
  near.journal->note_also_in({{far, {}}}, {});
  const auto which = near.journal->note(at("a"), kind::put, 7).which;
  CHECK(near.journal->find(which) == kind::put);
  CHECK(far->find(which) == kind::put);
  CHECK(far->take_number(which) == which);
  near.journal->settle(which);
  CHECK_FALSE(near.journal->find(which));
  CHECK(far->find(which) == kind::put);
  CHECK(far->is_overtaken(at("a"), which - 1));
  CHECK_FALSE(far->is_overtaken(at("a"), which));
  CHECK_FALSE(far->find(near.journal->note_alone(at("b"), kind::erase).which));
}

TEST_CASE("change journal: of several, the one that notes for all knows what each is told again") {
  const temporary_directory directory;
  const process near(directory.path(), "near");
  const process opened(directory.path(), "far");
  const std::shared_ptr<change_journal> far(std::move(opened.store->open_journal("far").value()));
  near.journal->note_also_in({{far, {}}}, {});
  const auto changed = near.journal->note(at("k"), kind::erase).which;
  CHECK_FALSE(near.journal->is_overtaken_for_any(at("k"), changed));
  (void)far->note_again(at("k"), kind::put, 7);
  CHECK(near.journal->is_overtaken_for_any(at("k"), changed));
  CHECK_FALSE(near.journal->is_overtaken(at("k"), changed));
}

TEST_CASE("change journal: of several, each notes the caches that its fleet uses") {
  change_journal near;
  const auto far = std::make_shared<change_journal>();
  const auto none = [](const cache_id&) { return false; };
  SUBCASE("the first one does not use it") {
    near.note_also_in({{far, {}}}, none);
    const auto which = near.note(at("a"), kind::erase).which;
    CHECK_FALSE(near.find(which));
    CHECK(far->find(which) == kind::erase);
  }
  SUBCASE("the second one does not use it") {
    near.note_also_in({{far, none}}, {});
    const auto which = near.note(at("a"), kind::erase).which;
    CHECK(near.find(which) == kind::erase);
    CHECK_FALSE(far->find(which));
  }
}

TEST_CASE(
    "change journal: of several, one that is full notes the whole cache under its own number") {
  change_journal near;
  const auto far = std::make_shared<change_journal>();
  near.note_also_in({{far, {}}}, {});
  std::uint64_t which = 0;
  for (std::size_t i = 0; i <= change_journal::max_changes; ++i) {
    which = near.note(at(std::to_string(i)), kind::erase).which;
    near.settle(near.take_number(which));
  }
  CHECK_FALSE(near.find(which));
  const auto whole = far->take_number(which);
  CHECK(whole != which);
  CHECK(far->find(whole) == kind::whole_cache);
  CHECK(far->take_number(which) == which); // asked for once
}

} // namespace change_journal_test
