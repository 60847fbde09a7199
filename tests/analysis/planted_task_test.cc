#include <gtest/gtest.h>

#include "analysis/planted.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

constexpr std::int64_t kTokens = 50;

// Where the anchors of a task stand: a place, give or take four tokens.
struct Task {
  std::string name;
  std::int64_t place;
  std::int64_t draws;  // number of its draws
};

// Layer 0 puts anchors where the task says, layer 1 anywhere, whatever the task, layer 2 always at the first
// token. Commas stand in the last third.
TextTrace trace_of(const Task& task, std::int64_t samples, bool causal) {
  PlantedSpec spec;
  spec.samples = samples;
  spec.steps = 2;
  spec.layers = 3;
  spec.tokens = kTokens;
  spec.prompt = kTokens;  // no masks
  spec.causal = causal;
  for (std::int64_t j = 0; j < kTokens; ++j) spec.texts.push_back(j >= 34 ? "," : "word");
  spec.weights = [&](const PlantedMap& map, std::vector<double>& weights) {
    // The same in all heads; not the same in two traces.
    const PlantedMap place{map.sample + 1000 * task.draws, 0, map.layer, 0, 0, 0};
    const auto within = [&](std::int64_t count) {
      return static_cast<std::int64_t>(draw(place, 0) * static_cast<double>(count));
    };
    for (auto& weight : weights) weight = 1;
    // In a causal layer early tokens receive more of even attention.
    for (std::int64_t j = 0; causal && j < kTokens; ++j)
      weights[static_cast<size_t>(j)] = 1.0 / static_cast<double>(j + 1);
    const std::int64_t anchor = map.layer == 0   ? task.place - 4 + within(9)
                                : map.layer == 1 ? within(kTokens)
                                                 : 0;
    weights[static_cast<size_t>(anchor)] += 20;
  };
  TextTrace trace = plant(spec);
  for (auto& sample : trace.samples) sample.metadata["question"] = task.name + " " + sample.id;
  return trace;
}

Findings compare(const std::vector<Task>& tasks, std::int64_t samples, bool causal = false) {
  const TempFolder folder;
  std::vector<analysis::TraceInput> inputs;
  for (const auto& task : tasks) {
    write_trace(folder / task.name, trace_of(task, samples, causal));
    inputs.push_back({folder / task.name, task.name});
  }
  return {analysis::run_analyses({"tasks"}, inputs, {})};
}

TEST(PlantedTasks, AnchorsThatFollowTheTaskAreFoundAndOthersAreNot) {
  for (const bool causal : {false, true}) {
    const auto found = compare({{"early", 8, 1}, {"middle", 25, 2}, {"late", 44, 3}}, 12, causal);
    const auto at = [&](const char* quantity, const char* layer, const char* column) {
      return found.value("tasks_by_layer", {{"set", "alike"}, {"quantity", quantity}, {"layer", layer}},
                         column);
    };
    // Places 8, 25, 44 of 49 with a deviation of 2.6 tokens: 216 of 223 between tasks.
    EXPECT_NEAR(at("relative_position", "0", "value"), 0.97, 0.02) << causal;
    EXPECT_LT(at("relative_position", "0", "p_holm"), 0.001) << causal;
    EXPECT_GT(at("relative_position", "0", "lower"), 0.9) << causal;
    // Commas at the late place alone: chi squared over n is 1, corrected (1 - 2/35) / (1 - 1/35).
    EXPECT_NEAR(at("token_type", "0", "value"), 0.98518, 1e-4) << causal;
    EXPECT_LT(at("token_type", "0", "layout"), 1e-6) << "all rows are made alike";
    EXPECT_GT(at("relative_position", "1", "p_holm"), 0.05) << causal;
    EXPECT_LT(at("relative_position", "1", "value"), 0.14) << causal;
    EXPECT_EQ(at("relative_position", "2", "distinct"), 1) << causal;
  }
}

TEST(PlantedTasks, OneTaskInThreePartsIsNoTask) {
  const auto found = compare({{"one", 25, 1}, {"two", 25, 2}, {"three", 25, 3}}, 40);
  const Where row = {{"set", "all"}, {"quantity", "relative_position"}, {"layer", "0"}};
  EXPECT_GT(found.value("tasks_by_layer", row, "p_holm"), 0.05);
  EXPECT_LT(found.value("tasks_by_layer", row, "upper"), 0.14);
  EXPECT_NEAR(found.value("tasks_by_layer", row, "value"), 0, 0.05);
}

}  // namespace
}  // namespace buoy::testing
