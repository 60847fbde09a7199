#include "analysis/planted_retrieval.h"

#include "buoy/trace/schema.h"

namespace buoy::testing {

SyntheticTrace plant_retrieval(const ModelSize& size, const HeadSkill& skill, int samples, std::uint64_t seed,
                               const NeedleDesign& design) {
  const std::int64_t prompt = design.prompt, tokens = design.tokens();
  SyntheticTrace trace(size);
  Draws draws(seed);
  for (int n = 0; n < samples; ++n) {
    SyntheticTrace::Row row;
    const std::int64_t needle = 1 + draws.below(prompt - kNeedle - 1);
    for (std::int64_t j = 0; j < prompt; ++j) row.tokens.push_back(static_cast<std::int32_t>(100 + j));
    for (std::int64_t i = 0; i < kAnswerTokens; ++i)
      row.tokens.push_back(static_cast<std::int32_t>(i < kNeedle ? 100 + needle + i : 500 + i));
    row.prompt_length = prompt;
    row.steps = kAnswerTokens;
    auto& sample = trace.add(row);
    sample.metadata[std::string(trace::kMaskToken)] = "9";
    sample.metadata[std::string(trace::kAttention)] = design.attention;
    sample.metadata[std::string(trace::kPredictionOffset)] = std::to_string(design.offset);
    std::vector<std::int32_t> revealed(static_cast<size_t>(tokens), -1), rows;
    const std::int64_t shift = draws.below(kAnswerTokens);
    for (std::int64_t i = 0; i < kAnswerTokens; ++i) {
      revealed[static_cast<size_t>(prompt + i)] = static_cast<std::int32_t>((5 * i + shift) % kAnswerTokens);
      rows.push_back(static_cast<std::int32_t>(design.row(i)));
    }
    std::vector<std::uint8_t> evidence(static_cast<size_t>(tokens), 0);
    for (std::int64_t i = 0; i < kNeedle; ++i) evidence[static_cast<size_t>(needle + i)] = 1;
    std::vector<std::int32_t> top;
    std::vector<float> mass;
    for (std::int64_t s = 0; s < kAnswerTokens; ++s) {
      for (std::int64_t l = 0; l < size.layers; ++l) {
        for (std::int64_t r = 0; r < kAnswerTokens; ++r) {
          for (std::int64_t h = 0; h < size.heads; ++h) {
            const auto able = skill.find({l, h});
            const bool finds = able != skill.end() && r < kNeedle && draws.flat() < able->second;
            top.push_back(static_cast<std::int32_t>(finds ? needle + r : draws.below(design.keys(r))));
            mass.push_back(static_cast<float>(
                finds ? 0.8 : 2.0 * draws.flat() * kNeedle / static_cast<double>(design.keys(r))));
          }
        }
      }
    }
    sample.arrays.push_back(trace::integer_array(trace::kRevealedAt, {tokens}, revealed));
    sample.arrays.push_back(trace::byte_array(trace::kEvidence, {tokens}, evidence));
    sample.arrays.push_back(trace::integer_array(trace::kRowPositions, {kAnswerTokens}, rows));
    sample.arrays.push_back(trace::integer_array(
        trace::kTopKeys, {kAnswerTokens, size.layers, kAnswerTokens, size.heads, 1}, top));
    sample.arrays.push_back(trace::float_array(
        trace::kEvidenceMass, {kAnswerTokens, size.layers, kAnswerTokens, size.heads}, mass));
  }
  return trace;
}

}  // namespace buoy::testing
