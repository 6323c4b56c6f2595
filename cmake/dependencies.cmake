# Every library that Hearth uses, as an imported target. All are Debian 12 packages, named in
# scripts/packages.txt; what each is for stands in docs/dependencies.md.
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto SSL)
find_package(Boost 1.74 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)

# Libraries for which Debian ships no CMake config, or one that differs from version to version.
function(hearth_find_library target header library)
  find_path(${target}_include ${header})
  find_library(${target}_library ${library})
  if(NOT ${target}_include OR NOT ${target}_library)
    message(FATAL_ERROR "${header} or lib${library} is missing: run scripts/setup")
  endif()
  add_library(hearth::${target} INTERFACE IMPORTED)
  target_include_directories(hearth::${target} SYSTEM INTERFACE ${${target}_include})
  target_link_libraries(hearth::${target} INTERFACE ${${target}_library})
endfunction()

hearth_find_library(re2 re2/re2.h re2)
hearth_find_library(xxhash xxhash.h xxhash)
hearth_find_library(zstd zstd.h zstd)
if(HEARTH_CAF)
  hearth_find_library(caf caf/actor_system.hpp caf_core)
endif()

find_path(msgpack_include msgpack.hpp REQUIRED)
add_library(hearth::msgpack INTERFACE IMPORTED)
target_include_directories(hearth::msgpack SYSTEM INTERFACE ${msgpack_include})
target_compile_definitions(hearth::msgpack INTERFACE MSGPACK_NO_BOOST)
