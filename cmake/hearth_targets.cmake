# How every target of Hearth is built: warnings and sanitizers are interface targets.
option(HEARTH_WERROR "Treat warnings as errors" OFF)
set(HEARTH_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")

add_library(hearth_warnings INTERFACE)
target_compile_options(hearth_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Woverloaded-virtual)
# GCC 12 reports these falsely for std::variant and for copied containers when it optimises.
target_compile_options(hearth_warnings INTERFACE
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-array-bounds>)
if(HEARTH_WERROR)
  target_compile_options(hearth_warnings INTERFACE -Werror)
endif()

# Only what public headers declare is exported (messages/visibility.hpp).
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(hearth_sanitizers INTERFACE)
if(HEARTH_SANITIZE)
  target_compile_options(hearth_sanitizers INTERFACE -fsanitize=${HEARTH_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(hearth_sanitizers INTERFACE -fsanitize=${HEARTH_SANITIZE})
  # Two checks of UBSan take a third of the time to compile. ASan ends a program at a null pointer,
  # and at most objects of another type, by itself.
  if(HEARTH_SANITIZE MATCHES "address" AND HEARTH_SANITIZE MATCHES "undefined")
    target_compile_options(hearth_sanitizers INTERFACE -fno-sanitize=null,vptr)
  endif()
else()
  # So that the linker leaves out of `hearth` what it does not use: it starts faster.
  add_compile_options(-ffunction-sections -fdata-sections)
endif()

# Counts which lines run (scripts/test-coverage).
option(HEARTH_COVERAGE "Count the lines that run" OFF)
if(HEARTH_COVERAGE)
  add_library(hearth_coverage STATIC ${PROJECT_SOURCE_DIR}/cmake/coverage_exit.cpp)
  add_compile_options(--coverage)
  target_link_options(hearth_sanitizers INTERFACE --coverage -Wl,--wrap=_exit)
  target_link_libraries(hearth_sanitizers INTERFACE hearth_coverage)
endif()

# The allocator of Hearth's programs. Actors free memory that callers' threads allocated: glibc has
# one lock for both threads, jemalloc has none. A sanitizer brings its own allocator. A host that
# links the libraries chooses its own.
add_library(hearth_allocator INTERFACE)
if(TARGET hearth::jemalloc)
  target_link_libraries(hearth_allocator INTERFACE hearth::jemalloc)
endif()

# Compiles sources together: the code that they share is parsed, instantiated and optimised once
# (docs/building.md). `folder`: the sources of a folder; `target`: those of a library or test
# program. Who builds Hearth as a part of another project does not change its sources: the fastest.
set(together off)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(together target)
endif()
set(HEARTH_UNITY "${together}" CACHE STRING "What is compiled together: off, folder or target")
set_property(CACHE HEARTH_UNITY PROPERTY STRINGS off folder target)
set(HEARTH_UNITY_SOURCES 40 CACHE STRING "How many sources are compiled together at most")

# hearth_unity(TARGET [SOURCES]): joins the sources of TARGET as HEARTH_UNITY says; with SOURCES, at
# most that many together, over the whole target. A name in an unnamed namespace must be unique in
# its library; a test has a namespace of its own.
function(hearth_unity target)
  if(HEARTH_UNITY STREQUAL "off")
    return()
  endif()
  set(most ${HEARTH_UNITY_SOURCES})
  if(ARGC GREATER 1)
    set(most ${ARGV1})
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    set(group ${target})
    if(HEARTH_UNITY STREQUAL "folder" AND ARGC EQUAL 1)
      cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE folder)
      cmake_path(GET folder PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER ${folder} group)
    endif()
    list(APPEND of_${group} ${source})
    list(LENGTH of_${group} count)
    math(EXPR part "(${count} - 1) / ${most}")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# hearth_library(NAME [SOURCE...]): a static library of the named sources, or of all sources of this
# folder.
function(hearth_library name)
  set(sources ${ARGN})
  if(NOT sources)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE hearth_warnings PUBLIC hearth_sanitizers)
  hearth_unity(${name})
endfunction()

# hearth_program(NAME SOURCE LIBRARY...)
function(hearth_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE hearth_warnings hearth_sanitizers ${ARGN})
endfunction()
