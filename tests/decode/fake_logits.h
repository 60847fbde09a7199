#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/decode/step_machine.h"

namespace buoy::testing {

using Ids = std::vector<std::int32_t>;

inline constexpr std::int32_t kVocabulary = 32;
inline constexpr std::int32_t kMask = 31;

// In place of a model: the logits of row `row` of a sequence (its absolute position).
using FakeModel = std::function<std::vector<float>(std::int32_t row)>;

// Random logits under which no row proposes the mask.
inline FakeModel random_model(std::uint64_t seed) {
  return [seed](std::int32_t row) {
    std::vector<float> logits;
    for (std::uint32_t v = 0; v < kVocabulary; ++v) {
      logits.push_back(
          static_cast<float>(normal(seed, {DrawStream::kWeights, 0, static_cast<std::uint32_t>(row), v})));
    }
    logits[kMask] = -50;
    return logits;
  };
}

// Row r proposes token r, the surer the larger r is.
inline FakeModel row_number_model() {
  return [](std::int32_t row) {
    std::vector<float> logits(kVocabulary, 0.0f);
    logits[static_cast<size_t>(row % (kVocabulary - 1))] = 2.0f + 0.1f * static_cast<float>(row);
    return logits;
  };
}

// One step of a machine: what it asked for and what it did.
struct FakeStep {
  std::vector<Ids> tokens, logit_rows;  // per forward
  decode::StepRecord record;
};

inline FakeStep step(decode::StepMachine& machine, const FakeModel& model) {
  FakeStep taken;
  const auto forwards = machine.next_forwards();
  std::vector<std::vector<float>> logits;
  std::vector<decode::LogitRows> rows;
  for (const auto& forward : forwards) {
    const auto past = static_cast<std::int32_t>(forward.cache != nullptr ? forward.cache->length() : 0);
    taken.tokens.emplace_back(forward.tokens.begin(), forward.tokens.end());
    taken.logit_rows.emplace_back(forward.logit_rows.begin(), forward.logit_rows.end());
    auto& block = logits.emplace_back();
    for (const auto row : forward.logit_rows) {
      const auto one = model(past + row);
      block.insert(block.end(), one.begin(), one.end());
    }
    if (forward.cache != nullptr && forward.extends_cache)
      forward.cache->advance(static_cast<std::int64_t>(forward.tokens.size()));
  }
  for (const auto& block : logits) rows.push_back({block.data(), kVocabulary});
  taken.record = machine.advance(rows);
  return taken;
}

inline std::vector<FakeStep> run_to_the_end(decode::StepMachine& machine, const FakeModel& model) {
  std::vector<FakeStep> steps;
  while (!machine.finished()) steps.push_back(step(machine, model));
  return steps;
}

inline std::vector<size_t> reveal_counts(const std::vector<FakeStep>& steps) {
  std::vector<size_t> counts;
  for (const auto& taken : steps) counts.push_back(taken.record.reveals.size());
  return counts;
}

inline Ids revealed_positions(const decode::StepRecord& record) {
  Ids positions;
  for (const auto& reveal : record.reveals) positions.push_back(reveal.position);
  return positions;
}

inline Ids generated_of(const decode::StepMachine& machine) {
  const auto ids = machine.generated();
  return {ids.begin(), ids.end()};
}

// The action is refused as the caller's mistake, in words that name the option.
inline void expect_refused(const std::string& option, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << option << ": accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(option), std::string::npos) << error.what();
  }
}

}  // namespace buoy::testing
