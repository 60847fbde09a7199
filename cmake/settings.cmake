# How Buoy's own files are compiled. Nothing here reaches a project that Buoy is a part of, or that uses its libraries:
# variables end with this directory, and only Buoy's own targets link buoy_settings.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(BUOY_CCACHE ccache)
  if(BUOY_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${BUOY_CCACHE})
  endif()
endif()

if(BUOY_PYTHON_MODULE)
  # A module that Python loads is a shared library. Nothing of it is seen from outside but its entry, so calls within it
  # stay as direct as those of the program.
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
endif()

add_library(buoy_settings INTERFACE)
# Contraction off: whether a*b+c is fused must never depend on how the compiler happened to split a
# loop. Where a fused multiply-add is wanted, the code says so.
target_compile_options(buoy_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wnon-virtual-dtor -ffp-contract=off>)
if(NOT BUOY_UNITY)
  # Files that are compiled together shadow each other's names.
  target_compile_options(buoy_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>)
endif()
# GCC 13 suspects every reference returned by a function that also takes a temporary, such as a key's name, and
# believes that an optimised-away vector is freed at an offset (its bug 108088).
target_compile_options(buoy_settings INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference;-Wno-free-nonheap-object>)
# GCC 12 believes that "text" + std::string copies between overlapping strings (its bug 105329), and that a
# variant holding a number reads its unused string (105562).
target_compile_options(buoy_settings INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-maybe-uninitialized>)

if(BUOY_SANITIZE)
  target_compile_options(buoy_settings INTERFACE
    -fsanitize=${BUOY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(buoy_settings INTERFACE -fsanitize=${BUOY_SANITIZE})
endif()
