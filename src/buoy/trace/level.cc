#include "buoy/trace/level.h"

#include <fmt/format.h>

#include "buoy/base/error.h"

namespace buoy::trace {

std::string_view name_of(Level level) {
  return level == Level::kTables ? "tables" : level == Level::kCompact ? "compact" : "full";
}

std::string level_names() {
  std::string names;
  for (const Level level : kLevels) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(level));
  return names;
}

Level level_from_name(std::string_view name) {
  for (const Level level : kLevels) {
    if (name_of(level) == name) return level;
  }
  throw_usage_error({"`keep`", "one of " + level_names(), fmt::format("\"{}\"", name)});
}

std::int64_t version_of(Level level, bool blocks) {
  if (blocks) return kBlocksVersion;
  return level == Level::kFull ? kFullVersion : kLevelVersion;
}

}  // namespace buoy::trace
