#include <fmt/format.h>

#include <random>

#include "bench/measure.h"
#include "buoy/analysis/core/sample_run.h"
#include "buoy/trace/schema.h"

namespace buoy::bench {
namespace {

constexpr std::int64_t kTokens = 1024, kHeads = 32, kGroups = 13, kRows = 32, kTop = 8, kSteps = 33,
                       kRegions = 13;

// Numbers of the right size and range, the same for every forward. Received attention is uneven as that of
// models is: a rule selects a few positions, not all.
class RandomLayer final : public analysis::LayerValues {
 public:
  std::span<const float> floats(std::string_view array) override {
    auto& values = floats_[std::string(array)];
    if (!values.empty()) return values;
    std::mt19937 random(static_cast<unsigned>(array.size()));
    std::uniform_real_distribution<float> uniform(0.1f, 1.0f);
    std::exponential_distribution<float> uneven(1.0f);
    values.resize(size_of(array));
    const float share = static_cast<float>(kTokens / kGroups) / static_cast<float>(kTokens);
    const bool received = array == trace::kReceived;
    for (float& value : values) value = received ? share * uneven(random) * uneven(random) : uniform(random);
    return values;
  }
  std::span<const std::int32_t> integers(std::string_view) override {
    if (integers_.empty()) integers_.assign(static_cast<size_t>(kRows * kHeads * kTop), 5);
    return integers_;
  }

 private:
  static size_t size_of(std::string_view array) {
    if (array == trace::kReceived) return kGroups * kHeads * kTokens;
    if (array == trace::kMass) return kGroups * kHeads * kRegions;
    if (array == trace::kEvidenceMass) return kRows * kHeads;
    return kHeads * kTokens;
  }
  std::map<std::string, std::vector<float>, std::less<>> floats_;
  std::vector<std::int32_t> integers_;
};

analysis::SampleFacts facts() {
  analysis::SampleFacts s;
  s.name = "random";
  s.masked_diffusion = s.has_texts = true;
  s.tokens = kTokens;
  s.prompt_length = kTokens - kRows;
  s.heads = s.kv_heads = kHeads;
  s.head_dim = 128;
  s.mask_token = 7;
  for (int i = 0; i + 1 < kSteps; ++i) s.steps.push_back(i);
  s.layers = {0};
  s.last_step = kSteps - 2;
  s.last_forward = kSteps - 1;
  s.sees_final_row = true;
  s.evidence.assign(kTokens, 0);
  s.evidence[40] = 1;
  for (int r = 0; r < kRegions; ++r)
    s.region_names.push_back(r + 1 == kRegions ? "answer" : fmt::format("document {}", r));
  for (int j = 0; j < kTokens; ++j)
    s.region_of_token.push_back(
        j >= s.prompt_length ? kRegions - 1 : j * (kRegions - 1) / static_cast<int>(s.prompt_length));
  s.gold_regions = {"document 3"};
  s.group_names = {s.region_names.begin(), s.region_names.end() - 1};
  s.group_names.back() = "answer, revealed";
  s.group_names.push_back("answer, masked");
  s.group_names.resize(kGroups, "answer, masked");
  for (int r = 0; r < kRows; ++r) s.row_positions.push_back(static_cast<std::int32_t>(s.prompt_length) + r);
  const auto add = [&](std::string_view name, std::vector<std::int64_t> shape) {
    s.arrays[std::string(name)] = std::move(shape);
  };
  add(trace::kReceived, {kSteps, 1, kGroups, kHeads, kTokens});
  add(trace::kMass, {kSteps, 1, kGroups, kHeads, kRegions});
  add(trace::kGroupSizes, {kSteps, kGroups});
  add(trace::kRegionOfToken, {kTokens});
  add(trace::kEvidence, {kTokens});
  add(trace::kRowPositions, {kRows});
  add(trace::kTopKeys, {kSteps, 1, kRows, kHeads, kTop});
  add(trace::kEvidenceMass, {kSteps, 1, kRows, kHeads});
  for (const auto name :
       {trace::kQkAfterDot, trace::kQkAfterCosine, trace::kQkAfterNormProduct, trace::kQkAfterSelfDot,
        trace::kQkBeforeDot, trace::kQkBeforeCosine, trace::kQkBeforeNormProduct, trace::kQkBeforeSelfDot,
        trace::kQueryNorm, trace::kKeyNorm})
    add(name, {kSteps, 1, kHeads, kTokens});
  return s;
}

}  // namespace

void bench_live(const Report& report) {
  const auto sample = facts();
  trace::Manifest manifest;
  manifest.model.layers = 1;
  manifest.model.heads = manifest.model.kv_heads = kHeads;
  manifest.model.head_dim = 128;
  analysis::ForwardFacts forward;
  forward.row.assign(kTokens, 3);
  forward.masked.assign(kTokens, 0);
  for (int j = kTokens - 8; j < kTokens; ++j) forward.masked[static_cast<size_t>(j)] = 1;
  forward.revealed_at.assign(kTokens, -1);
  forward.types.assign(kTokens, analysis::TokenType::kContent);
  forward.group_sizes.assign(kGroups, kTokens / kGroups);
  classify(sample, forward);
  RandomLayer values;
  analysis::LayerScratch scratch;
  const analysis::AnalysisOptions options;
  const auto rules = options.rules();
  const auto time = [&](const std::string& what, std::vector<std::unique_ptr<analysis::Analysis>> analyses) {
    analysis::SampleRun run(analyses, sample);
    const double seconds = median_seconds([&] { run.take({sample, forward, 0, values, rules, scratch}); });
    report({"one record, " + what, seconds, 1e6 * seconds, "us", 0});
  };
  std::vector<std::unique_ptr<analysis::Analysis>> all;
  for (const auto& kind : analysis::analysis_kinds()) {
    std::vector<std::unique_ptr<analysis::Analysis>> one;
    one.push_back(kind.make({"x", manifest}, options));
    time(std::string(kind.producer.name), std::move(one));
    all.push_back(kind.make({"x", manifest}, options));
  }
  time("all analyses", std::move(all));
}

}  // namespace buoy::bench
