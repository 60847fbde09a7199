# Run by the build (cmake -P) with FOLDER and OUTPUT: writes the C++ source that holds what FOLDER/assets.txt names, byte
# for byte.
set(definitions "")
set(cases "")
file(STRINGS ${FOLDER}/assets.txt lines REGEX "^[^#]")
foreach(line ${lines})
  separate_arguments(words UNIX_COMMAND "${line}")
  list(POP_FRONT words name)
  set(bytes "")
  foreach(file ${words})
    file(READ ${FOLDER}/${file} hex HEX)
    string(APPEND bytes "${hex}")
  endforeach()
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(MAKE_C_IDENTIFIER ${name} identifier)
  string(APPEND definitions "constexpr char ${identifier}[] = {\n${bytes}};\n")
  string(APPEND cases "  if (name == \"${name}\") return {${identifier}, sizeof(${identifier})};\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by cmake/write_web_assets.cmake.
#include \"buoy/report/web/assets.h\"

#include <stdexcept>
#include <string>

namespace buoy::report {
namespace {

${definitions}
}  // namespace

std::string_view web_asset(std::string_view name) {
${cases}  throw std::logic_error(\"web_asset: expected a name of assets.txt, found \" + std::string(name));
}

}  // namespace buoy::report
")
