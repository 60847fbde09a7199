#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "buoy/analysis/core/token_type.h"

namespace buoy::analysis {

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

  void begin_sample(const ObservedSample& sample);
  void count(std::int64_t list, std::int64_t s, const std::vector<std::int32_t>& positions);
  void end_sample();

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
  const ObservedSample* sample_ = nullptr;
  std::vector<double> revealed_, masked_;  // [lists, tokens], of the sample under way
};

}  // namespace buoy::analysis
