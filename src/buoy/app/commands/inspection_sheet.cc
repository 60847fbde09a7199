#include "buoy/app/commands/inspection_sheet.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/utf8.h"

namespace buoy::app {

void InspectionSheet::print(bool json) const {
  if (!json) {
    std::size_t width = 12;
    for (const auto& [label, value] : lines_) width = std::max(width, label.size());
    for (const auto& [label, value] : lines_) fmt::print("{:<{}} {}\n", label, width, value);
    return;
  }
  nlohmann::ordered_json out;
  for (const auto& [label, value] : lines_) {
    auto& at = out[label];
    const std::string text = replace_invalid_utf8(value);
    if (at.is_null()) {
      at = text;
    } else {
      if (!at.is_array()) at = nlohmann::ordered_json::array({at});
      at.push_back(text);
    }
  }
  fmt::print("{}\n", dump_json(out, 2));
}

std::string read_head(const std::filesystem::path& file) {
  constexpr std::size_t kEnough = 1 << 16;
  std::error_code failure;
  if (!std::filesystem::is_regular_file(file, failure))
    throw_input_error({file.string(), "a regular file or a folder", "a device, a pipe or the like"});
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw_cannot_open(file.string(), errno);
  std::string head(kEnough, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head;
}

}  // namespace buoy::app
