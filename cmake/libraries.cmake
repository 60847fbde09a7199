# The libraries that Buoy's own are made with. Installed as part of the package `buoy`, which looks for them again where
# Buoy is used (cmake/buoy-config.cmake.in).

# buoy_dependency(<key> NAME <name> DEBIAN <package> CONDA <package> [MODULES <pkg-config names...>]
#                 [PACKAGE <CMake's name> [COMPONENTS <parts...>] TARGET <its target>]
#                 [PC <name for pkg-config, where MODULES has none>] [WITHOUT <what is then left out>])
# Looks for a target that a parent project has, then with pkg-config, then among CMake's packages. Sets <key>_FOUND and
# makes the target buoy_external::<key>. What is not found is collected for the caller, in the global properties
# BUOY_MISSING and, where WITHOUT says how to do without, BUOY_LEFT_OUT; what is found for buoy.pc, in BUOY_PC_REQUIRES.
function(buoy_dependency key)
  cmake_parse_arguments(ARG "" "NAME;DEBIAN;CONDA;PACKAGE;TARGET;PC;WITHOUT" "MODULES;COMPONENTS" ${ARGN})
  set(target "")
  if(ARG_TARGET AND TARGET ${ARG_TARGET})
    set(target ${ARG_TARGET})
  endif()
  if(NOT target AND ARG_MODULES AND PKG_CONFIG_FOUND)
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
    if(NOT TARGET buoy_external::${key})
      add_library(buoy_external::${key} INTERFACE IMPORTED)
      target_link_libraries(buoy_external::${key} INTERFACE ${target})
    endif()
    set_property(GLOBAL APPEND PROPERTY BUOY_PC_REQUIRES ${ARG_MODULES} ${ARG_PC})
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

buoy_dependency(FMT NAME fmt DEBIAN libfmt-dev CONDA fmt PACKAGE fmt TARGET fmt::fmt PC fmt)
buoy_dependency(JSON NAME "JSON for Modern C++" DEBIAN nlohmann-json3-dev CONDA nlohmann_json
  PACKAGE nlohmann_json TARGET nlohmann_json::nlohmann_json PC nlohmann_json)
buoy_dependency(ZLIB NAME zlib DEBIAN zlib1g-dev CONDA zlib PACKAGE ZLIB TARGET ZLIB::ZLIB PC zlib)
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
