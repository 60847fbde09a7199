#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace buoy::trace {

inline constexpr std::string_view kFormatName = "buoy-trace";
inline constexpr std::string_view kSampleFormatName = "buoy-trace-sample";

// Rises when a reader that knows the old number would misread the new files; docs/trace-format.md says
// what may change without.
inline constexpr std::int64_t kNewestVersion = 4;
// That of traces whose models see blocks: forwards of several kinds, of some rows each.
inline constexpr std::int64_t kBlocksVersion = 4;
// That of traces that keep less than the observed arrays.
inline constexpr std::int64_t kLevelVersion = 3;
// That of traces that keep the observed arrays (level.h): they have not changed since.
inline constexpr std::int64_t kFullVersion = 2;

// What a trace keeps of its samples. `tables`: states of analyses, from which their tables come. `compact`:
// beside these what is drawn, quantised. `full`: the observed arrays.
enum class Level { kTables, kCompact, kFull };

inline constexpr std::array kLevels = {Level::kTables, Level::kCompact, Level::kFull};

std::string_view name_of(Level level);
std::string level_names();  // "tables, compact, full"
// Throws UsageError that names the field `keep` and the names there are.
Level level_from_name(std::string_view name);

// Of the format that a trace of this level is written in; `blocks`: its model sees blocks.
std::int64_t version_of(Level level, bool blocks = false);

}  // namespace buoy::trace
