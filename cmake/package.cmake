# The libraries for other projects (docs/library.md): archives, headers, the CMake package `buoy`, buoy.pc.
include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY BUOY_LIBRARIES)
list(TRANSFORM libraries PREPEND buoy_ OUTPUT_VARIABLE targets)
install(TARGETS ${targets} buoy_all EXPORT buoy-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Left out is what only Buoy's own sources include: the command line, and the inner loops of the kernels.
install(DIRECTORY src/buoy/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/buoy FILES_MATCHING PATTERN "*.h"
  PATTERN "*-inl.h" EXCLUDE PATTERN "app" EXCLUDE PATTERN "web" EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/include/buoy/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/buoy)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/buoy)
configure_package_config_file(cmake/buoy-config.cmake.in ${PROJECT_BINARY_DIR}/buoy-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/buoy-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT buoy-targets NAMESPACE buoy:: DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/buoy-config.cmake ${PROJECT_BINARY_DIR}/buoy-config-version.cmake
  cmake/libraries.cmake DESTINATION ${package})

# pkg-config: archives from the top of the table in docs/architecture.md down, as a linker wants them.
set(BUOY_PC_LIBS "")
foreach(name ${libraries})
  get_target_property(type buoy_${name} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(PREPEND BUOY_PC_LIBS -lbuoy_${name})
  endif()
endforeach()
if(BUOY_CUDA)
  list(APPEND BUOY_PC_LIBS -L${CUDAToolkit_LIBRARY_DIR} -lcublasLt -lcudart)
endif()
list(JOIN BUOY_PC_LIBS " " BUOY_PC_LIBS)
list(JOIN BUOY_PC_REQUIRES " " BUOY_PC_REQUIRES)
file(RELATIVE_PATH BUOY_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/buoy.pc.in ${PROJECT_BINARY_DIR}/buoy.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/buoy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
