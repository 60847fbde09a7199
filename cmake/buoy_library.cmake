# buoy_precompile(<target> headers...): for the C++ files of a target. Every file still includes what it uses.
function(buoy_precompile target)
  if(NOT BUOY_PCH)
    return()
  endif()
  foreach(header ${ARGN})
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${header}>)
  endforeach()
endfunction()

# buoy_compile_together(<target>): eight files at a time, which reads headers and instantiates templates once for all of
# them. Names in the unnamed namespaces of a folder must then differ. Files with options of their own stay apart. Two
# warnings would only tell that files stand beside others; the preset strict, which compiles each by itself, has them.
function(buoy_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BUOY_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# buoy_library(<folder> [APART] [LINKS targets...]): one target per src/ folder, linking exactly what the table
# in docs/architecture.md allows it to include. APART: each file is compiled by itself (kernels).
function(buoy_library name)
  cmake_parse_arguments(ARG "APART" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_cuda_stub\\.cc$")
  file(GLOB device_stubs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_cuda_stub.cc)
  file(GLOB device_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_cuda.cu)
  if(BUOY_CUDA)
    if(device_sources)
      list(APPEND ARG_LINKS CUDA::cudart)
      # A target of its own, so that `make test` can compile the CUDA code without all the rest.
      add_library(buoy_${name}_cuda OBJECT ${device_sources})
      target_link_libraries(buoy_${name}_cuda PRIVATE buoy_settings CUDA::cudart fmt::fmt)
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
        list(APPEND ARG_LINKS external::${optional})
      endif()
    else()
      list(FILTER sources EXCLUDE REGEX "_${ending}\\.cc$")
    endif()
  endforeach()
  if(sources)
    add_library(buoy_${name} STATIC ${sources})
    target_link_libraries(buoy_${name} PUBLIC buoy_settings ${ARG_LINKS})
    if(BUOY_UNITY AND NOT ARG_APART)
      buoy_compile_together(buoy_${name})
    else()
      buoy_precompile(buoy_${name} <algorithm> <filesystem> <functional> <map> <memory> <optional> <string> <vector>
                      <fmt/format.h>)
    endif()
  else()
    add_library(buoy_${name} INTERFACE)
    target_link_libraries(buoy_${name} INTERFACE buoy_settings ${ARG_LINKS})
  endif()
endfunction()
