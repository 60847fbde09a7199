// What heads put out, and how far keys and values move: a change is planted in a running model, and the
// analyses find where it is, and nothing where there is none.

#include <gtest/gtest.h>

#include "buoy/analysis/core/run.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/change/changes.h"
#include "buoy/run/trace_request.h"
#include "run/runs.h"
#include "support/written_table.h"

namespace buoy::run {
namespace {

using testing::TempFolder;

class PlantedStates : public ::testing::TestWithParam<bool> {
 protected:
  // The only number of these tables in the row where columns have these texts.
  double number(const std::vector<Table>& tables, const std::string& name,
                const std::map<std::string, std::string>& where) const {
    for (const auto& table : tables) {
      if (table.name != name) continue;
      for (const auto& row : table.rows) {
        bool wanted = true;
        for (const auto& [column, text] : where)
          wanted = wanted && text_of(row[testing::column_named(table, column)]) == text;
        if (wanted) return number_of(row[testing::column_named(table, "value")]);
      }
    }
    ADD_FAILURE() << name << " has no such row";
    return 0;
  }

  std::vector<Table> tables_of(const std::string& analysis, const std::string& observe,
                               const Changes& changes) {
    const TempFolder scratch;
    const auto data = testing::write_world(scratch, {.count = 3, .passages = 2});
    TraceRequest request;
    request.folder = scratch / "trace";
    request.items = questions::read_items(data, {});
    request.prompt_template = testing::pair_spec(data, {}).prompt_template;
    request.observe = observe;
    request.changes = changes;
    request.decode.max_new_tokens = 8;
    LoadedModel model = load_model(testing::pair_model(GetParam()).path);
    ThreadPool threads(1);
    run_trace({threads}, model, make_trace_run(request, model), {[](const auto&) {}, [] {}});
    const std::vector<std::string> names = {analysis};
    return analysis::run_analyses(names, {{request.folder, "one"}}, {}).analyses.at(0).tables;
  }
};
INSTANTIATE_TEST_SUITE_P(Pair, PlantedStates, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "diffusion" : "autoregressive"; });

TEST_P(PlantedStates, AHeadThatIsDampedIsDormant) {
  const std::string observe = "received,entropy,first,contribution,value-norms,head-norms";
  const auto plain = tables_of("heads", observe, {});
  const auto damped = tables_of("heads", observe, parse_changes({"3.2=0.05"}, {}));
  for (const char* head : {"0", "1", "2", "3"}) {
    const std::map<std::string, std::string> share = {
        {"layer", "3"}, {"head", head}, {"quantity", "output_share"}};
    const double before = number(plain, "heads_by_head", share),
                 after = number(damped, "heads_by_head", share);
    EXPECT_GT(before, 0.5) << head;
    EXPECT_EQ(after < 0.5, std::string(head) == "2") << head << ": " << after;
  }
  const std::map<std::string, std::string> dormant = {{"layer", "3"}, {"head", "2"}, {"quantity", "dormant"}};
  EXPECT_EQ(number(plain, "heads_by_head", dormant), 0);
  EXPECT_EQ(number(damped, "heads_by_head", dormant), 1);
}

// An MLP is left out at step 4, and back at step 5: eight steps, one for each eighth of the run.
TEST_P(PlantedStates, KeysAndValuesMoveWhenAnMlpIsLeftOut) {
  if (!GetParam()) GTEST_SKIP() << "one forward over the row";
  const auto plain = tables_of("kvdrift", "received,kv-drift", {});
  const auto changed =
      tables_of("kvdrift", "received,kv-drift", parse_changes(ChangeTexts{{}, {}, {"1/4=0"}, {}, {}, {}}));
  for (const char* quantity : {"keys", "values"}) {
    const auto drift = [&](const std::vector<Table>& tables, int step) {
      return number(tables, "kvdrift_by_step", {{"quantity", quantity}, {"step_bin", std::to_string(step)}});
    };
    for (const int before : {1, 2, 3})
      EXPECT_EQ(drift(changed, before), drift(plain, before)) << quantity << before;
    for (const int step : {4, 5}) EXPECT_GT(drift(changed, step), 2 * drift(plain, step)) << quantity << step;
  }
}

}  // namespace
}  // namespace buoy::run
