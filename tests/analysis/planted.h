#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/text_case.h"
#include "buoy/analysis/core/run.h"

namespace buoy::testing {

// One map of received attention on its way into a planted trace.
struct PlantedMap {
  std::int64_t sample, step, layer, head, group;
  std::int64_t leading;  // leading generated slots unmasked at this step
};

enum class RevealOrder { kLeftToRight, kRandom };

// A synthetic trace whose truth is known.
struct PlantedSpec {
  std::int64_t samples = 24, steps = 16, layers = 2, heads = 2, tokens = 64, prompt = 32;
  bool causal = false;         // one step, no masks
  std::string attention = {};  // its mask, where it is another than that of `causal`
  RevealOrder order = RevealOrder::kRandom;
  std::vector<std::string> groups = {"all"};  // of equal size
  std::vector<std::string> texts;             // one per token, or none
  std::vector<std::uint8_t> gold;             // one per token, or none
  // Fills one number per token.
  using Fill = std::function<void(const PlantedMap&, std::vector<double>&)>;
  Fill weights;  // they are scaled to the group's number of queries
  Fill values;   // lengths of values, or none
  // Further arrays [steps, layers, heads, tokens], by their names.
  std::map<std::string, Fill> by_token;
  // Head means at the last step, [query, key], or none; they are scaled to rows of 1.
  Fill dense;
};

TextTrace plant(const PlantedSpec& spec);

using Where = std::vector<std::pair<std::string, std::string>>;

// What analyses said.
struct Findings {
  analysis::RunResult result;

  // The number in the one row of a table where columns have these values; throws unless there is exactly one.
  double value(const std::string& table, const Where& where, const std::string& column = "value") const;
};

// Writes the trace to a temporary folder and runs the analyses over it.
Findings analyse(const PlantedSpec& spec, const std::vector<std::string>& names);

// A seeded draw from [0, 1).
double draw(const PlantedMap& map, std::uint32_t index);

}  // namespace buoy::testing
