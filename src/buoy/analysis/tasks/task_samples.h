#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/axes.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/sample/token_type.h"

namespace buoy::analysis {

// The strongest position of one layer: the largest lift over uniform attention with the same mask.
struct TaskAnchor {
  std::int64_t position = 0;
  double lift = 0;                       // received / max(1/T, null), as it was chosen
  TokenType type = TokenType::kUnknown;  // when the forward ran
  std::string token;                     // its text, where the trace has it
};

struct TaskSample {
  std::string id;
  std::string question;  // what makes it the same question in another trace
  std::int64_t tokens = 0;
  std::vector<TaskAnchor> anchors;  // [layer]
  // Of all positions: what a position drawn evenly would be.
  std::array<double, kTokenTypes.size()> type_shares{};

  double relative(std::int64_t position) const {
    return tokens > 1 ? static_cast<double>(position) / static_cast<double>(tokens - 1) : 0.0;
  }
};

// Where the anchors of one sample are, from the forward over its final row.
class TaskAnchors final : public SampleAnalysis {
 public:
  explicit TaskAnchors(const SampleFacts& sample) : tokens_(sample.tokens), anchors_(sample.layers.size()) {}
  void take(const LayerView& layer) override;
  void state(StateArchive& archive) override;

  TaskSample sample(const ObservedSample& sample) const;

 private:
  std::int64_t tokens_;
  std::vector<TaskAnchor> anchors_;  // [layer], without their texts
};

// One trace: what its model was asked, and where its anchors were.
struct TaskTrace {
  std::string label, model_name, model_identity;
  bool masked_diffusion = false;
  std::vector<std::int32_t> layers;
  std::vector<TaskSample> samples;
};

}  // namespace buoy::analysis
