# buoy_version_source(<variable>): the generated source of base/version.h. It is looked at in every build, so that the
# commit is right, and written only when that changed: one object is compiled anew, not all.
function(buoy_version_source variable)
  set(source ${PROJECT_BINARY_DIR}/version.cc)
  set(write ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${source} -DVERSION=${PROJECT_VERSION}
    -P ${PROJECT_SOURCE_DIR}/cmake/write_version.cmake)
  add_custom_target(buoy_version COMMAND ${write} BYPRODUCTS ${source} COMMENT "Which commit this is" VERBATIM)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

# The header for the preprocessor, as <buoy/version.h>.
configure_file(cmake/version.h.in ${PROJECT_BINARY_DIR}/include/buoy/version.h @ONLY)
