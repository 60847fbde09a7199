// Vectors in the residual stream and MLPs left out: how they are said, what is refused, and two truths of the
// bundled pair. What it answers stands in the states of the passage's tokens, and a direction of its head
// decides the answer.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/decode/drive.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/decoding.h"
#include "buoy/run/loaded_model.h"
#include "buoy/run/prompter.h"
#include "run/runs.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::TempFolder;
using Ids = std::vector<std::int32_t>;

std::string write_npy(const std::filesystem::path& path, const std::string& shape,
                      const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header;
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
  return path.string();
}

ChangeTexts steer(const std::string& text) {
  ChangeTexts texts;
  texts.steer = {text};
  return texts;
}
ChangeTexts patch(const std::string& text) {
  ChangeTexts texts;
  texts.patch = {text};
  return texts;
}
ChangeTexts mlp(const std::string& text) {
  ChangeTexts texts;
  texts.mlps = {text};
  return texts;
}

TEST(ResidualChanges, AreReadFromShortTexts) {
  const TempFolder folder;
  const std::string file = write_npy(folder / "v.npy", "(2,)", {1, -3});
  const auto plain = parse_changes(steer("all@1=" + file));
  ASSERT_EQ(plain.residual.size(), 1u);
  EXPECT_EQ(plain.residual[0].where, "all");
  EXPECT_EQ(plain.residual[0].values, (std::vector<float>{1, -3}));
  EXPECT_EQ(plain.residual[0].at, probe::ResidualPoint::kPost);
  EXPECT_FALSE(plain.residual[0].replace);
  const auto full = parse_changes(steer("0,5-6@2-3:mid/0,7=-2*" + file)).residual[0];
  EXPECT_EQ(full.positions, (std::vector<std::int64_t>{0, 5, 6}));
  EXPECT_EQ(full.values, (std::vector<float>{-2, 6}));
  EXPECT_EQ(full.at, probe::ResidualPoint::kMid);
  EXPECT_TRUE(full.layers.contains(3) && !full.layers.contains(4));
  EXPECT_TRUE(full.of_single_steps && full.steps.contains(7) && !full.steps.contains(1));
  const auto patched = parse_changes(patch("document 1@2:pre=" + file));
  EXPECT_TRUE(patched.residual[0].replace);
  EXPECT_EQ(patched.residual[0].where, "document 1");
  EXPECT_EQ(patched.residual[0].at, probe::ResidualPoint::kPre);
  // Another file of the same name is another change.
  ASSERT_EQ(patched.texts.size(), 1u);
  write_npy(folder / "v.npy", "(2,)", {1, -4});
  EXPECT_NE(parse_changes(patch("document 1@2:pre=" + file)).texts, patched.texts);

  const auto mlps = parse_changes(mlp("3,4/0-3=0.5")).mlps;
  ASSERT_EQ(mlps.size(), 1u);
  EXPECT_EQ(mlps[0].factor, 0.5);
  EXPECT_TRUE(mlps[0].layers.contains(4) && !mlps[0].layers.contains(5));
  EXPECT_TRUE(mlps[0].of_single_steps && !mlps[0].steps.contains(4));
}

TEST(ResidualChanges, ThatCannotBeReadAreRefused) {
  const TempFolder folder;
  const std::string file = write_npy(folder / "v.npy", "(2,)", {1, 2});
  for (const std::string& text :
       std::vector<std::string>{"", "all", "=" + file, "all=" + file, "@1=" + file, "all@=" + file,
                                "all@1=", "all@1:top=" + file, "all@1/=" + file, "all@x=" + file,
                                "all@1=x*" + file, "all@1=nan*" + file, "5,3@1=" + file, "3,3@1=" + file})
    EXPECT_TRUE(fails_with<UsageError>([&] { parse_changes(steer(text)); }, {"`steer`"})) << text;
  for (const char* text : {"", "3", "=0", "3=x", "3=-1", "3/=0", "x=0"})
    EXPECT_TRUE(fails_with<UsageError>([&] { parse_changes(mlp(text)); }, {"`scale_mlp`"})) << text;
  EXPECT_TRUE(fails_with<Error>([&] { parse_changes(patch("0@1=" + (folder / "none.npy").string())); },
                                {"none.npy"}));
  const std::string nan = write_npy(folder / "nan.npy", "(2,)", {1, NAN});
  EXPECT_TRUE(fails_with<InputError>([&] { parse_changes(patch("0@1=" + nan)); }, {"nan.npy", "finite"}));
  EXPECT_TRUE(fails_with<InputError>([&] { parse_changes(steer("0@1=1e39*" + file)); }, {"v.npy", "finite"}));
  const std::string deep = write_npy(folder / "deep.npy", "(1, 1, 2)", {1, 2});
  EXPECT_TRUE(
      fails_with<InputError>([&] { parse_changes(steer("0@1=" + deep)); }, {"deep.npy", "3 dimensions"}));
  const std::string none = write_npy(folder / "zero.npy", "(0,)", {});
  EXPECT_TRUE(
      fails_with<InputError>([&] { parse_changes(steer("0@1=" + none)); }, {"zero.npy", "0 numbers"}));
}

// Reads the stream behind one layer, at some positions of the first forward.
class ReadStates final : public probe::Probe {
 public:
  ReadStates(std::int64_t layer, Ids rows) : layer_(layer), rows_(std::move(rows)) {}
  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent&) override {
    probe::LayerRequest request;
    if (address.step != 0 || address.layer != layer_) return request;
    request.residual.rows = rows_;
    request.residual.post = true;
    return request;
  }
  void take(const probe::Address&, probe::LayerRecord&& record) override { states = record.residual.post; }

  std::vector<float> states;

 private:
  std::int64_t layer_;
  Ids rows_;
};

class PlantedStream : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::int64_t kSlots = 8;

  PlantedStream() : model_(load_model(testing::pair_model(GetParam()).path)) {
    const auto data = testing::write_world(scratch_, {.count = 12, .passages = 3, .relation = 2});
    const auto spec = testing::pair_spec(data, {});
    const Prompter prompter(spec.prompt_template, {}, testing::pair_model(GetParam()).path, model_.tokenizer);
    for (const auto& item : questions::read_items(data, {})) prompts_.push_back(prompter.prompt(item));
  }

  // Positions of the answer in its passage, and the tokens there.
  Ids fact_positions(const ItemPrompt& prompt) const {
    Ids out;
    for (size_t i = 0; i < prompt.regions.evidence.size(); ++i) {
      if (prompt.regions.evidence[i] != 0) out.push_back(static_cast<std::int32_t>(i));
    }
    return out;
  }
  Ids fact(const ItemPrompt& prompt) const {
    Ids out;
    for (const auto position : fact_positions(prompt))
      out.push_back(prompt.prompt.ids[static_cast<size_t>(position)]);
    return out;
  }
  ItemPrompt with_fact(ItemPrompt prompt, const Ids& other) const {
    const Ids positions = fact_positions(prompt);
    for (size_t i = 0; i < positions.size(); ++i)
      prompt.prompt.ids[static_cast<size_t>(positions[i])] = other[i];
    return prompt;
  }
  // Pairs of questions whose answers have as many tokens.
  struct Pair {
    const ItemPrompt& own;
    Ids other;
  };
  std::vector<Pair> pairs() const {
    std::vector<Pair> out;
    for (size_t i = 0; i + 1 < prompts_.size(); i += 2) {
      const Ids own = fact(prompts_[i]), other = fact(prompts_[i + 1]);
      if (own.size() == other.size() && own != other) out.push_back({prompts_[i], other});
    }
    return out;
  }

  Ids answer(const ItemPrompt& prompt, const Changes& changes, probe::Probe* observer = nullptr) {
    DecodeOptions decode;
    decode.max_new_tokens = kSlots;
    if (GetParam()) decode.steps = 4;
    const auto machine = make_machine(model_.model, decode, prompt.prompt.ids, model_.tokenizer);
    decode::StepMachine* machines[] = {machine.get()};
    ChangingProbe changing(changes, model_.model.config(), {{}, std::ssize(prompt.prompt.ids) + kSlots, 4},
                           observer);
    ThreadPool threads(1);
    decode::drive({threads}, model_.model, machines, nullptr, &changing);
    return {machine->generated().begin(), machine->generated().end()};
  }
  static bool begins_with(const Ids& answer, const Ids& with) {
    return answer.size() >= with.size() && std::equal(with.begin(), with.end(), answer.begin());
  }

  TempFolder scratch_;
  LoadedModel model_;
  std::vector<ItemPrompt> prompts_;
};
INSTANTIATE_TEST_SUITE_P(Pair, PlantedStream, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "diffusion" : "autoregressive"; });

TEST_P(PlantedStream, APatchedPositionCarriesTheFact) {
  constexpr std::int64_t kLayer = 1;
  const auto asked = pairs();
  ASSERT_GE(asked.size(), 3u);
  for (const auto& [own, other] : asked) {
    ASSERT_TRUE(begins_with(answer(own, {}), fact(own))) << own.id;
    const ItemPrompt changed = with_fact(own, other);
    const auto patched_at = [&](const Ids& positions) {
      ReadStates read(kLayer, positions);
      EXPECT_TRUE(begins_with(answer(changed, {}, &read), other)) << own.id;
      Changes patched;
      ResidualVectors vectors;
      vectors.positions = {positions.begin(), positions.end()};
      vectors.layers = {std::to_string(kLayer), kPatchField};
      vectors.replace = true;
      vectors.values = read.states;
      patched.residual.push_back(vectors);
      return answer(own, patched);
    };
    EXPECT_TRUE(begins_with(patched_at(fact_positions(own)), other)) << own.id;
    // All positions in front of the fact, of the same run, carry nothing of it.
    Ids before(static_cast<size_t>(fact_positions(own).front()));
    std::iota(before.begin(), before.end(), 0);
    EXPECT_TRUE(begins_with(patched_at(before), fact(own))) << own.id;
  }
}

TEST_P(PlantedStream, ADirectionDecidesTheAnswer) {
  const ModelConfig& config = model_.model.config();
  const Weight& head = model_.model.weights().head;
  for (const auto& [own, other] : pairs()) {
    // From the one word to the other, behind the last layer, at every position that writes.
    std::vector<float> toward(static_cast<size_t>(config.hidden)), away(toward.size());
    to_float(head, other[0] * config.hidden, config.hidden, toward.data());
    to_float(head, fact(own)[0] * config.hidden, config.hidden, away.data());
    Changes steered;
    ResidualVectors vectors;
    vectors.layers = {std::to_string(config.layers - 1), kSteerField};
    for (size_t d = 0; d < toward.size(); ++d) vectors.values.push_back(toward[d] - away[d]);
    steered.residual.push_back(vectors);
    auto& values = steered.residual[0].values;
    const auto plain = answer(own, {});
    for (float& value : values) value *= 1e-6f;
    EXPECT_EQ(answer(own, steered), plain) << own.id;
    for (float& value : values) value *= 1e8f;
    const auto found = answer(own, steered);
    EXPECT_EQ(found[0], other[0]) << own.id;
    for (float& value : values) value = -value;
    EXPECT_EQ(answer(own, steered)[0], fact(own)[0]) << own.id;
  }
}

TEST_P(PlantedStream, WithoutTheMlpsOfAllLayersNothingIsAnswered) {
  Changes off;
  off.mlps.push_back({{}, {}, false, 0});
  int right = 0;
  for (const auto& prompt : prompts_) right += begins_with(answer(prompt, off), fact(prompt));
  EXPECT_LE(right, 1);
  off.mlps[0].factor = 1;
  EXPECT_EQ(answer(prompts_[0], off), answer(prompts_[0], {}));
}

TEST_P(PlantedStream, ChangesOfWhatIsNotThereAreRefused) {
  const ModelConfig& config = model_.model.config();
  const auto hidden = static_cast<size_t>(config.hidden);
  ResidualVectors good;
  good.positions = {3};
  good.values.assign(hidden, 1.0f);
  const auto refused = [&](const ResidualVectors& vectors, std::initializer_list<std::string> said) {
    Changes changes;
    changes.residual = {vectors};
    return fails_with<UsageError>([&] { ChangingProbe(changes, config, {{}, 20, 4}, nullptr); }, said);
  };
  auto bad = good;
  bad.layers = {"6", kSteerField};
  EXPECT_TRUE(refused(bad, {"`steer`", "below 6", "6"}));
  bad = good;
  bad.values.pop_back();
  EXPECT_TRUE(refused(bad, {"`steer`", std::to_string(hidden), std::to_string(hidden - 1)}));
  bad = good;
  bad.replace = true;
  bad.positions = {20};
  EXPECT_TRUE(refused(bad, {"`patch`", "below 20"}));
  bad = good;
  bad.positions.clear();
  bad.where = "title";
  EXPECT_TRUE(refused(bad, {"`steer`", "title"}));
  bad.where = "all";
  bad.values.assign(2 * hidden, 1.0f);
  EXPECT_TRUE(refused(bad, {"`steer`", "20 positions"}));
  bad = good;
  bad.steps = {"4", kSteerField};
  bad.of_single_steps = true;
  EXPECT_TRUE(refused(bad, {"`steer`", GetParam() ? "steps below 4" : "no steps"}));
  Changes mlps;
  mlps.mlps.push_back({{"6", kMlpField}, {}, false, 0});
  EXPECT_TRUE(fails_with<UsageError>(
      [&] {
        ChangingProbe(mlps, config, {{}, 20, 4}, nullptr);
      },
      {"`scale_mlp`", "below 6"}));
}

}  // namespace
}  // namespace buoy::run
