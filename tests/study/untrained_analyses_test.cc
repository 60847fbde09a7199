// Networks that were never trained: what the analyses of sinks, heads, steps and rollout say of them. Where a
// quantity can be read beside its null, they are at the null; where they are not, no title says more
// (docs/results/2026-11-19-untrained-analyses.md).

#include <gtest/gtest.h>

#include <algorithm>

#include "buoy/analysis/core/run.h"
#include "buoy/report/section.h"
#include "buoy/run/trace_request.h"
#include "buoy/run/trace_run.h"
#include "buoy/world/world_request.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

const std::vector<std::string> kAnalyses = {"sinks", "heads", "steps", "kvdrift", "rollout"};
constexpr std::size_t kLayers = 8;

std::filesystem::path models() {
  return std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "models";
}

std::vector<Table> tables_of(const char* name, std::uint64_t seed) {
  auto model = run::make_untrained(models() / name, seed);
  world::WorldRequest questions;
  questions.version = 2;
  questions.people = "unknown";
  questions.passages = 1;
  questions.count = 12;
  questions.seed = 1;
  run::TraceRequest request;
  request.prompt_template = (models() / "natural.prompt").string();
  request.items = world::make_questions(questions);
  request.observe = run::observables_for(kAnalyses);
  request.groups = "regions";
  request.keep = trace::Level::kTables;
  request.decode.max_new_tokens = 8;
  request.decode = run::fitting(model.model.config().family, request.decode);
  request.analyses = {kAnalyses, {}, name};
  ThreadPool threads(2);
  auto result = run::run_trace({threads}, model, run::make_trace_run(request, model),
                               {.begin = [](const auto&) {}, .step = [] {}});
  EXPECT_EQ(result.samples, 12u);
  std::vector<analysis::LabelledRun> runs;
  runs.push_back({"untrained", std::move(result.analysed)});
  std::vector<Table> tables;
  for (auto& [analysis, of_analysis] : analysis::assemble(result.names, std::move(runs), {}).analyses)
    tables.insert(tables.end(), of_analysis.begin(), of_analysis.end());
  return tables;
}

const Table& found(const std::vector<Table>& tables, const std::string& name) {
  return *std::find_if(tables.begin(), tables.end(), [&](const Table& table) { return table.name == name; });
}

struct Beside {
  std::size_t above = 0, below = 0;
};
Beside layers_beside_null(const std::vector<Table>& tables, const std::string& analysis,
                          const std::string& quantity) {
  const Table& rows = found(tables, analysis + "_by_layer");
  Beside out;
  for (const auto& row : rows.rows) {
    if (text_of(row[column_named(rows, "quantity")]) != quantity) continue;
    out.above += number_of(row[column_named(rows, "excess_lower")]) > 0;
    out.below += number_of(row[column_named(rows, "excess_upper")]) < 0;
  }
  return out;
}

struct UntrainedArm {
  const char* model;
  bool diffusion;
};

class UntrainedAnalyses : public ::testing::TestWithParam<UntrainedArm> {
 protected:
  UntrainedAnalyses() : tables_(tables_of(GetParam().model, 1)) {}
  std::vector<Table> tables_;
};
INSTANTIATE_TEST_SUITE_P(Arms, UntrainedAnalyses,
                         ::testing::Values(UntrainedArm{"natural-diffusion", true},
                                           UntrainedArm{"natural-autoregressive", false}),
                         [](const auto& test) {
                           return test.param.diffusion ? "diffusion" : "autoregressive";
                         });

TEST_P(UntrainedAnalyses, AreAtTheNullsThatNumbersCanBeReadBeside) {
  std::vector<std::pair<const char*, const char*>> at_null = {{"sinks", "first_above"},
                                                              {"sinks", "best_above"},
                                                              {"sinks", "drain"},
                                                              {"heads", "dormant"},
                                                              {"sinks", "value_ratio"}};
  // In short causal rows even attention has sinks by this rule, and random rows have more.
  if (GetParam().diffusion) {
    for (const char* quantity : {"rulli_sum", "rulli_percent", "stays", "lifetime", "static"})
      at_null.emplace_back("sinks", quantity);
  }
  for (const auto& [analysis, quantity] : at_null) {
    const auto found = layers_beside_null(tables_, analysis, quantity);
    EXPECT_LE(found.above, kLayers / 2) << quantity;
    EXPECT_LE(found.below, kLayers / 2) << quantity;
  }
}

// A rollout adds up over layers, so that one network is on one side of the null in many of them: its size
// says how far. Trained, evidence has 6 to 17 times what even attention gives it.
TEST_P(UntrainedAnalyses, GiveGoldAndEvidenceWhatEvenAttentionGives) {
  const Table& rows = found(tables_, "rollout_by_layer");
  for (const char* quantity : {"gold", "evidence"}) {
    double value = 0, null = 0;
    for (const auto& row : rows.rows) {
      if (text_of(row[column_named(rows, "quantity")]) != quantity) continue;
      value += number_of(row[column_named(rows, "value")]);
      null += number_of(row[column_named(rows, "null")]);
    }
    EXPECT_GT(null, 0) << quantity;
    EXPECT_NEAR(value / null, 1, 0.1) << quantity;
  }
}

// The page of results says of these that they are no findings by themselves.
TEST_P(UntrainedAnalyses, AreBesideOtherNullsInEveryLayer) {
  std::vector<std::pair<const char*, const char*>> beside = {{"heads", "entropy"}};
  if (GetParam().diffusion) {
    for (const char* quantity : {"cosine", "overlap", "recall", "recall_before", "recalled_mass"})
      beside.emplace_back("steps", quantity);
    beside.emplace_back("sinks", "best");
  }
  for (const auto& [analysis, quantity] : beside) {
    const auto found = layers_beside_null(tables_, analysis, quantity);
    EXPECT_EQ(found.above + found.below, kLayers) << quantity;
  }
}

TEST_P(UntrainedAnalyses, HaveTitlesThatSayNothingOfTraining) {
  for (const auto& analysis : kAnalyses) {
    const auto section = report::build_section(analysis, tables_);
    for (const auto& figure : section.figures)
      EXPECT_EQ(figure.figure.title.find("beyond chance"), std::string::npos) << figure.figure.title;
  }
}

}  // namespace
}  // namespace buoy::testing
