# x86-64 programs, built and emulated on another machine (tools/cross_test).
set(BUOY_TRIPLE x86_64-linux-gnu)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(BUOY_EMULATOR qemu-x86_64 -cpu max)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
