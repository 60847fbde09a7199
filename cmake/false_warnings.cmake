# What g++ 12 says and is not so, by file and by the warning's name, for sources below this directory. All of it comes
# from "text" + std::string: GCC's bugs 105329 and 105651, mended in its version 13. Files named here are compiled by
# themselves.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set_source_files_properties(buoy/result/table.cc buoy/figure/draw/svg_ids.cc PROPERTIES COMPILE_OPTIONS -Wno-stringop-overflow)
  set_source_files_properties(buoy/claims/claims_evidence.cc buoy/report/flow_section.cc PROPERTIES COMPILE_OPTIONS
    -Wno-array-bounds)
endif()
