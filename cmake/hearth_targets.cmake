# How every target of ours is built: warnings and sanitizers are interface targets.
option(HEARTH_WERROR "Treat warnings as errors" OFF)
set(HEARTH_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")

add_library(hearth_warnings INTERFACE)
target_compile_options(hearth_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Woverloaded-virtual)
# GCC 12 reports these falsely of std::variant and of copied containers once it optimises.
target_compile_options(hearth_warnings INTERFACE
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-array-bounds>)
if(HEARTH_WERROR)
  target_compile_options(hearth_warnings INTERFACE -Werror)
endif()

add_library(hearth_sanitizers INTERFACE)
if(HEARTH_SANITIZE)
  target_compile_options(hearth_sanitizers INTERFACE -fsanitize=${HEARTH_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(hearth_sanitizers INTERFACE -fsanitize=${HEARTH_SANITIZE})
endif()

# The allocator of our programs. Actors free what callers' threads allocated: glibc's has one lock
# for both, jemalloc has none. A sanitizer brings its own. Who links the libraries chooses.
add_library(hearth_allocator INTERFACE)
if(TARGET hearth::jemalloc)
  target_link_libraries(hearth_allocator INTERFACE hearth::jemalloc)
endif()

# hearth_library(NAME): the static library of this folder, of all its sources.
function(hearth_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE hearth_warnings PUBLIC hearth_sanitizers)
endfunction()

# hearth_program(NAME SOURCE LIBRARY...)
function(hearth_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE hearth_warnings hearth_sanitizers ${ARGN})
endfunction()
