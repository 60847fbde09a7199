# Every library comes from the machine: Debian's packages (tools/setup installs them by name), conda, or a prefix named by
# CMAKE_PREFIX_PATH or PKG_CONFIG_PATH; nothing is vendored. tools/setup reads this same file (cmake/search).
if(BUOY_CUDA)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 86 89 90a)
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
    if(NOT CMAKE_CUDA_COMPILER)
      message(FATAL_ERROR "A build for NVIDIA GPUs needs the CUDA 13 toolkit: expected nvcc in PATH, in /usr/local/cuda or "
        "below CUDA_HOME, found none (docs/install.md). Without it: make study, without CUDA=1.")
    endif()
  endif()
  enable_language(CUDA)
  # Debian 12's CMake does not know that nvcc 13 speaks C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  find_package(CUDAToolkit REQUIRED)
endif()

# The libraries of a conda environment fit its own compiler. With another compiler the environment that happens to be
# active is no place to look, unless CMAKE_PREFIX_PATH names it.
if(DEFINED ENV{CONDA_PREFIX})
  string(FIND "${CMAKE_CXX_COMPILER}" "$ENV{CONDA_PREFIX}/" at)
  if(at EQUAL 0)
    list(APPEND CMAKE_PREFIX_PATH $ENV{CONDA_PREFIX})
  endif()
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

# buoy_dependency(<key> NAME <name> DEBIAN <package> CONDA <package> [MODULES <pkg-config names...>]
#                 [PACKAGE <CMake's name> [COMPONENTS <parts...>] TARGET <its target>]
#                 [WITHOUT <what is then left out>])
# Looks with pkg-config, then among CMake's packages. Sets <key>_FOUND and makes the target external::<key>. What is not
# found is collected: all of it is named at once, and ends the configuration unless WITHOUT says how to do without.
function(buoy_dependency key)
  cmake_parse_arguments(ARG "" "NAME;DEBIAN;CONDA;PACKAGE;TARGET;WITHOUT" "MODULES;COMPONENTS" ${ARGN})
  set(target "")
  if(ARG_MODULES AND PKG_CONFIG_FOUND)
    pkg_check_modules(${key} QUIET IMPORTED_TARGET ${ARG_MODULES})
    if(TARGET PkgConfig::${key})
      set(target PkgConfig::${key})
    endif()
  endif()
  if(NOT target AND ARG_PACKAGE)
    find_package(${ARG_PACKAGE} QUIET COMPONENTS ${ARG_COMPONENTS})
    if(TARGET ${ARG_TARGET})
      set(target ${ARG_TARGET})
    endif()
  endif()
  if(target)
    add_library(external::${key} INTERFACE IMPORTED)
    target_link_libraries(external::${key} INTERFACE ${target})
    set(${key}_FOUND TRUE PARENT_SCOPE)
    return()
  endif()
  set(${key}_FOUND FALSE PARENT_SCOPE)
  set(line "${ARG_NAME} (Debian: ${ARG_DEBIAN}, conda: ${ARG_CONDA})")
  if(ARG_WITHOUT)
    set_property(GLOBAL APPEND PROPERTY BUOY_LEFT_OUT "${line}: without it ${ARG_WITHOUT}")
  else()
    set_property(GLOBAL APPEND PROPERTY BUOY_MISSING "${line}")
  endif()
endfunction()

buoy_dependency(FMT NAME fmt DEBIAN libfmt-dev CONDA fmt PACKAGE fmt TARGET fmt::fmt)
buoy_dependency(JSON NAME "JSON for Modern C++" DEBIAN nlohmann-json3-dev CONDA nlohmann_json
  PACKAGE nlohmann_json TARGET nlohmann_json::nlohmann_json)
buoy_dependency(CLI11 NAME CLI11 DEBIAN libcli11-dev CONDA cli11 PACKAGE CLI11 TARGET CLI11::CLI11)
buoy_dependency(ZLIB NAME zlib DEBIAN zlib1g-dev CONDA zlib PACKAGE ZLIB TARGET ZLIB::ZLIB)
buoy_dependency(HWY NAME Highway DEBIAN libhwy-dev CONDA libhwy MODULES libhwy PACKAGE hwy TARGET hwy::hwy)
buoy_dependency(PCRE2 NAME PCRE2 DEBIAN libpcre2-dev CONDA pcre2 MODULES libpcre2-8
  PACKAGE PCRE2 COMPONENTS 8BIT TARGET PCRE2::8BIT)
buoy_dependency(UTF8PROC NAME utf8proc DEBIAN libutf8proc-dev CONDA libutf8proc MODULES libutf8proc
  PACKAGE utf8proc TARGET utf8proc::utf8proc)
# *_cairo_stub.cc, *_sqlite_stub.cc and *_toml_stub.cc take the place of *_cairo.cc and so on.
buoy_dependency(CAIRO NAME Cairo DEBIAN libcairo2-dev CONDA cairo MODULES cairo cairo-pdf cairo-svg cairo-png
  WITHOUT "figures and reports are refused")
buoy_dependency(SQLITE NAME SQLite DEBIAN libsqlite3-dev CONDA sqlite MODULES sqlite3 PACKAGE SQLite3
  TARGET SQLite::SQLite3 WITHOUT "documents cannot be indexed")
buoy_dependency(TOML NAME toml++ DEBIAN libtomlplusplus-dev CONDA tomlplusplus MODULES tomlplusplus
  PACKAGE tomlplusplus TARGET tomlplusplus::tomlplusplus WITHOUT "studies cannot be read")
if(BUOY_TESTS)
  buoy_dependency(GTEST NAME GoogleTest DEBIAN libgtest-dev CONDA gtest PACKAGE GTest TARGET GTest::gtest_main)
endif()
if(BUOY_BENCH)
  buoy_dependency(OPENBLAS NAME OpenBLAS DEBIAN libopenblas-dev CONDA openblas MODULES openblas)
endif()

get_property(left_out GLOBAL PROPERTY BUOY_LEFT_OUT)
foreach(line ${left_out})
  message(STATUS "Not found: ${line}")
endforeach()
get_property(missing GLOBAL PROPERTY BUOY_MISSING)
if(missing AND NOT PKG_CONFIG_FOUND)
  list(APPEND missing "pkg-config itself (Debian: pkg-config, conda: pkg-config), which finds most of them")
endif()
list(JOIN missing "\n  " text)
if(missing AND NOT BUOY_SEARCH_ONLY)
  message(FATAL_ERROR "Buoy needs what CMake did not find:\n  ${text}\n"
    "Install it (tools/setup does on Debian and Ubuntu), or name where it lies by CMAKE_PREFIX_PATH or "
    "PKG_CONFIG_PATH (docs/install.md).")
endif()
