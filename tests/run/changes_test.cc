// What somebody changes in a model: how it is said, that it happens where it is said and nowhere else, and
// that a change by the factor 1 is none.
#include "buoy/run/change/changing_probe.h"

#include <gtest/gtest.h>

#include "buoy/analysis/sample/stored_source.h"
#include "buoy/base/error.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "run/runs.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::TempFolder;

TEST(Changes, AreReadFromShortTexts) {
  const auto changes = parse_changes({"3.1,4.0=0.5"}, {"0=0", "0,5-8@2-3/0,7=0.25", "question@1=2"});
  ASSERT_EQ(changes.heads.size(), 2u);
  EXPECT_EQ(changes.heads[1].id, (HeadId{4, 0}));
  EXPECT_EQ(changes.heads[1].factor, 0.5);
  ASSERT_EQ(changes.keys.size(), 3u);
  EXPECT_EQ(changes.keys[1].where, "0,5-8");
  EXPECT_EQ(changes.keys[1].factor, 0.25);
  EXPECT_TRUE(changes.keys[1].layers.contains(3) && !changes.keys[1].layers.contains(4));
  EXPECT_TRUE(changes.keys[1].steps.contains(7) && !changes.keys[1].steps.contains(1));
  EXPECT_EQ(changes.keys[2].where, "question");
  EXPECT_TRUE(changes.keys[2].steps.contains(100));
  EXPECT_EQ(changes.texts.size(), 4u);
  EXPECT_FALSE(parse_changes({}, {}).any());
  const auto at_steps = parse_changes({"3.1,4.0/0-2,7=0"}, {}).heads;
  ASSERT_EQ(at_steps.size(), 2u);
  EXPECT_TRUE(at_steps[1].steps.contains(7) && !at_steps[1].steps.contains(3));
  EXPECT_TRUE(changes.heads[0].steps.contains(3));
  // Named twice, changed once.
  EXPECT_EQ(parse_changes({"3.1,3.1=0.5"}, {}).heads.size(), 1u);
  EXPECT_EQ(parse_changes({}, {"0-3,2=0.5"}).keys[0].positions, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(Changes, ThatCannotBeReadAreRefused) {
  for (const char* text : {"", "3.1", "=0", "3=0", "3.=0", "a.b=0", "3.1=x", "3.1=nan", "3.1=-1", "3.1=inf",
                           "3.1=1e39", "3.1/=0", "3.1/x=0"})
    EXPECT_TRUE(fails_with<UsageError>([&] { parse_changes({text}, {}); }, {"`scale_heads`"})) << text;
  for (const char* text : {"", "0", "=0", "@1=0", "0@=0", "0/=0", "0@x=0", "0=1e999", "0@3-1=0"})
    EXPECT_TRUE(fails_with<UsageError>([&] { parse_changes({}, {text}); }, {"`scale_keys`"})) << text;
}

class ChangedPair : public ::testing::TestWithParam<bool> {
 protected:
  ChangedPair()
      : data_(testing::write_world(scratch_, {.count = 1, .passages = 2})),
        model_(load_model(testing::pair_model(GetParam()).path)) {}

  analysis::StoredSource traced(const Changes& changes) {
    TraceRequest request;
    request.folder = scratch_ / std::to_string(number_++);
    request.items = questions::read_items(data_, {});
    request.prompt_template = testing::pair_spec(data_, {}).prompt_template;
    request.observe = "received";
    request.decode.max_new_tokens = 6;
    if (GetParam()) request.decode.steps = 3;
    request.changes = changes;
    ThreadPool threads(1);
    const auto run = make_trace_run(request, model_);
    run_trace({threads}, model_, run, {[](const auto&) {}, [] {}});
    const auto reader = trace::TraceReader::open(request.folder);
    return {reader.manifest(), reader.read(reader.samples().front().id)};
  }

  TempFolder scratch_;
  std::filesystem::path data_;
  LoadedModel model_;
  int number_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Pair, ChangedPair, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(ChangedPair, ByTheFactorOneIsTheSame) {
  const auto plain = traced({}), same = traced(parse_changes({"2.1=1"}, {"0,4=1"}));
  EXPECT_EQ(plain.sample().final_row, same.sample().final_row);
  for (std::int64_t layer = 0; layer < plain.sample().layer_count(); ++layer)
    EXPECT_EQ(plain.received(0, layer).share, same.received(0, layer).share);
}

TEST_P(ChangedPair, HidesKeysInTheNamedLayersAlone) {
  const auto changed = traced(parse_changes({}, {"0,3@2-4=0"}));
  for (std::int64_t s = 0; s < changed.sample().forward_count(); ++s) {
    for (std::int64_t layer = 0; layer < changed.sample().layer_count(); ++layer) {
      const auto received = changed.received(s, layer);
      for (const std::int64_t key : {0, 3}) {
        for (std::int64_t head = 0; head < received.heads; ++head)
          EXPECT_EQ(received.head(head)[key] == 0, layer >= 2 && layer <= 4) << layer << '.' << head;
      }
      EXPECT_GT(received.mean[1], 0);
    }
  }
}

TEST_P(ChangedPair, DampsByTheFactor) {
  // Layer 0 sees the same states in both runs; with w of all weight on a key, f w / (1 - w + f w) is left.
  const auto plain = traced({}), damped = traced(parse_changes({}, {"1@0=0.5"}));
  const auto before = plain.received(0, 0), after = damped.received(0, 0);
  for (std::int64_t head = 0; head < before.heads; ++head) {
    EXPECT_LT(after.head(head)[1], before.head(head)[1]);
    EXPECT_GT(after.head(head)[1], 0.49 * before.head(head)[1]);
  }
}

TEST_P(ChangedPair, HidesKeysAtTheNamedStepsAlone) {
  if (!GetParam()) GTEST_SKIP() << "autoregressive rows have no steps";
  const auto plain = traced({}), changed = traced(parse_changes({}, {"0@2/1=0"}));
  EXPECT_EQ(plain.received(0, 2).share, changed.received(0, 2).share);
  EXPECT_EQ(changed.received(1, 2).mean[0], 0);
  EXPECT_GT(changed.received(2, 2).mean[0], 0);
  EXPECT_GT(changed.received(changed.sample().final_index(), 2).mean[0], 0);
}

TEST_P(ChangedPair, TakesRegionsByTheirNames) {
  const auto plain = traced({});
  ASSERT_FALSE(plain.sample().region_names.empty());
  const auto last = plain.sample().region_names.size() - 2;  // the last one is the answer's
  const auto changed = traced(parse_changes({}, {plain.sample().region_names[last] + "=0"}));
  const auto received = changed.received(0, 1);
  for (std::int64_t i = 0; i < changed.sample().prompt_length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (changed.sample().region_of_token[at] == static_cast<std::int32_t>(last)) {
      EXPECT_EQ(received.mean[at], 0) << i;
    }
  }
}

TEST_P(ChangedPair, SwitchesHeadsOff) {
  const auto plain = traced({}), off = traced(parse_changes({"4.0,4.1,4.2,4.3=0"}, {}));
  ASSERT_EQ(plain.sample().row_at(0).size(), off.sample().row_at(0).size());
  // The heads attend as before, since what lies before them is untouched; the next layer reads something
  // else.
  if (plain.sample().row_at(0) == off.sample().row_at(0)) {
    EXPECT_EQ(plain.received(0, 4).share, off.received(0, 4).share);
  }
  EXPECT_NE(plain.received(0, 5).share, off.received(0, 5).share);
}

TEST_P(ChangedPair, RefusesWhatItDoesNotHave) {
  const ModelConfig& config = model_.model.config();
  const auto refuses = [&](const Changes& changes, std::initializer_list<std::string> said) {
    return fails_with<UsageError>([&] { ChangingProbe(changes, config, {{}, 20, 4}, nullptr); }, said);
  };
  EXPECT_TRUE(refuses(parse_changes({"6.0=0"}, {}), {"`scale_heads`", "0 to 5", "6.0"}));
  EXPECT_TRUE(refuses(parse_changes({"0.4=0"}, {}), {"`scale_heads`", "0 to 3", "0.4"}));
  EXPECT_TRUE(refuses(parse_changes({}, {"0@6=0"}), {"`scale_keys`", "below 6", "6"}));
  EXPECT_TRUE(refuses(parse_changes({}, {"title=0"}), {"`scale_keys`", "no regions", "title"}));
  EXPECT_TRUE(refuses(parse_changes({}, {"20-30=0"}), {"`scale_keys`", "below 20", "20-30"}));
  if (GetParam()) {
    EXPECT_TRUE(refuses(parse_changes({}, {"0/4=0"}), {"`scale_keys`", "below 4", "4"}));
  }
  if (!GetParam()) {
    EXPECT_TRUE(refuses(parse_changes({}, {"0/1=0"}), {"`scale_keys`", "no steps"}));
  }
}

// A run is not continued with another change.
TEST_P(ChangedPair, AreInTheManifest) {
  TraceRequest request;
  request.items = questions::read_items(data_, {});
  request.observe = "received";
  const auto plain = make_trace_run(request, model_).manifest.probe;
  request.changes = parse_changes({"1.1=0"}, {});
  const auto changed = make_trace_run(request, model_).manifest.probe;
  EXPECT_NE(plain, changed);
  EXPECT_NE(changed.find("heads 1.1=0"), std::string::npos) << changed;
}

}  // namespace
}  // namespace buoy::run
