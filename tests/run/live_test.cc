// Live equals stored: analyses that run while the model runs give the tables that a trace of the same run
// gives, byte for byte, whatever the number of threads.
#include "buoy/run/live/live_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "buoy/base/float16.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "run/runs.h"
#include "support/fails_with.h"
#include "support/family_case.h"
#include "support/golden.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy::run {
namespace {

using Tables = std::map<std::string, std::string>;  // name: as text

// Of models without experts.
std::vector<std::string> all_analyses() {
  std::vector<std::string> names;
  for (const auto& kind : analysis::analysis_kinds()) {
    if (kind.producer.name != "routing") names.emplace_back(kind.producer.name);
  }
  return names;
}

Tables as_text(const analysis::RunResult& result) {
  Tables out;
  for (const auto& analysis : result.analyses) {
    for (const auto& table : analysis.tables) out[table.name] = to_csv(table);
  }
  return out;
}

class LiveRuns {
 public:
  explicit LiveRuns(const std::filesystem::path& folder) : model_(load_model(folder)) {}

  TraceRequest request;
  std::vector<std::string> names = all_analyses();
  analysis::AnalysisOptions options;

  void stored_in_folder() {
    ThreadPool threads(1);
    run_trace({threads}, model_, make_trace_run(request, model_), {[](const auto&) {}, [] {}});
  }

  Tables stored() {
    request.folder = scratch_ / std::to_string(number_++);
    stored_in_folder();
    analysis::RunOptions run;
    run.analysis = options;
    run.threads = 2;
    return as_text(analysis::run_analyses(names, {{request.folder, "run"}}, run));
  }

  Tables live(int threads) {
    ThreadPool pool(threads);
    const auto run = make_trace_run(request, model_);
    std::vector<analysis::LabelledRun> runs;
    runs.push_back({"run", run_live({pool}, model_, run, {names, options, "run"}, {[] {}})});
    return as_text(analysis::assemble(names, std::move(runs), options));
  }

  // From the states of a trace that keeps less.
  Tables kept(trace::Level level, int threads) {
    auto asked = request;
    asked.keep = level;
    asked.analyses = {names, options, "run"};
    asked.folder = scratch_ / std::to_string(number_++);
    ThreadPool pool(threads);
    run_trace({pool}, model_, make_trace_run(asked, model_), {[](const auto&) {}, [] {}});
    const auto files = testing::files_of(asked.folder / "samples");
    const auto [first, is_new] = first_files_.try_emplace(level, files);
    EXPECT_TRUE(testing::same_files(files, first->second)) << threads << " threads";
    analysis::RunOptions run;
    run.analysis = options;
    run.threads = threads;
    return as_text(analysis::run_analyses(names, {{asked.folder, "run"}}, run));
  }

  void expect_equal() {
    const Tables expected = stored();
    EXPECT_FALSE(expected.empty());
    first_files_.clear();
    for (const auto level : {trace::Level::kTables, trace::Level::kCompact}) {
      for (const int threads : {1, 2, 16}) {
        const Tables found = kept(level, threads);
        EXPECT_EQ(found.size(), expected.size());
        for (const auto& [name, text] : expected)
          EXPECT_EQ(found.at(name), text) << name << ", " << name_of(level) << ", " << threads;
      }
    }
    for (const int threads : {1, 2, 16}) {
      const Tables found = live(threads);
      EXPECT_EQ(found.size(), expected.size());
      for (const auto& [name, text] : expected) EXPECT_EQ(found.at(name), text) << name << ", " << threads;
    }
  }

 private:
  testing::TempFolder scratch_;
  LoadedModel model_;
  int number_ = 0;
  std::map<trace::Level, testing::Files> first_files_;
};

void ask_world(LiveRuns& runs, const std::filesystem::path& data, bool masked_diffusion) {
  auto& request = runs.request;
  request.items = questions::read_items(data, {});
  request.prompt_template = testing::pair_spec(data, {}).prompt_template;
  request.observe = observables_for(runs.names);
  request.groups = "regions";
  request.decode.max_new_tokens = 6;
  if (masked_diffusion) request.decode.steps = 4;
}

class LivePair : public ::testing::TestWithParam<bool> {
 protected:
  LivePair()
      : data_(testing::write_world(scratch_, {.count = 3, .passages = 3})),
        runs_(testing::pair_model(GetParam()).path) {
    ask_world(runs_, data_, GetParam());
  }

  testing::TempFolder scratch_;
  std::filesystem::path data_;
  LiveRuns runs_;
};
INSTANTIATE_TEST_SUITE_P(Pair, LivePair, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(LivePair, EqualsStored) {
  runs_.expect_equal();
}

TEST_P(LivePair, EqualsStoredInHalfTheSpace) {
  runs_.request.float16 = true;
  runs_.expect_equal();
}

TEST_P(LivePair, EqualsStoredOfSomeStepsAndLayers) {
  runs_.request.layers = "1-3,5";
  if (GetParam()) runs_.request.steps_observed = "0,2";
  runs_.request.groups = "state";
  runs_.options.layer = 3;
  runs_.options.head = 1;
  runs_.options.sample = 2;
  runs_.expect_equal();
}

TEST_P(LivePair, EqualsStoredWithStatesAndHalvesOfTheQueries) {
  runs_.request.observe += ",states";
  runs_.request.groups = "parity";
  runs_.request.final_row = false;
  std::erase(runs_.names, "flow");  // it needs groups of the answer
  runs_.expect_equal();
}

TEST_P(LivePair, ASampleThatFailsIsListedAndTheOthersCount) {
  auto& items = runs_.request.items;
  for (int i = 0; i < 400; ++i) items[1].passages.front().text += " Shinia Subshaw wrote The Iron Bridge.";
  runs_.expect_equal();
}

// Another mask than the family's: it is in the trace, and the nulls of live and stored analyses follow it.
TEST(LiveMask, EqualsStoredAndIsNamed) {
  const testing::TempFolder scratch;
  const auto data = testing::write_world(scratch, {.count = 2, .passages = 3});
  for (const bool diffusion : {true, false}) {
    const std::string mask = diffusion ? "causal" : "prefix";
    LiveRuns runs(testing::pair_model_with_mask(diffusion, mask, scratch).path);
    ask_world(runs, data, diffusion);
    runs.request.observe += ",states";
    runs.expect_equal();
    runs.request.folder = scratch / ("trace-" + mask);
    runs.stored_in_folder();
    const auto reader = trace::TraceReader::open(runs.request.folder);
    for (const auto& id : reader.manifest().sample_ids)
      EXPECT_EQ(reader.read(id).text(trace::kAttention), mask) << id;
  }
}

// Random models of every family: prompts are ids, so there are no texts, passages or evidence.
class LiveFamily : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Families, LiveFamily, ::testing::ValuesIn(testing::golden_cases()),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

void ask_ids(LiveRuns& runs) {
  questions::Item item;
  item.id = "ids";
  runs.request.items = {item};
  runs.request.ids = Prompt{{5, 9, 2, 7, 11, 3, 8, 4, 6, 10, 12, 13}, "", {}};
  runs.names = {"floating", "drift", "absorption", "qk", "flow", "predictions", "tasks"};
  runs.request.observe = observables_for(runs.names);
  runs.request.decode.max_new_tokens = 4;
}

TEST_P(LiveFamily, EqualsStored) {
  LiveRuns runs(testing::Golden(GetParam()).folder());
  ask_ids(runs);
  runs.expect_equal();
}

// Routers, where there are some.
TEST(LiveExperts, RoutingEqualsStored) {
  for (const char* name : {"llada-moe-f32", "qwen3-moe-f32"}) {
    LiveRuns runs(testing::family_folder(name));
    ask_ids(runs);
    runs.names = {"floating", "routing"};
    runs.request.observe = observables_for(runs.names);
    if (std::string(name) == "llada-moe-f32") runs.request.decode.mask_token = 50;
    runs.expect_equal();
  }
}

// Models that decode blocks: analyses take the steps that denoise, over the keys that there are.
struct BlockFamily {
  const char *name, *rule;
  bool small = false, experts = false;
};

class LiveBlocks : public ::testing::TestWithParam<BlockFamily> {
 protected:
  LiveBlocks() : runs_(testing::family_folder(GetParam().name)) {
    ask_ids(runs_);
    auto& decode = runs_.request.decode;
    decode.mask_token = GetParam().small ? 50 : 75;
    decode.max_new_tokens = 12;
    if (GetParam().rule != nullptr) decode.decoding_rule = GetParam().rule;
    if (std::string(GetParam().name).starts_with("a2d")) decode.block_length = 8, decode.steps = 6;
    if (GetParam().experts) decode.block_length = 4;
    if (decode.decoding_rule == "llada21") decode.editing_threshold = decode.threshold = 0.5;
    if (GetParam().experts) runs_.names.emplace_back("routing");
    runs_.request.observe = observables_for(runs_.names);
  }

  LiveRuns runs_;
};

TEST_P(LiveBlocks, EqualsStored) {
  runs_.expect_equal();
}

TEST_P(LiveBlocks, EqualsStoredOfSomeStepsWithoutAFinalRow) {
  runs_.request.final_row = false;
  runs_.request.steps_observed = "0-3,5";
  runs_.request.groups = "regions";
  runs_.expect_equal();
}

INSTANTIATE_TEST_SUITE_P(Families, LiveBlocks,
                         ::testing::Values(BlockFamily{"sdar-f32", nullptr},
                                           BlockFamily{"fast-dllm-v2-f32", nullptr},
                                           BlockFamily{"a2d-qwen3-f32", "bd3lm"},
                                           BlockFamily{"nemotron-f32", nullptr, true},
                                           BlockFamily{"llada2-f32", "llada2", true, true},
                                           BlockFamily{"llada2-f32", "llada21", true, true}),
                         [](const auto& p) {
                           std::string name = p.param.name;
                           if (p.param.rule != nullptr) name += std::string("_") + p.param.rule;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Queries and keys of the second layer, larger than the weights say.
class LiveLargeDots : public ::testing::TestWithParam<bool> {
 protected:
  using Change = std::function<float(float weight, std::int64_t row)>;

  void change(const char* projection, const Change& change) {
    auto& tensor = tiny_.tensor((GetParam() ? "model.transformer.blocks.1." : "model.layers.1.self_attn.") +
                                std::string(projection) + ".weight");
    for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
      float weight;
      std::memcpy(&weight, tensor.bytes.data() + sizeof(float) * i, sizeof(float));
      weight = change(weight, static_cast<std::int64_t>(i) / tensor.shape[1]);
      std::memcpy(tensor.bytes.data() + sizeof(float) * i, &weight, sizeof(float));
    }
  }
  void scale(const char* projection, float factor) {
    change(projection, [=](float weight, std::int64_t) { return factor * weight; });
  }

  LiveRuns& runs() {
    const auto folder = scratch_ / std::to_string(written_++);
    std::filesystem::create_directory(folder);
    tiny_.write(folder);
    ask_ids(runs_.emplace(folder));
    return *runs_;
  }

  // Of the last trace.
  trace::StoredSample sample() { return trace::TraceReader::open(runs_->request.folder).read("ids"); }
  float largest_dot() {
    float largest = 0;
    for (const auto array : {trace::kQkAfterDot, trace::kQkBeforeDot}) {
      for (const float value : sample().floats(array)) largest = std::max(largest, std::fabs(value));
    }
    return largest;
  }

  testing::TempFolder scratch_;
  testing::TinyCheckpoint tiny_{GetParam() ? Family::kLlada : Family::kLlama};
  std::optional<LiveRuns> runs_;
  int written_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Tiny, LiveLargeDots, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(LiveLargeDots, EqualStoredWhereF16CannotHoldThem) {
  for (const char* projection : {"q_proj", "k_proj"}) scale(projection, 3000);
  runs().request.float16 = true;
  runs_->expect_equal();
  EXPECT_GT(largest_dot(), kLargestF16);
  EXPECT_EQ(sample().dtype(trace::kQkAfterDot), "F32");
  EXPECT_EQ(sample().dtype(trace::kReceived), "F16");
}

// Up to 65520 a value would be rounded down to the largest that F16 holds; a trace rounds no such value.
TEST_P(LiveLargeDots, EqualStoredJustBeyondTheLargestOfF16) {
  scale("k_proj", 1000);
  runs().stored();
  scale("q_proj", 65512 / largest_dot());
  runs().request.float16 = true;
  runs_->expect_equal();
  EXPECT_GT(largest_dot(), kLargestF16);
  EXPECT_LT(largest_dot(), 65520);
}

// Queries and keys that stand at right angles: scores are zeros, and products of lengths infinite. The model
// does not mind.
TEST_P(LiveLargeDots, RecordsThatAreNoNumbersFailTheSample) {
  constexpr float kHuge = 1e24f;
  const auto keep = [](std::int64_t odd) {
    return [=](float weight, std::int64_t row) { return row % 2 == odd ? kHuge * weight : 0; };
  };
  change("q_proj", keep(0));
  change("k_proj", keep(1));
  runs();
  for (const int threads : {1, 2, 16}) {
    EXPECT_TRUE(testing::fails_with<InputError>(
        [&] { runs_->live(threads); },
        {"every sample failed", "step 0, layer 1: ", "norm_product", "expected", "inf"}))
        << threads;
  }
  EXPECT_TRUE(testing::fails_with<InputError>([&] { runs_->stored(); },
                                              {"every sample failed", "norm_product", "expected", "inf"}));
  // Who does not look at them is not disturbed.
  runs_->names = {"floating", "drift"};
  runs_->request.observe = observables_for(runs_->names);
  runs_->expect_equal();
}

}  // namespace
}  // namespace buoy::run
