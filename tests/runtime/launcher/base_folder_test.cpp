#include "runtime/launcher/base_folder.hpp"
#include "tests/runtime/launcher/command_text.hpp"

namespace base_folder_test {

using namespace hearth::launcher;
using namespace hearth::test;

TEST_CASE("paths below a base folder become relative") {
  const base_folder base{"/link", "/real/a", "/real/a/build/x"};
  struct row {
    const char* path;
    const char* relative;
  };
  for (const auto& row :
       {row{"/real/a/src/m.c", "../../src/m.c"}, row{"/link/src/m.c", "../../src/m.c"},
        row{"/real/a/build/y/m.c", "../y/m.c"}, row{"/real/a/build/x/m.c", "m.c"},
        row{"/real/a/build/x", "."}, row{"/real/a/build", ".."}, row{"/real/a", "../.."},
        row{"/real/a//build//x//m.c", "m.c"}, row{"/real/ab/m.c", "/real/ab/m.c"},
        row{"/real/a/src/../inc", "../../src/../inc"}, row{"/usr/include", "/usr/include"},
        row{"m.c", "m.c"}, row{"", ""}}) {
    CAPTURE(std::string(row.path));
    CHECK(relative_to_base(row.path, base) == row.relative);
  }
}

TEST_CASE("only names of what is read become relative") {
  const base_folder base{"/b", "/b", "/b/w"};
  struct row {
    const char* given;
    const char* made;
  };
  for (const auto& row :
       {row{"gcc -c /b/s/m.c", "-c ../s/m.c"},
        row{"gcc -I/b/i -I /b/j -isystem /b/k -isystem/b/l -c m.c",
            "-I../i -I ../j -isystem ../k -isystem../l -c m.c"},
        row{"gcc -include /b/p.h -iquote/b/q -c m.c", "-include ../p.h -iquote../q -c m.c"},
        row{"gcc -c /b/s/m.c -o /b/w/m.o -MD -MF /b/w/m.d -MT /b/w/m.o",
            "-c ../s/m.c -o /b/w/m.o -MD -MF /b/w/m.d -MT /b/w/m.o"},
        row{"gcc -D A=/b/s/m.c -DB=/b/x -c /b/s/m.c", "-D A=/b/s/m.c -DB=/b/x -c ../s/m.c"},
        row{"gcc -I/usr/i -I. -Ii -c m.c", "-I/usr/i -I. -Ii -c m.c"}}) {
    CAPTURE(std::string(row.given));
    auto command = command_of(row.given);
    make_relative(command, base);
    CHECK(text_of(command.arguments) == row.made);
  }
}

TEST_CASE("prefix maps of the working folder") {
  const base_folder base{"/b", "/b", "/b/w"};
  CHECK(maps_working_folder({"-g", "-ffile-prefix-map=/b=."}, base));
  CHECK(maps_working_folder({"-fdebug-prefix-map=/b/w=x"}, base));
  CHECK_FALSE(maps_working_folder({"-fmacro-prefix-map=/b=."}, base));
  CHECK_FALSE(maps_working_folder({"-fdebug-prefix-map=/b/other=."}, base));
  CHECK_FALSE(maps_working_folder({"-fdebug-prefix-map=/b/ww=."}, base));
  CHECK_FALSE(maps_working_folder({"-fdebug-prefix-map=/b=x=y", "-fdebug-prefix-map==."}, base));
  using namespace std::string_literals;
  CHECK(key_argument("-fdebug-prefix-map=/b=.", base) == "-fdebug-prefix-map=\0..=."s);
  CHECK(key_argument("-fmacro-prefix-map=/b/s=s", base) == "-fmacro-prefix-map=\0../s=s"s);
  CHECK(key_argument("-fmacro-prefix-map=../s=s", base) == "-fmacro-prefix-map=../s=s");
  CHECK(key_argument("-fmacro-prefix-map=/other=s", base) == "-fmacro-prefix-map=/other=s");
  CHECK(key_argument("-DX=/b=c", base) == "-DX=/b=c");
}

} // namespace base_folder_test
