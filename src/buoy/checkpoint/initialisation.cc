#include "buoy/checkpoint/initialisation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "buoy/base/file/json_file.h"

namespace buoy {
namespace {

// Nothing where it states none.
std::optional<double> stated_deviation(const JsonObject& config) {
  for (const char* key : {"initializer_range", "init_std"}) {
    const auto stated = config.number(key);
    if (stated && !(*stated > 0)) config.fail(key, "more than 0");
    if (stated) return stated;
  }
  return std::nullopt;
}

}  // namespace

Initialisation initialisation_of(const std::filesystem::path& folder, std::uint64_t seed) {
  const auto file = folder / "config.json";
  const Json json = read_json_file(file);
  const JsonObject config(json, file.string());
  if (config.text("init_fn") == "mitchell") return {InitialScheme::kMitchell, 0, seed};
  if (const auto deviation = stated_deviation(config)) return {InitialScheme::kStated, *deviation, seed};
  return {InitialScheme::kFanIn, 0, seed};
}

std::string describe(const Initialisation& how) {
  const std::string by = how.scheme == InitialScheme::kStated
                             ? fmt::format("of deviation {:g}", how.deviation)
                         : how.scheme == InitialScheme::kMitchell ? "by fan-in and layer (mitchell)"
                                                                  : "by fan-in";
  return fmt::format("untrained, normal weights {}, seed {}", by, how.seed);
}

}  // namespace buoy
