# buoy_precompile(<target> headers...): for the C++ files of a target. Every file still includes what it uses.
function(buoy_precompile target)
  if(NOT BUOY_PCH)
    return()
  endif()
  foreach(header ${ARGN})
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${header}>)
  endforeach()
endfunction()

# buoy_own_options("<options>" files...): compiler options of single files. They get no precompiled header: with one, GCC
# takes the options that the header was compiled with (matrix kernels were 1.55 times slower).
function(buoy_own_options options)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# buoy_compile_together(<target>): eight files at a time, which reads headers and instantiates templates once for all of
# them. Names in the unnamed namespaces of a folder must then differ. Files with options of their own stay apart. A
# warning would only tell that files are included by another; the preset strict, which compiles each by itself, has it.
function(buoy_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BUOY_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# buoy_library(<folder> [APART] [LINKS targets...]): one target per folder of src/buoy, linking exactly what the table
# in docs/architecture.md allows it to include; other projects call it buoy::<folder>. APART: each file is compiled by itself (kernels).
function(buoy_library name)
  cmake_parse_arguments(ARG "APART" "" "LINKS" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/buoy/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_cuda_stub\\.cc$")
  file(GLOB_RECURSE device_stubs CONFIGURE_DEPENDS ${folder}/*_cuda_stub.cc)
  file(GLOB_RECURSE device_sources CONFIGURE_DEPENDS ${folder}/*_cuda.cu)
  if(BUOY_CUDA)
    if(device_sources)
      list(APPEND ARG_LINKS CUDA::cudart)
      # A target of its own, so that `make test` can compile the CUDA code without all the rest.
      add_library(buoy_${name}_cuda OBJECT ${device_sources})
      target_link_libraries(buoy_${name}_cuda PRIVATE buoy_settings CUDA::cudart fmt::fmt)
      target_include_directories(buoy_${name}_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src)
      list(APPEND sources $<TARGET_OBJECTS:buoy_${name}_cuda>)
    endif()
  else()
    list(APPEND sources ${device_stubs})
  endif()
  # Libraries that a build may lack: x_cairo.cc or x_cairo_stub.cc, and so on.
  foreach(optional CAIRO SQLITE TOML)
    string(TOLOWER ${optional} ending)
    if(${optional}_FOUND)
      list(FILTER sources EXCLUDE REGEX "_${ending}_stub\\.cc$")
      if("${sources}" MATCHES "_${ending}\\.cc")
        list(APPEND ARG_LINKS buoy_external::${optional})
      endif()
    else()
      list(FILTER sources EXCLUDE REGEX "_${ending}\\.cc$")
    endif()
  endforeach()
  if(sources)
    add_library(buoy_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(buoy_${name} PUBLIC ${ARG_LINKS} PRIVATE $<BUILD_INTERFACE:buoy_settings>)
    if(BUOY_UNITY AND NOT ARG_APART)
      buoy_compile_together(buoy_${name})
    else()
      buoy_precompile(buoy_${name} <algorithm> <filesystem> <functional> <map> <memory> <optional> <string> <vector>
                      <fmt/format.h>)
    endif()
  else()
    set(scope INTERFACE)
    add_library(buoy_${name} INTERFACE)
    target_link_libraries(buoy_${name} INTERFACE ${ARG_LINKS})
  endif()
  target_compile_features(buoy_${name} ${scope} cxx_std_20)
  target_include_directories(buoy_${name} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # As other projects know it.
  add_library(buoy::${name} ALIAS buoy_${name})
  set_target_properties(buoy_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY BUOY_LIBRARIES ${name})
endfunction()
