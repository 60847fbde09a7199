// Keys that receive most: how it is said which they are, what is chosen, and what is refused.

#include "buoy/run/change/top_keys.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "buoy/analysis/sample/stored_source.h"
#include "buoy/base/error.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/trace_request.h"
#include "buoy/run/trace_run.h"
#include "buoy/trace/reader.h"
#include "run/runs.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::TempFolder;
using Keys = std::vector<std::int32_t>;

TopChange top(const std::string& keys, const std::string& of = "", const std::string& control = "") {
  return parse_top_change({keys, of, control});
}
Changes top_changes(const std::string& keys, const std::string& of = "", const std::string& control = "") {
  ChangeTexts texts;
  texts.top = {keys, of, control};
  return parse_changes(texts);
}

TEST(TopTexts, SayHowManyWhereAndWhen) {
  const auto plain = top("5");
  EXPECT_EQ(plain.keys, 5);
  EXPECT_EQ(plain.factor, 0);
  EXPECT_TRUE(plain.of == TopOf::kStepBefore && plain.control == TopControl::kNone);
  EXPECT_TRUE(plain.acts(7, 3));
  const auto full = top("10@16-31/1-8=0.1", "rule:three_sigma", "mass");
  EXPECT_EQ(full.keys, 10);
  EXPECT_EQ(full.factor, 0.1);
  EXPECT_TRUE(full.acts(8, 31) && !full.acts(9, 31) && !full.acts(8, 15));
  EXPECT_TRUE(full.of == TopOf::kRule && full.rule == analysis::Rule::kThreeSigma);
  EXPECT_TRUE(full.control == TopControl::kMass);
  EXPECT_EQ(top("1@3.1,4.0").heads, (std::vector<HeadId>{{3, 1}, {4, 0}}));
  EXPECT_FALSE(top("0").acts(1, 1));
}

TEST(TopTexts, ThatCannotBeReadAreRefused) {
  for (const char* text :
       {"x", "-1", "5@", "5/", "5=", "5=x", "5=-1", "5@3.x", "5@3.1,4", "=0", "5/a", "1e3"})
    EXPECT_TRUE(fails_with<UsageError>([&] { top(text); }, {"`hide_top`"})) << text;
  for (const char* text : {"step", "rule:", "trace:", "rule"})
    EXPECT_TRUE(fails_with<UsageError>([&] { top("1", text); }, {"`hide_top_of`"})) << text;
  EXPECT_TRUE(
      fails_with<UsageError>([] { top("1", "rule:sigma"); }, {"`hide_top_of`", "three_sigma_lift", "sigma"}));
  EXPECT_TRUE(fails_with<UsageError>([] { top("1", "", "others"); }, {"`hide_control`", "random", "others"}));
  EXPECT_TRUE(fails_with<UsageError>([] { top("", "step-before"); }, {"`hide_top_of`", "`hide_top`"}));
  EXPECT_TRUE(fails_with<UsageError>([] { top("", "", "mass"); }, {"`hide_control`", "`hide_top`"}));
  EXPECT_TRUE(fails_with<Error>([] { top("1", "trace:/nowhere/at/all"); }, {"/nowhere/at/all"}));
}

TEST(TopKeys, AreThoseThatReceiveMost) {
  const std::vector<double> received = {0.1, 0.5, 0.0, 0.5, 0.2, 0.0};
  EXPECT_EQ(choose_top_keys(top("1"), received, {}), (Keys{1}));  // ties to the lower key
  EXPECT_EQ(choose_top_keys(top("3"), received, {}), (Keys{1, 3, 4}));
  EXPECT_EQ(choose_top_keys(top("6"), received, {}), (Keys{0, 1, 3, 4}));  // none that receive nothing
}

TEST(TopKeys, OfARuleAreNoneWhereItSelectsNone) {
  std::vector<double> received(40, 1.0);
  EXPECT_TRUE(choose_top_keys(top("5", "rule:three_sigma"), received, {}).empty());
  EXPECT_EQ(choose_top_keys(top("5"), received, {}).size(), 5u);
  received[7] = 30, received[9] = 40;
  EXPECT_EQ(choose_top_keys(top("5", "rule:three_sigma"), received, {}), (Keys{7, 9}));
  EXPECT_EQ(choose_top_keys(top("1", "rule:three_sigma"), received, {}), (Keys{9}));
}

std::vector<double> one_strong_key(std::size_t count) {
  std::vector<double> received(count, 0.5 / static_cast<double>(count - 3));
  received[3] = 0.3, received[11] = 0.15, received[17] = 0.05;
  return received;
}

TEST(TopKeys, OfTheRandomControlAreAsManyOthers) {
  const auto received = one_strong_key(60);
  std::vector<int> drawn(received.size(), 0);
  for (std::int64_t step = 0; step < 300; ++step) {
    const auto keys = choose_top_keys(top("2", "", "random"), received, {1, step, 0, 0, 1});
    ASSERT_EQ(keys.size(), 2u);
    for (const auto key : keys) ++drawn[static_cast<std::size_t>(key)];
  }
  EXPECT_EQ(drawn[3] + drawn[11], 0);
  // Every other key has its turn: 600 draws over 58 keys.
  for (std::size_t key = 0; key < drawn.size(); ++key) {
    if (key == 3 || key == 11) continue;
    EXPECT_GT(drawn[key], 0) << key;
  }
  const auto again = [&](std::uint64_t seed, std::int64_t head) {
    return choose_top_keys(top("2", "", "random"), received, {seed, 5, 1, head, 4});
  };
  EXPECT_EQ(again(1, 2), again(1, 2));
  EXPECT_TRUE(again(1, 2) != again(2, 2) || again(1, 2) != again(1, 3));
}

TEST(TopKeys, OfTheMassControlReceiveAsMuch) {
  const auto received = one_strong_key(60);
  std::size_t fewest = received.size();
  for (std::int64_t step = 0; step < 50; ++step) {
    const auto keys = choose_top_keys(top("1", "", "mass"), received, {1, step, 0, 0, 1});
    double mass = 0;
    for (const auto key : keys) {
      EXPECT_NE(key, 3);
      mass += received[static_cast<std::size_t>(key)];
    }
    EXPECT_NEAR(mass, 0.3, 0.02);
    fewest = std::min(fewest, keys.size());
  }
  EXPECT_GT(fewest, 5u);
  // Where the others have less than that together, all of them.
  EXPECT_EQ(choose_top_keys(top("1", "", "mass"), std::vector<double>{0.1, 0.8, 0.1}, {}), (Keys{0, 2}));
}

class TopPair : public ::testing::TestWithParam<bool> {
 protected:
  TopPair()
      : data_(testing::write_world(scratch_, {.count = 2, .passages = 2})),
        model_(load_model(testing::pair_model(GetParam()).path)) {}

  std::filesystem::path traced(const Changes& changes, const std::string& observe = "received") {
    TraceRequest request;
    request.folder = scratch_ / std::to_string(number_++);
    request.items = questions::read_items(data_, {});
    request.items.resize(1);
    request.prompt_template = testing::pair_spec(data_, {}).prompt_template;
    request.observe = observe;
    request.decode.max_new_tokens = 6;
    if (GetParam()) request.decode.steps = 3;
    request.changes = changes;
    ThreadPool threads(1);
    run_trace({threads}, model_, make_trace_run(request, model_), {[](const auto&) {}, [] {}});
    return request.folder;
  }
  analysis::StoredSource sample(const std::filesystem::path& folder) {
    const auto reader = trace::TraceReader::open(folder);
    return {reader.manifest(), reader.read(reader.samples().front().id)};
  }
  bool refuses(const Changes& changes, std::initializer_list<std::string> said, std::int64_t tokens = 20,
               std::int64_t steps = 4) {
    const std::vector<std::int32_t> prompt(static_cast<std::size_t>(std::max<std::int64_t>(tokens - 4, 0)),
                                           1);
    ChangedRow row;
    row.tokens = tokens, row.steps = steps, row.prompt = prompt, row.id = "q",
    row.left_to_right = !GetParam();
    return fails_with<UsageError>([&] { ChangingProbe(changes, model_.model.config(), row, nullptr); }, said);
  }

  TempFolder scratch_;
  std::filesystem::path data_;
  LoadedModel model_;
  int number_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Pair, TopPair, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(TopPair, RefusesWhatItDoesNotHave) {
  const bool masked = GetParam();
  EXPECT_TRUE(refuses(top_changes("20"),
                      {"`hide_top`", masked ? "at most 19 of the 20" : "at most 15 of the 16", "20"}));
  EXPECT_TRUE(refuses(top_changes("11", "", "random"),
                      {"`hide_top`", masked ? "at most 10 of the 20" : "at most 8 of the 16"}));
  EXPECT_TRUE(refuses(top_changes("1@6"), {"`hide_top`", "below 6", "6"}));
  EXPECT_TRUE(refuses(top_changes("1@0.4"), {"`hide_top`", "heads 0 to 3", "0.4"}));
  EXPECT_TRUE(refuses(top_changes("1@6.0"), {"`hide_top`", "layers 0 to 5", "6.0"}));
  EXPECT_TRUE(refuses(top_changes("1/0"), {"`hide_top`", "from 1 on", "step 0"}));
  EXPECT_TRUE(refuses(top_changes("1/0-2"), {"`hide_top`", "from 1 on"}));
  EXPECT_TRUE(refuses(top_changes("1/4"), {"`hide_top`", "below 4", "4"}));
  EXPECT_TRUE(refuses(top_changes("1"), {"`hide_top_of`", "at least 2 steps", "1"}, 20, 1));
}

TEST_P(TopPair, HidesPerHeadWhatTheStepBeforeSays) {
  if (!GetParam()) {
    EXPECT_TRUE(fails_with<UsageError>([&] { traced(top_changes("1")); }, {"`hide_top_of`", "trace:FOLDER"}));
    return;
  }
  const auto source = sample(traced(top_changes("2")));
  const auto plain = sample(traced({}));
  EXPECT_EQ(source.received(0, 2).share, plain.received(0, 2).share);  // nothing is before the first step
  for (std::int64_t s = 1; s < source.sample().forward_count(); ++s) {
    for (std::int64_t layer = 0; layer < source.sample().layer_count(); ++layer) {
      const auto before = source.received(s - 1, layer), now = source.received(s, layer);
      for (std::int64_t head = 0; head < now.heads; ++head) {
        const auto keys = choose_top_keys(top("2"), before.of(head), {});
        for (std::int64_t key = 0; key < now.tokens; ++key) {
          const bool hidden = std::find(keys.begin(), keys.end(), key) != keys.end();
          EXPECT_EQ(now.head(head)[key] == 0, hidden) << s << ' ' << layer << '.' << head << ' ' << key;
        }
      }
    }
  }
}

TEST_P(TopPair, HidesInTheNamedHeadsAlone) {
  if (!GetParam()) return;
  const auto source = sample(traced(top_changes("1@2.1,3.0/1")));
  for (std::int64_t s = 0; s < source.sample().forward_count(); ++s) {
    for (std::int64_t layer = 0; layer < source.sample().layer_count(); ++layer) {
      const auto now = source.received(s, layer);
      for (std::int64_t head = 0; head < now.heads; ++head) {
        const bool named = s == 1 && ((layer == 2 && head == 1) || (layer == 3 && head == 0));
        EXPECT_EQ(std::count(now.head(head), now.head(head) + now.tokens, 0.0), named ? 1 : 0);
      }
    }
  }
}

// Another trace says the same of the same step; the model changed so is another one from the second step on.
TEST_P(TopPair, TakesTheKeysOfAnotherTrace) {
  const auto folder = traced({});
  const auto plain = sample(folder);
  const auto changed = sample(traced(top_changes("2", "trace:" + folder.string())));
  for (std::int64_t layer = 0; layer < plain.sample().layer_count(); ++layer) {
    const auto before = plain.received(0, layer), now = changed.received(0, layer);
    for (std::int64_t head = 0; head < now.heads; ++head) {
      for (const auto key : choose_top_keys(top("2"), before.of(head), {}))
        EXPECT_EQ(now.head(head)[key], 0) << layer << '.' << head;
    }
  }
}

TEST_P(TopPair, RefusesTracesOfOtherQuestions) {
  const auto folder = traced({});
  const auto id = trace::TraceReader::open(folder).samples().front().id;
  const auto changes = top_changes("1", "trace:" + folder.string());
  const std::vector<std::int32_t> other = {1, 2, 3, 4, 5, 6};
  ChangedRow row;
  row.tokens = 10, row.steps = 4, row.prompt = other, row.left_to_right = !GetParam();
  const auto make = [&] { ChangingProbe(changes, model_.model.config(), row, nullptr); };
  row.id = "another";
  EXPECT_TRUE(fails_with<InputError>(make, {folder.string(), "another", "none"}));
  row.id = id;
  EXPECT_TRUE(fails_with<InputError>(make, {folder.string(), id, "same prompt"}));
}

// Fired nowhere, a rule would leave the model as it is: that is said.
TEST_P(TopPair, RefusesARuleThatSelectsNothing) {
  const ModelConfig& config = model_.model.config();
  const std::vector<std::int32_t> prompt(30, 1);
  ChangedRow row;
  row.tokens = 34, row.steps = 4, row.prompt = prompt, row.left_to_right = !GetParam();
  const auto after = [&](const Changes& changes, const std::vector<float>& received) {
    ChangingProbe probe(changes, config, row, nullptr);
    probe::LayerRecord record;
    for (std::int64_t head = 0; head < config.heads; ++head)
      record.followed.insert(record.followed.end(), received.begin(), received.end());
    probe.take({0, 0, 0, 1}, std::move(record));
    const auto keys = std::ssize(received);
    const bool any = !probe.change({0, 1, 0, 1}, {keys, keys, config.heads, {}}).key_bias.empty();
    probe.finish();
    return any;
  };
  const auto changes = top_changes("3", "rule:three_sigma");
  std::vector<float> even(34, 1.0f);
  EXPECT_TRUE(fails_with<UsageError>([&] { after(changes, even); },
                                     {"`hide_top_of`", "three_sigma", "none in 4 heads"}));
  even[4] = 40;
  EXPECT_TRUE(after(changes, even));
}

// Several changes of keys are one.
TEST_P(TopPair, MultipliesWithFactorsOnKeys) {
  const ModelConfig& config = model_.model.config();
  ChangeTexts texts;
  texts.keys = {"4=0.5", "0=0.5"};
  texts.top = {"1=0.25", "", ""};
  const auto changes = parse_changes(texts);
  const std::vector<std::int32_t> prompt(9, 1);
  ChangedRow row;
  row.tokens = 10, row.steps = 4, row.prompt = prompt, row.left_to_right = !GetParam();
  ChangingProbe probe(changes, config, row, nullptr);
  probe::LayerRecord record;
  record.followed.assign(static_cast<std::size_t>(config.heads * 9), 0.1f);
  record.followed[4] = 1, record.followed[9 + 5] = 1, record.followed[18 + 1] = 1, record.followed[27] = 1;
  probe.take({0, 0, 0, 1}, std::move(record));
  const auto bias = probe.change({0, 1, 0, 1}, {1, 10, config.heads, {}}).key_bias;
  ASSERT_EQ(std::ssize(bias), config.heads * 10);
  const auto is = [&](std::int64_t head, std::int64_t key, double factor) {
    EXPECT_NEAR(bias[static_cast<std::size_t>(head * 10 + key)], std::log(factor), 1e-6)
        << head << ' ' << key;
  };
  is(0, 4, 0.125), is(1, 4, 0.5), is(1, 5, 0.25), is(1, 0, 0.5), is(3, 0, 0.125), is(2, 9, 1);
}

TEST_P(TopPair, AreInTheManifest) {
  TraceRequest request;
  request.items = questions::read_items(data_, {});
  request.observe = "received";
  request.changes = top_changes("5@1-2", "", "mass");
  const auto probe = make_trace_run(request, model_).manifest.probe;
  EXPECT_NE(probe.find("top 5@1-2 of step-before, in their place mass"), std::string::npos) << probe;
}

}  // namespace
}  // namespace buoy::run
