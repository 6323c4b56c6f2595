# hearth_embed_text(TARGET FILE HEADER FUNCTION): adds a source to TARGET that defines
# `std::string_view FUNCTION() noexcept`, which returns the text of FILE. HEADER declares it. FILE
# and HEADER are relative to the root of the sources, FUNCTION has its namespace:
#
#   hearth_embed_text(hearth_server_status runtime/server/status/page/status.html
#                     runtime/server/status/status_page.hpp hearth::server::status_page_html)
#
# Call it in the folder that makes TARGET. As a script:
#  cmake -DTEXT=... -DHEADER=... -DFUNCTION=... -DSOURCE=... -P embed_text.cmake
set(HEARTH_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(hearth_embed_text target file header function)
  set(text ${PROJECT_SOURCE_DIR}/${file})
  set(source ${PROJECT_BINARY_DIR}/embedded/${file}.cpp)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DTEXT=${text} -DHEADER=${header} -DFUNCTION=${function}
            -DSOURCE=${source} -P ${HEARTH_EMBED_SCRIPT}
    DEPENDS ${text} ${HEARTH_EMBED_SCRIPT}
    COMMENT "Embedding ${file}" VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ "${TEXT}" text)
  string(FIND "${text}" ")hearth_text\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${TEXT}: )hearth_text\" would end the string literal: change the text")
  endif()
  file(WRITE "${SOURCE}" "#include \"${HEADER}\"\n
std::string_view ${FUNCTION}() noexcept {
  using namespace std::string_view_literals;
  return R\"hearth_text(${text})hearth_text\"sv;
}
")
endif()
