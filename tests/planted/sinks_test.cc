// Sinks of known size on their whole way: records, analysis, tables, the verdict on C4.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/planted.h"
#include "buoy/analysis/core/mask.h"
#include "buoy/claims/claims.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

using analysis::Mask;

constexpr std::int64_t kSamples = 12;
constexpr double kNoise = 0.01;  // every other question has a sink that much larger, the others smaller

// What the queries [first, tokens) give to each key: `even` without a sink, plus `more` times the sink at
// position 0.
struct Shares {
  std::vector<double> even, more;
};

Shares shares_of(const Mask& mask, std::int64_t tokens, std::int64_t first) {
  Shares out{std::vector<double>(static_cast<size_t>(tokens), 0.0),
             std::vector<double>(static_cast<size_t>(tokens), 0.0)};
  const auto queries = static_cast<double>(tokens - first);
  // Of all queries with i keys each key below i gets 1 / i.
  std::vector<double> given(static_cast<size_t>(tokens) + 1, 0.0);
  for (std::int64_t i = first; i < tokens; ++i) {
    const std::int64_t keys = mask.keys_of(i, tokens);
    given[static_cast<size_t>(keys)] += 1 / static_cast<double>(keys) / queries;
  }
  double sum = 0;
  for (std::int64_t j = tokens - 1; j >= 0; --j) {
    sum += given[static_cast<size_t>(j) + 1];
    out.even[static_cast<size_t>(j)] = sum;
    out.more[static_cast<size_t>(j)] = (j == 0 ? 1 : 0) - sum;
  }
  return out;
}

struct Kind {
  const char *label, *attention;
};
constexpr Kind kKinds[] = {{"full", "bidirectional"}, {"causal", "causal"}, {"prefix", "prefix"}};

// Half of the row is the answer.
TextTrace trace_with(const Kind& kind, std::int64_t tokens, double sink) {
  const std::string attention = kind.attention;
  const Mask mask{attention != "bidirectional", attention == "prefix" ? tokens / 2 : 0};
  PlantedSpec spec;
  spec.samples = kSamples;
  spec.steps = 2;
  spec.layers = 2;
  spec.heads = 1;
  spec.tokens = tokens;
  spec.prompt = tokens / 2;
  spec.causal = mask.causal;
  spec.attention = attention;
  spec.groups = {"prompt", "answer, revealed"};
  const Shares all = shares_of(mask, tokens, 0), answer = shares_of(mask, tokens, tokens / 2);
  spec.weights = [=](const PlantedMap& map, std::vector<double>& weights) {
    const double now = sink + (map.sample % 2 == 0 ? kNoise : -kNoise);
    for (size_t j = 0; j < weights.size(); ++j) {
      const double of_answer = answer.even[j] + now * answer.more[j];
      weights[j] = map.group == 1 ? of_answer : 2 * (all.even[j] + now * all.more[j]) - of_answer;
    }
  };
  return plant(spec);
}

struct PlantedArm {
  Kind kind;
  double sink;
};

Findings analysed(const std::vector<PlantedArm>& arms, std::int64_t tokens) {
  const TempFolder folder;
  std::vector<analysis::TraceInput> inputs;
  for (const auto& [kind, sink] : arms) {
    write_trace(folder / kind.label, trace_with(kind, tokens, sink));
    inputs.push_back({folder / kind.label, kind.label});
  }
  return {analysis::run_analyses({"absorption"}, inputs, {})};
}

claims::ClaimVerdict judged(const Findings& found, const std::vector<PlantedArm>& arms) {
  std::vector<claims::TraceKind> traces;
  for (const auto& arm : arms)
    traces.push_back({arm.kind.label, std::string(arm.kind.attention) == "bidirectional", kSamples});
  for (auto& claim : claims::judge_claims(found.result.analyses[0].tables, traces)) {
    if (claim.id == "C4") return claim;
  }
  return {};
}

class PlantedSinks : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(PlantedSinks, ComeBackAlikeUnderEveryMask) {
  for (const double sink : {0.1, 0.3, 0.5}) {
    const std::vector<PlantedArm> arms = {{kKinds[0], sink}, {kKinds[1], sink}, {kKinds[2], sink}};
    const auto found = analysed(arms, GetParam());
    for (const char* queries : {"all", "answer"}) {
      for (const char* selector : {"position_0", "top_1"}) {
        const Where row = {
            {"steps", "final"}, {"view", "per_head"}, {"queries", queries}, {"selector", selector}};
        std::vector<double> excess;
        for (const auto& arm : arms) {
          Where of = row;
          of.insert(of.end(), {{"trace", arm.kind.label}, {"depth", "all layers"}});
          excess.push_back(found.value("absorption_excess", of, "excess"));
          EXPECT_NEAR(excess.back(), sink, 0.005) << arm.kind.label << queries << selector;
        }
        const auto [least, most] = std::minmax_element(excess.begin(), excess.end());
        EXPECT_LT(*most - *least, 0.01) << queries << selector;
        for (const auto& [one, other] : {std::pair{"full", "causal"}, std::pair{"full", "prefix"}}) {
          Where of = row;
          of.insert(of.end(), {{"trace", one}, {"other", other}});
          EXPECT_NEAR(found.value("absorption_pairs", of, "difference"), 0, 0.01) << other << queries;
        }
      }
    }
    // The verdict: there is a sink in the causal models, and it is no stronger than in the other one.
    const auto claim = judged(found, arms);
    for (const auto& trace : claim.by_trace)
      EXPECT_EQ(trace.parts, "1 for, 2 as good as equal") << trace.evidence;
  }
}

TEST_P(PlantedSinks, DecideTheClaimWhereTheyDiffer) {
  for (const auto& causal : {kKinds[1], kKinds[2]}) {
    const std::vector<PlantedArm> as_claimed = {{kKinds[0], 0.1}, {causal, 0.3}};
    const auto found = analysed(as_claimed, GetParam());
    EXPECT_NEAR(found.value("absorption_pairs",
                            {{"trace", "full"},
                             {"other", causal.label},
                             {"steps", "final"},
                             {"view", "per_head"},
                             {"queries", "answer"},
                             {"selector", "position_0"}},
                            "difference"),
                -0.2, 0.01);
    EXPECT_EQ(judged(found, as_claimed).verdict, claims::Verdict::kSupported) << causal.label;
    const std::vector<PlantedArm> turned = {{kKinds[0], 0.3}, {causal, 0.1}};
    EXPECT_EQ(judged(analysed(turned, GetParam()), turned).verdict, claims::Verdict::kContradicted)
        << causal.label;
  }
}

INSTANTIATE_TEST_SUITE_P(Tokens, PlantedSinks, ::testing::Values(64, 256, 1024, 4096),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace buoy::testing
