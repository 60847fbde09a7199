#pragma once

#include <string_view>

namespace buoy {

// "0.2.0", as CMakeLists.txt has it.
std::string_view version();

// The git commit this program was built from, 12 digits, with "-modified" behind it when tracked files
// differed from it; "unknown" when built from files without git's history. CMake writes the source of both
// (cmake/version.cmake).
std::string_view commit();

}  // namespace buoy
