#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/checkpoint/config.h"
#include "buoy/observe/number_set.h"
#include "buoy/probe/probe.h"
#include "buoy/run/change/head_change.h"
#include "buoy/run/change/top_trace.h"

namespace buoy::run {

// As errors name them.
inline constexpr char kTopField[] = "`hide_top`", kTopOfField[] = "`hide_top_of`",
                      kControlField[] = "`hide_control`";

// What says how much each key receives.
enum class TopOf : std::uint8_t {
  kStepBefore,  // the forward before, as it ran
  kRule,        // the same; only keys that a floating rule selects count
  kTrace,       // the same step of another trace
};

// Which keys are changed in place of those that received most, to tell what is special about these.
enum class TopControl : std::uint8_t {
  kNone,
  kRandom,  // as many of the others
  kMass,    // of the others, so that together they received as much
};

// The keys that receive most, chosen anew for every head, layer and step, are hidden or damped.
struct TopChange {
  std::int64_t keys = 0;      // of each head; 0: none
  observe::NumberSet layers;  // of an empty list: all
  std::vector<HeadId> heads;  // in place of layers; empty: all
  observe::NumberSet steps;   // of an empty list: all
  bool of_single_steps = false;
  double factor = 0;  // on weights before they are normalised; 0 hides
  TopOf of = TopOf::kStepBefore;
  analysis::Rule rule = analysis::Rule::kThreeSigmaLift;
  std::shared_ptr<const TopTrace> trace;
  TopControl control = TopControl::kNone;

  bool follows() const { return of != TopOf::kTrace; }  // the model that is changed
  bool acts(std::int64_t step, std::int64_t layer) const {
    return keys > 0 && layers.contains(layer) && steps.contains(step);
  }
};

struct TopTexts {
  std::string keys, of, control;  // "": none, step-before, none

  bool any() const { return !keys.empty() || !of.empty() || !control.empty(); }
};

// `keys` as in "5", "5@16-31", "1@3.1,4.0/1-8=0.1" (K[@LAYERS or LAYER.HEAD,...][/STEPS][=FACTOR]), `of` one
// of "step-before", "rule:NAME", "trace:DIR", `control` "random" or "mass". UsageErrors name the option.
TopChange parse_top_change(const TopTexts& texts);
TopControl top_control_of(const std::string& name);
// As the manifest of a trace has it.
std::string stored_text(const TopTexts& texts, const TopChange& change);
// UsageError when the model has no such layer or head.
void check_top_change(const TopChange& change, const ModelConfig& config);
// UsageError where what is hidden follows the step before, and a run of so many steps has none.
void check_top_steps(const TopChange& change, std::int64_t steps);

// What the change is made to.
struct TopRow {
  std::string id;                        // for who looks into another trace
  std::span<const std::int32_t> prompt;  // likewise
  std::int64_t tokens = 0, steps = 0;    // at most
  std::uint64_t seed = 0;                // of controls
  bool left_to_right = false;            // the last row of a forward decides, not all rows
};

// The keys of one head, ascending. `received`: of every key; `draw`: another one draws others.
struct TopDraw {
  std::uint64_t seed;
  std::int64_t step, layer, head, heads;
};
std::vector<std::int32_t> choose_top_keys(const TopChange& change, std::span<const double> received,
                                          const TopDraw& draw);

// Chooses for one sequence.
class TopKeys {
 public:
  // UsageError when there are not so many keys, or no step before any.
  TopKeys(const TopChange& change, const ModelConfig& config, const TopRow& row);

  // What must be asked for at an address, for the step that comes after it.
  probe::FollowedRows wish(const probe::Address& address) const;
  void take(const probe::Address& address, std::vector<float>&& received);
  // [heads, keys]; empty: nothing is changed here. Valid until this layer and branch are asked again.
  std::span<const float> bias(const probe::Address& address, const probe::LayerExtent& extent);

  // When the row is decoded. UsageError where a rule selected nothing in the whole row, InputError where a
  // trace turned out to be of other rows: from there on nothing was changed.
  void finish() const;

 private:
  struct Layer {
    std::int64_t step = -1;       // that `received` is of; -1: none yet
    std::vector<float> received;  // [heads, keys]
    std::vector<float> bias;
  };
  Layer& at(const probe::Address& address);
  // Of the keys of a head, at most `keys` of them; empty: nobody knows.
  std::vector<double> received(const Layer& layer, const probe::Address& address, std::int64_t head,
                               std::int64_t keys) const;

  const TopChange& change_;
  std::int64_t layers_, heads_;
  TopRow row_;
  float log_factor_;
  std::vector<std::uint8_t> chosen_heads_;  // [layers, heads]; empty: all
  std::vector<Layer> state_;                // [branches, layers]
  TopTraceSample traced_;
  std::exception_ptr mismatch_;
  std::int64_t asked_ = 0, changed_ = 0;  // heads for which keys could have been chosen, and were
};

}  // namespace buoy::run
