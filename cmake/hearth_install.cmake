# What hosts link and what is installed: the libraries, the public headers, and how a host finds
# them (find_package(hearth), pkg-config). docs/embedding.md describes it for hosts.
#
#   hearth::hearth        the shared library, with the C interface of hearth.h
#   hearth::static        the same, static
#   hearth::runtime       hearth::hearth
#   hearth::orchestrator  hearth::static, with plans
#   hearth::hits          plain stores alone: no CAF, no thread; static
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
include(public_headers)

hearth_public_headers()

set(HEARTH_SOVERSION 1)
set(hits_rooms messages storage ports os api plain)
set(runtime_rooms ${hits_rooms} engine_threads process_worker net fingerprints launcher actions process
    actors wiring engine handle caches_attachments caches_autotune caches_facts caches_kernels
    caches_modules caches_nested caches_actions caches_bundle caches_graphs caches_code
    bindings_c)

# hearth_archive(TARGET NAME ROOM...): the static library libNAME.a of these rooms.
function(hearth_archive target name)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_OBJECTS:hearth_\\1>" OUTPUT_VARIABLE objects)
  add_library(${target} STATIC ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX)
  hearth_is_public(${target})
endfunction()

# The interface that a library has for hosts: the public headers, C++20.
function(hearth_is_public target)
  add_dependencies(${target} hearth_headers)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} SYSTEM INTERFACE
                             $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                             $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bindings/c/include>)
  target_link_libraries(${target} INTERFACE tl::expected)
endfunction()

set(hits_links hearth::xxhash hearth::zstd hearth::crypto hearth::re2 Threads::Threads)
set(runtime_links ${hits_links} hearth::ssl hearth::caf ${CMAKE_DL_LIBS})
# The archive holds the plans, too, which the shared library leaves out.
set(archive_links ${runtime_links} tomlplusplus::tomlplusplus)

hearth_archive(hearth_hits_archive hearth-hits ${hits_rooms})
target_link_libraries(hearth_hits_archive PRIVATE ${hits_links})
add_library(hearth::hits ALIAS hearth_hits_archive)
set(installed hearth_hits_archive)

if(HEARTH_CAF)
  hearth_archive(hearth_archive hearth ${runtime_rooms} orchestrator)
  target_link_libraries(hearth_archive PRIVATE ${archive_links})
  add_library(hearth::static ALIAS hearth_archive)
  add_library(hearth::orchestrator ALIAS hearth_archive)

  list(TRANSFORM runtime_rooms REPLACE "(.+)" "$<TARGET_OBJECTS:hearth_\\1>" OUTPUT_VARIABLE objects)
  add_library(hearth_shared SHARED ${objects})
  set_target_properties(hearth_shared PROPERTIES OUTPUT_NAME hearth LINKER_LANGUAGE CXX
                        VERSION ${HEARTH_SOVERSION}.${PROJECT_VERSION}
                        SOVERSION ${HEARTH_SOVERSION}
                        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libhearth.map)
  hearth_is_public(hearth_shared)
  target_link_libraries(hearth_shared PRIVATE ${runtime_links} hearth_sanitizers)
  target_link_options(hearth_shared PRIVATE -Wl,--gc-sections -Wl,--as-needed
                      -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/libhearth.map)
  if(NOT HEARTH_SANITIZE)
    target_link_options(hearth_shared PRIVATE -Wl,--no-undefined)
  endif()
  add_library(hearth::hearth ALIAS hearth_shared)
  add_library(hearth::runtime ALIAS hearth_shared)
  list(APPEND installed hearth_archive hearth_shared)
  # Both start it for programs that they run.
  add_dependencies(hearth_archive hearth-worker)
  add_dependencies(hearth_shared hearth-worker)
endif()

set(HEARTH_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/hearth)
install(TARGETS ${installed}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/hearth DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/bindings/c/include/hearth.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/hearth-config.cmake.in
                              ${PROJECT_BINARY_DIR}/hearth-config.cmake
                              INSTALL_DESTINATION ${HEARTH_CMAKE_FOLDER}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hearth-config-version.cmake
                                 VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hearth-config.cmake
              ${PROJECT_BINARY_DIR}/hearth-config-version.cmake
        DESTINATION ${HEARTH_CMAKE_FOLDER} COMPONENT development)
# The prefix as seen from the folder of these files, so that an installation may be moved.
file(RELATIVE_PATH HEARTH_PREFIX_OF_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(name hearth hearth-hits)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endforeach()
