# The public headers, as hosts include them: `<hearth/NAME.hpp>` is runtime/include/hearth/NAME.hpp,
# and each header of ours that one of them needs lies below <hearth/...> too, at its path in the
# sources, so that no name of ours but `hearth` takes a place in a host's search path.
#
# hearth_public_headers(): makes the target hearth_headers, which keeps the tree of these headers
# in ${PROJECT_BINARY_DIR}/include up to date. As a script, it writes the tree:
#  cmake -DROOT=<sources> -DTREE=<folder> -P public_headers.cmake
cmake_minimum_required(VERSION 3.25)
set(HEARTH_PUBLIC_HEADERS_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

# Sets `result` to all headers, relative to `root`, that the public ones are made of.
function(hearth_find_public_headers root result)
  file(GLOB waiting RELATIVE ${root} ${root}/runtime/include/hearth/*.hpp)
  set(all)
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST all)
      continue()
    endif()
    list(APPEND all ${header})
    file(STRINGS ${root}/${header} includes REGEX "^#include \"")
    foreach(line ${includes})
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      list(APPEND waiting ${included})
    endforeach()
  endwhile()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

function(hearth_public_headers)
  hearth_find_public_headers(${PROJECT_SOURCE_DIR} headers)
  set(tree ${PROJECT_BINARY_DIR}/include)
  list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  add_custom_command(
    OUTPUT ${tree}/headers.stamp
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DTREE=${tree}
            -P ${HEARTH_PUBLIC_HEADERS_SCRIPT}
    COMMAND ${CMAKE_COMMAND} -E touch ${tree}/headers.stamp
    DEPENDS ${sources} ${HEARTH_PUBLIC_HEADERS_SCRIPT}
    COMMENT "Writing the public headers" VERBATIM)
  add_custom_target(hearth_headers ALL DEPENDS ${tree}/headers.stamp)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  hearth_find_public_headers(${ROOT} headers)
  set(written)
  foreach(header ${headers})
    file(READ ${ROOT}/${header} text)
    string(REGEX REPLACE "#include \"([^\"]+)\"" "#include <hearth/\\1>" text "${text}")
    string(REGEX REPLACE "^runtime/include/" "" place ${header})
    if(place STREQUAL header)
      set(place hearth/${header})
    endif()
    list(APPEND written ${TREE}/${place})
    set(before)
    if(EXISTS ${TREE}/${place})
      file(READ ${TREE}/${place} before)
    endif()
    if(NOT text STREQUAL before)
      file(WRITE ${TREE}/${place} "${text}")
    endif()
  endforeach()
  file(GLOB_RECURSE there ${TREE}/hearth/*.hpp)
  list(REMOVE_ITEM there ${written})
  if(there)
    file(REMOVE ${there})
  endif()
endif()
