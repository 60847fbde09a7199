#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/config.h"
#include "experiment/head_mask.h"
#include "observe/number_set.h"
#include "observe/query_groups.h"
#include "probe/probe.h"
#include "trace/manifest.h"

namespace buoy::experiment {

// What somebody changes in a model's attention while it runs.
struct HeadChange {
  HeadId id;
  double factor = 0;  // on the head's output
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
  std::vector<std::string> texts;  // as they were given

  bool any() const { return !texts.empty(); }
};

// `heads` as in "3.1,4.0=0" (layer.head), `keys` as in "0=0.1", "0,5-8@16-31=0" (layers), "query/0-3=0"
// (steps). UsageErrors name the option and what it expects.
Changes parse_changes(const std::vector<std::string>& heads, const std::vector<std::string>& keys);

// UsageError when the model has no such head or layer, or no steps to tell apart.
void check_changes(const Changes& changes, const ModelConfig& config);

// What was changed in the model of a trace, as it was given.
std::vector<std::string> changes_of(const trace::Manifest& manifest);

// What changes are made to.
struct ChangedRow {
  observe::Regions regions;  // "answer" among them; empty: there are none
  std::int64_t tokens = 0;   // at most
  std::int64_t steps = 0;    // forwards that have a number
};

// Makes the changes to one sequence; what it observes it leaves to another probe, if any. Factors on the same
// keys multiply.
class ChangingProbe final : public probe::Probe {
 public:
  // UsageError when check_changes() has one, and when the row has no such region, position or step: a change
  // that changes nothing is a mistake.
  ChangingProbe(const Changes& changes, const ModelConfig& config, const ChangedRow& row,
                probe::Probe* observer);

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;
  probe::Intervention intervention(const probe::Address& address, const probe::LayerExtent& extent) override;

 private:
  struct Keys {
    const KeyChange* change;
    std::vector<std::int64_t> positions;
    float bias;
  };

  std::int64_t heads_;
  std::vector<float> scale_;  // [layers, heads]
  std::vector<bool> scaled_;  // [layers]
  std::vector<Keys> keys_;
  std::vector<std::vector<float>> bias_;  // [layers] of the forward under way
  probe::Probe* observer_;
};

}  // namespace buoy::experiment
