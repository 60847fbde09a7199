# The common part of the toolchains for another architecture: Debian's cross compiler, the libraries that
# tools/foreign_packages extracted, and programs run in an emulator. BUOY_TRIPLE, BUOY_EMULATOR and CMAKE_SYSTEM_PROCESSOR
# are set by the file that includes this one; BUOY_SYSROOT (of the environment) says where the libraries lie.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER ${BUOY_TRIPLE}-g++)
set(sysroot $ENV{BUOY_SYSROOT})
if(NOT sysroot)
  get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../.cache/foreign/${CMAKE_SYSTEM_PROCESSOR} ABSOLUTE)
endif()
set(libraries ${sysroot}/usr/lib/${BUOY_TRIPLE})

set(CMAKE_FIND_ROOT_PATH ${sysroot} /usr/${BUOY_TRIPLE})
set(CMAKE_LIBRARY_ARCHITECTURE ${BUOY_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${sysroot}/usr/share/pkgconfig)

set(CMAKE_CXX_FLAGS_INIT "-isystem ${sysroot}/usr/include -isystem ${sysroot}/usr/include/${BUOY_TRIPLE}")
# Old dtags: the folder also serves the libraries that libraries need.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${libraries} -Wl,--disable-new-dtags,-rpath,${libraries}")
set(CMAKE_CROSSCOMPILING_EMULATOR ${BUOY_EMULATOR} -L /usr/${BUOY_TRIPLE})
