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

include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)
get_property(BUOY_PC_REQUIRES GLOBAL PROPERTY BUOY_PC_REQUIRES)
if(BUOY_APP OR BUOY_BENCH)
  buoy_dependency(CLI11 NAME CLI11 DEBIAN libcli11-dev CONDA cli11 PACKAGE CLI11 TARGET CLI11::CLI11)
endif()
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
