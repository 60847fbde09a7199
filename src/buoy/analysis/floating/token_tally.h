#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "buoy/analysis/core/state_archive.h"
#include "buoy/analysis/sample/forward_facts.h"
#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/analysis/sample/token_type.h"

namespace buoy::analysis {

// How often rules select each position of one sample. Layers count at once.
class PositionTally {
 public:
  PositionTally(std::int64_t lists, std::int64_t tokens);

  void count(std::int64_t list, const ForwardFacts& forward, const std::vector<std::int32_t>& positions);

  void state(StateArchive& archive);

 private:
  friend class TokenTally;
  std::int64_t tokens_;
  std::vector<std::atomic<std::uint32_t>> revealed_, masked_;  // [lists, tokens]
};

// Which tokens a rule selects how often, over all samples, steps, layers and heads. Grows with the vocabulary
// met, not with the samples.
class TokenTally {
 public:
  struct Line {
    std::string token;
    TokenType type = TokenType::kUnknown;
    double share = 0;  // of all that was selected
    double base = 0;   // of all positions and steps
  };

  explicit TokenTally(std::int64_t lists);

  void add(const ObservedSample& sample, const PositionTally& selected);

  std::vector<Line> most_frequent(std::int64_t list, std::int64_t lines) const;

 private:
  struct Counts {
    TokenType type = TokenType::kUnknown;
    double everywhere = 0;
    std::vector<double> selected;  // [lists]
  };

  Counts& counts_of(const std::string& token, TokenType type);

  std::int64_t lists_;
  std::unordered_map<std::string, Counts> by_token_;
  double everywhere_ = 0;
  std::vector<double> selected_;  // [lists]
};

}  // namespace buoy::analysis
