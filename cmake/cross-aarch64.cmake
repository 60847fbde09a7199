# arm64 programs, built and emulated on another machine (tools/cross_test).
set(BUOY_TRIPLE aarch64-linux-gnu)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(BUOY_EMULATOR qemu-aarch64 -cpu max)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
