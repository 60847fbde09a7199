#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "buoy/checkpoint/config.h"
#include "buoy/decode/options.h"
#include "buoy/observe/number_set.h"
#include "buoy/run/change/head_change.h"
#include "buoy/run/change/residual_vectors.h"
#include "buoy/run/change/top_keys.h"
#include "buoy/trace/manifest.h"

namespace buoy::run {

// As errors name them.
inline constexpr char kHeadsField[] = "`scale_heads`", kKeysField[] = "`scale_keys`";

// What somebody changes in a model while it runs: its attention, its MLPs, its residual stream.
struct HeadChange {
  HeadId id;
  double factor = 0;              // on the head's output
  observe::NumberSet steps = {};  // of the denoising; of an empty list: all
  bool of_single_steps = false;   // steps are named
};
struct KeyChange {
  std::string where;                    // positions, or the name of a region
  std::vector<std::int64_t> positions;  // where they are given
  observe::NumberSet layers;            // of an empty list: all
  observe::NumberSet steps;             // of the denoising
  bool of_single_steps = false;         // steps are named
  double factor = 0;                    // on weights before they are normalised; 0 hides
};
struct Changes {
  std::vector<HeadChange> heads;
  std::vector<KeyChange> keys;
  std::vector<MlpChange> mlps;
  std::vector<ResidualVectors> residual;
  std::optional<TopChange> top;
  std::vector<std::string> texts;  // as they were given

  // Those that a program made have no text.
  bool any() const {
    return !texts.empty() || !heads.empty() || !keys.empty() || !mlps.empty() || !residual.empty() || top;
  }
};

// The texts of each kind, as they were given.
struct ChangeTexts {
  std::vector<std::string> heads, keys, mlps, steer, patch;
  TopTexts top = {};
};

// `heads` as in "3.1,4.0=0" (layer.head) or "3.1/0-3=0" (steps), `keys` as in "0=0.1", "0,5-8@16-31=0"
// (layers), "query/0-3=0" (steps), `mlps` as in "3,4/0-3=0" (layers, steps), `steer` and `patch` as
// parse_residual_vectors() has them, `top` as parse_top_change(). UsageErrors name the option and what it
// expects.
Changes parse_changes(const ChangeTexts& texts);
inline Changes parse_changes(const std::vector<std::string>& heads, const std::vector<std::string>& keys) {
  return parse_changes(ChangeTexts{heads, keys, {}, {}, {}, {}});
}

// UsageError when the model has no such head or layer, or the way it is decoded no steps to tell apart.
void check_changes(const Changes& changes, const ModelConfig& config, const decode::DecodeOptions& decode);
// The same where nobody knows yet how it will be decoded.
void check_changes_of(const Changes& changes, const ModelConfig& config, bool has_steps = true);

// What was changed in the model of a trace, as it was given.
std::vector<std::string> changes_of(const trace::Manifest& manifest);

}  // namespace buoy::run
