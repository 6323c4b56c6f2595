# Debian packages, by `cpack -G DEB` in a build folder that was configured with
# -DCMAKE_INSTALL_PREFIX=/usr (scripts/test-packages builds, checks and tries them): libhearth1,
# libhearth-dev, hearth, hearth-server and python3-hearth.
set(packaging ${PROJECT_SOURCE_DIR}/packaging)

# What the programs' package has besides them, and the service.
# The service, whose settings are below /etc where the prefix is /usr, and else below the prefix.
# Settings that are there are their owner's, and stay.
install(CODE "set(packaging \"${packaging}\")
set(made \"${PROJECT_BINARY_DIR}/packaging/server\")" COMPONENT server)
install(CODE [[
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(settings /etc/hearth)
else()
  set(settings ${CMAKE_INSTALL_PREFIX}/etc/hearth)
endif()
foreach(unit hearth-serve.service hearth-serve.socket)
  file(READ ${packaging}/${unit} text)
  string(REPLACE /etc/hearth ${settings} text "${text}")
  string(REPLACE /usr/bin/hearth ${CMAKE_INSTALL_PREFIX}/bin/hearth text "${text}")
  file(WRITE ${made}/${unit} "${text}")
  file(INSTALL ${made}/${unit} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
endforeach()
if(EXISTS $ENV{DESTDIR}${settings}/serve.toml)
  message(STATUS "Kept: $ENV{DESTDIR}${settings}/serve.toml")
else()
  file(INSTALL ${packaging}/serve.toml DESTINATION ${settings})
endif()
]] COMPONENT server)
# The program is linked statically since it starts faster so.
install(FILES ${packaging}/debian/lintian-overrides RENAME hearth
        DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT programs)
if(EXISTS ${packaging}/completions)
  install(FILES ${packaging}/completions/hearth.bash RENAME hearth
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
  install(FILES ${packaging}/completions/_hearth
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT programs)
  install(FILES ${packaging}/completions/hearth.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT programs)
endif()

# hearth_compressed(FILE DESTINATION COMPONENT [NAME]): installs FILE.gz, the same bytes each time.
find_program(HEARTH_GZIP gzip)
function(hearth_compressed file destination component)
  cmake_path(GET file FILENAME name)
  if(ARGC GREATER 3)
    set(name ${ARGV3})
  endif()
  set(compressed ${PROJECT_BINARY_DIR}/packaging/${component}/${name}.gz)
  add_custom_command(OUTPUT ${compressed}
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/packaging/${component}
                     COMMAND ${HEARTH_GZIP} -9nc ${file} > ${compressed}
                     DEPENDS ${file} VERBATIM)
  set_property(GLOBAL APPEND PROPERTY HEARTH_COMPRESSED ${compressed})
  install(FILES ${compressed} DESTINATION ${destination} COMPONENT ${component})
endfunction()

foreach(pair library:libhearth1 development:libhearth-dev programs:hearth server:hearth-server python:python3-hearth)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
  install(FILES ${packaging}/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
          COMPONENT ${component})
  if(HEARTH_GZIP)
    hearth_compressed(${packaging}/debian/changelog ${CMAKE_INSTALL_DATADIR}/doc/${package} ${component}
                      changelog.Debian)
  endif()
endforeach()
foreach(page hearth.1 hearth-cc.1)
  if(HEARTH_GZIP AND EXISTS ${packaging}/man/${page})
    hearth_compressed(${packaging}/man/${page} ${CMAKE_INSTALL_MANDIR}/man1 programs)
  endif()
endforeach()
get_property(compressed GLOBAL PROPERTY HEARTH_COMPRESSED)
add_custom_target(hearth_packaging ALL DEPENDS ${compressed})

math(EXPR next_minor "${PROJECT_VERSION_MINOR} + 1")
set(next_version ${PROJECT_VERSION_MAJOR}.${next_minor})
set(same_library "libhearth1 (>= ${PROJECT_VERSION}), libhearth1 (<< ${next_version})")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hearth)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The authors of Hearth <authors@hearth.invalid>")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL library development programs server python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${packaging}/debian/library/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "${same_library}, libexpected-dev, libxxhash-dev, libzstd-dev, libssl-dev, libre2-dev, libcaf-dev, libtomlplusplus-dev, libmsgpack-cxx-dev")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS "${same_library}") # it has hearth-worker
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "hearth-server")
set(CPACK_DEBIAN_SERVER_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS "hearth (>= ${PROJECT_VERSION}), hearth (<< ${next_version}), passwd")
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
    ${packaging}/debian/server/postinst ${packaging}/debian/server/prerm
    ${packaging}/debian/server/postrm ${packaging}/debian/server/conffiles)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "libhearth1 (>= ${PROJECT_VERSION}), python3 (>= 3.9)")
foreach(text "LIBRARY|compile cache: the shared library|Memory, disk and a remote tier, and one compile for all callers that ask at once."
             "DEVELOPMENT|compile cache: headers and libraries for hosts|For programs in C and C++ that embed Hearth."
             "PROGRAMS|compile cache: the programs|A compiler launcher, cached actions, and the tools of a store."
             "SERVER|compile cache: a server for Redis and HTTP clients|A service that one cache of a host or a fleet is behind."
             "PYTHON|compile cache: the Python binding|Caches, asynchronous calls and adapters over the shared library.")
  string(REPLACE "|" ";" text "${text}")
  list(GET text 0 upper)
  list(GET text 1 summary)
  list(GET text 2 description)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${description}")
endforeach()
include(CPack)
