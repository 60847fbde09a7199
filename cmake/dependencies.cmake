# Everything comes from the distribution (tools/setup installs it by name); nothing is vendored.
if(BUOY_CUDA)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90a)
  endif()
  enable_language(CUDA)
  # Debian 12's CMake does not know that nvcc 13 speaks C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  find_package(CUDAToolkit REQUIRED)
endif()
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
# Optional: without it *_cairo_stub.cc take the place of *_cairo.cc and figures are refused.
pkg_check_modules(CAIRO IMPORTED_TARGET cairo cairo-pdf cairo-svg cairo-png)
# Optional: without it *_sqlite_stub.cc take the place of *_sqlite.cc and documents cannot be indexed.
pkg_check_modules(SQLITE IMPORTED_TARGET sqlite3)
# Optional: without it *_toml_stub.cc take the place of *_toml.cc and studies cannot be read.
pkg_check_modules(TOML IMPORTED_TARGET tomlplusplus)
