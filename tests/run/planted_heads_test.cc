// Training made copying lie in two heads of each model of the pair (training/README.md): the strict score
// must find these two, and switching them off must matter, while two others of the same depth do not. (Some
// other pairs do: they find the person whom the question names. The cards have the draws.)

#include <gtest/gtest.h>

#include <algorithm>

#include "buoy/questions/data/item_reader.h"
#include "buoy/run/change/head_change.h"
#include "buoy/run/summary/summary.h"
#include "buoy/run/trace_request.h"
#include "run/runs.h"

namespace buoy::run {
namespace {

using testing::TempFolder;

// Autoregressive, diffusion.
const std::vector<HeadId> kReaders[2] = {{{5, 1}, {5, 3}}, {{4, 0}, {5, 0}}};
const std::vector<HeadId> kOthers[2] = {{{5, 0}, {4, 1}}, {{5, 2}, {4, 2}}};

class PlantedHeads : public ::testing::TestWithParam<bool> {
 protected:
  std::filesystem::path trace(const std::filesystem::path& data) {
    TraceRequest request;
    request.folder = scratch_ / "trace";
    request.items = questions::read_items(data, {});
    request.prompt_template = testing::pair_spec(data, {}).prompt_template;
    request.observe = "top,row-mass";
    request.decode.max_new_tokens = 8;
    LoadedModel model = load_model(testing::pair_model(GetParam()).path);
    ThreadPool threads(1);
    run_trace({threads}, model, make_trace_run(request, model), {[](const auto&) {}, [] {}});
    return request.folder;
  }

  TempFolder scratch_;
};
INSTANTIATE_TEST_SUITE_P(Pair, PlantedHeads, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "diffusion" : "autoregressive"; });

TEST_P(PlantedHeads, AreFoundByTheStrictScoreAndMatter) {
  const auto data = testing::write_world(scratch_, {.count = 6, .passages = 4});
  auto best = heads_by_retrieval(trace(data));
  best.resize(2);
  EXPECT_TRUE(std::is_permutation(best.begin(), best.end(), kReaders[GetParam()].begin())) << describe(best);

  const std::string name = GetParam() ? "diffusion" : "autoregressive";
  Condition without_best, without_others;
  without_best.name = "without-best";
  without_best.heads_off[name] = best;
  without_others.name = "without-others";
  without_others.heads_off[name] = kOthers[GetParam()];
  auto spec = testing::pair_spec(data, {Condition{}, without_best, without_others});
  std::erase_if(spec.models, [&](const NamedPath& model) { return model.name != name; });
  testing::run(spec, scratch_ / "run");
  const auto book = read_scores(scratch_ / "run");
  EXPECT_EQ(testing::exact_match(book, name, "passages"), 1);
  EXPECT_EQ(testing::exact_match(book, name, "without-best"), 0);
  EXPECT_EQ(testing::exact_match(book, name, "without-others"), 1);
}

// `--sweep heads-off=0,2 --heads-from TRACE --heads-controls 3`: the two best take every answer with them,
// drawn ones do not.
TEST_P(PlantedHeads, SweptByNumberTheBestMatterMoreThanDrawnOnes) {
  const auto data = testing::write_world(scratch_, {.count = 4, .passages = 4});
  const std::string name = GetParam() ? "diffusion" : "autoregressive";
  ConditionRequest request;
  request.sweep = "heads-off=0,2";
  request.heads = HeadStudy{.traces = {{name, trace(data)}}, .controls = 3};
  auto spec = testing::pair_spec(data, make_conditions(request));
  std::erase_if(spec.models, [&](const NamedPath& model) { return model.name != name; });
  testing::run(spec, scratch_ / "run");
  const auto book = read_scores(scratch_ / "run");
  EXPECT_EQ(testing::exact_match(book, name, "heads-off=0"), 1);
  EXPECT_EQ(testing::exact_match(book, name, "heads-off=2"), 0);
  double drawn = 0;
  for (const char* draw : {"1", "2", "3"})
    drawn += testing::exact_match(book, name, std::string("heads-off-random-") + draw + "=2") / 3;
  EXPECT_GE(drawn, 0.5);
}

}  // namespace
}  // namespace buoy::run
