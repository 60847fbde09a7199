#include "buoy/observe/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "buoy/base/error.h"
#include "buoy/trace/sample.h"
#include "buoy/trace/schema.h"

namespace buoy::observe {
namespace {

constexpr std::int64_t kTokens = 4, kHeads = 2;

Subject small_subject() {
  return {.tokens = kTokens,
          .prompt_length = 2,
          .steps = 2,
          .layers = 2,
          .heads = kHeads,
          .kv_heads = 1,
          .head_dim = 3,
          .prediction_offset = 0,
          .mask_token = 9,
          .end_tokens = {7},
          .regions = {{"bos", "query", "answer", "padding"}, {0, 1, 2, 2}, {}, {0, 1, 0, 0}},
          .groups = QueryGroups::by_state()};
}

std::vector<float> counted(std::int64_t count, float start) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) out[i] = start + static_cast<float>(i);
  return out;
}

std::vector<float> summed(const std::vector<float>& weights, const KeySets& sets) {
  std::vector<float> out;
  for (size_t row = 0; row * kTokens < weights.size(); ++row) {
    for (std::int64_t set = 0; set < sets.count(); ++set) {
      float sum = 0;
      for (const auto& run : sets.of(set)) {
        for (auto key = run.begin; key < run.end; ++key)
          sum += weights[row * kTokens + static_cast<size_t>(key)];
      }
      out.push_back(sum);
    }
  }
  return out;
}

// Answers every request of two steps and two layers with numbers that tell where they come from.
void feed(Recorder& recorder, const std::vector<std::int32_t>& row, std::int64_t step) {
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const probe::Address address{0, step, 0, layer};
    const auto request = recorder.request(address, {kTokens, kTokens, kHeads, row});
    if (!request.any()) continue;
    const float base = static_cast<float>(1000 * step + 100 * layer);
    probe::LayerRecord record;
    if (request.received) record.received = counted(request.groups * kHeads * kTokens, base);
    if (request.value_norm) record.value_norm = counted(kTokens, 2);
    if (request.norms) record.query_norm = counted(kHeads * kTokens, 0);
    if (request.norms) record.key_norm = counted(kTokens, 0);
    const auto rows = counted(std::ssize(request.rows) * kHeads * kTokens, base);
    if (request.row_weights) record.row_weights = rows;
    if (request.row_mass) record.row_mass = summed(rows, *request.key_sets);
    if (request.group_mass) record.group_mass = summed(record.received, *request.key_sets);
    recorder.take(address, std::move(record));
  }
}

const trace::Array& find(const std::vector<trace::Array>& arrays, std::string_view name) {
  const auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](const auto& a) { return a.name == name; });
  if (found == arrays.end()) throw std::runtime_error("no array " + std::string(name));
  return *found;
}

float value(const trace::Array& array, size_t i) {
  float out = 0;
  std::memcpy(&out, array.bytes.data() + 4 * i, 4);
  return out;
}

TEST(Recorder, PutsEveryStepAndLayerInItsPlace) {
  Recorder recorder(parse_plan("received,mass,row-mass,contribution", "", ""), small_subject());
  feed(recorder, {1, 2, 9, 9}, 0);
  feed(recorder, {1, 2, 9, 7}, 1);
  const auto arrays = recorder.arrays();
  const auto& received = find(arrays, trace::kReceived);
  EXPECT_EQ(received.shape, (std::vector<std::int64_t>{2, 2, 4, kHeads, kTokens}));
  EXPECT_EQ(value(received, 0), 0);
  EXPECT_EQ(value(received, 32), 100) << "layer 1 of step 0";
  EXPECT_EQ(value(received, 64), 1000) << "layer 0 of step 1";
  // Region sums by hand: group 0, head 0 of step 0, layer 0 holds 0 1 2 3: bos 0, query 1, answer 2 + 3.
  const auto& mass = find(arrays, trace::kMass);
  EXPECT_EQ(mass.shape, (std::vector<std::int64_t>{2, 2, 4, kHeads, 4}));
  EXPECT_EQ(value(mass, 0), 0);
  EXPECT_EQ(value(mass, 1), 1);
  EXPECT_EQ(value(mass, 2), 5);
  EXPECT_EQ(value(mass, 3), 0) << "no end token yet";
  // Step 1 saw an end token at 3: 1000 1001 1002 | 1003.
  EXPECT_EQ(value(mass, 2 * 32 + 2), 1002);
  EXPECT_EQ(value(mass, 2 * 32 + 3), 1003);
  // Rows 2 and 3 write the answer; evidence is token 1 alone. Row 3, head 1 holds 12 13 14 15.
  EXPECT_EQ(find(arrays, trace::kRowMass).shape, (std::vector<std::int64_t>{2, 2, 2, kHeads, 4}));
  EXPECT_EQ(value(find(arrays, trace::kEvidenceMass), 3), 13);
  // Contribution of token 0 in head 0: groups hold 0, 8, 16, 24 there; its value vector is 2 long.
  EXPECT_EQ(value(find(arrays, trace::kContribution), 0), (0 + 8 + 16 + 24) * 2);
  trace::Sample sample{"a", arrays, {}};
  EXPECT_NO_THROW(trace::check_sample(sample));
}

// Lengths of outputs by head, cosines by key/value head; all layers of a sample share what keeps the step
// before.
TEST(Recorder, PutsOutputsAndDriftInTheirPlace) {
  Recorder recorder(parse_plan("head-norms,kv-drift", "", ""), small_subject());
  std::shared_ptr<probe::PreviousKeys> previous;
  for (std::int64_t step = 0; step < 2; ++step) {
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      const probe::Address address{0, step, 0, layer};
      const std::vector<std::int32_t> row = {1, 2, 9, 9};
      const auto asked = recorder.request(address, {kTokens, kTokens, kHeads, row});
      EXPECT_TRUE(asked.head_norm && asked.previous_keys && !asked.needs_normaliser());
      if (!previous) previous = asked.previous_keys;
      EXPECT_EQ(asked.previous_keys, previous);
      EXPECT_EQ(previous->of_layer.size(), 2u);
      probe::LayerRecord record;
      record.head_norm = counted(kHeads * kTokens, static_cast<float>(100 * step + 10 * layer));
      record.key_cosine = {1, 0.5f, 0, -1};
      record.value_cosine = {static_cast<float>(layer), 1, 1, 1};
      recorder.take(address, std::move(record));
    }
  }
  const auto expected = recorder.expected_bytes();
  const auto arrays = recorder.arrays();
  const auto& norms = find(arrays, trace::kHeadNorm);
  EXPECT_EQ(norms.shape, (std::vector<std::int64_t>{2, 2, kHeads, kTokens}));
  EXPECT_EQ(value(norms, 3 * 8 + 5), 115) << "head 1, token 1 of layer 1, step 1";
  EXPECT_EQ(find(arrays, trace::kKeyCosine).shape, (std::vector<std::int64_t>{2, 2, 1, kTokens}));
  EXPECT_EQ(value(find(arrays, trace::kKeyCosine), 7), -1);
  EXPECT_EQ(value(find(arrays, trace::kValueCosine), 4), 1) << "layer 1";
  EXPECT_EQ(expected.all, 4u * (2 * 2 * 2 * 4 + 2 * 2 * 2 * 4 + 2 * 4));
  EXPECT_NO_THROW(trace::check_sample({"a", arrays, {}}));
}

// Routers decide for every token; a layer without experts says so.
TEST(Recorder, PutsWhatRoutersDecideInItsPlace) {
  auto subject = small_subject();
  subject.experts = 5;
  subject.chosen = 2;
  Recorder recorder(parse_plan("routing", "", ""), subject);
  const std::vector<std::int32_t> row = {1, 2, 9, 9};
  for (std::int64_t step = 0; step < 2; ++step) {
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      const probe::Address address{0, step, 0, layer};
      const auto asked = recorder.request(address, {kTokens, kTokens, kHeads, row});
      EXPECT_TRUE(asked.routing && asked.any() && !asked.needs_normaliser());
      probe::LayerRecord record;
      const auto at = static_cast<std::int32_t>(step);
      record.routing = layer == 0
                           ? probe::RoutingRecord{std::vector<std::int32_t>(8, -1), std::vector<float>(8, 0),
                                                  std::vector<float>(4, 0), std::vector<std::int32_t>(5, 0)}
                           : probe::RoutingRecord{{0, 1, 2, 3, 4, 0, at, 2},
                                                  {.5f, .25f, .5f, .25f, .5f, .25f, .5f, .25f},
                                                  {1, 2, 3, 4},
                                                  {2 + (at == 0), 1 + (at == 1), 2, 1, 1}};
      recorder.take(address, std::move(record));
    }
  }
  const auto expected = recorder.expected_bytes();
  auto arrays = recorder.arrays();
  const auto& experts = find(arrays, trace::kRoutedExperts);
  EXPECT_EQ(experts.shape, (std::vector<std::int64_t>{2, 2, kTokens, 2}));
  std::vector<std::int32_t> numbers(32);
  std::memcpy(numbers.data(), experts.bytes.data(), experts.bytes.size());
  EXPECT_EQ(numbers[7], -1);
  EXPECT_EQ(numbers[8 + 4], 4) << "token 2, layer 1, step 0";
  EXPECT_EQ(numbers[24 + 6], 1) << "token 3, layer 1, step 1";
  EXPECT_EQ(value(find(arrays, trace::kRoutedWeights), 24 + 1), 0.25f);
  EXPECT_EQ(value(find(arrays, trace::kRouterEntropy), 12 + 3), 4);
  EXPECT_EQ(find(arrays, trace::kExpertLoad).shape, (std::vector<std::int64_t>{2, 2, 5}));
  std::uint64_t bytes = 0;
  for (const auto& array : arrays) {
    if (array.name.starts_with("rout") || array.name == trace::kExpertLoad ||
        array.name == trace::kTokensByStep)
      bytes += array.bytes.size();
  }
  EXPECT_EQ(bytes, expected.all);
  trace::Sample sample{"a", arrays, {{"prompt_length", "2"}}};
  EXPECT_NO_THROW(trace::check_sample(sample));
  // An expert that there is not.
  for (auto& array : sample.arrays) {
    const std::int32_t wrong = 5;
    if (array.name == trace::kRoutedExperts) std::memcpy(array.bytes.data(), &wrong, 4);
  }
  EXPECT_THROW(trace::check_sample(sample), UsageError);
}

// Positions 2 and 3 are generated; rows and held tokens are those of the positions.
TEST(Recorder, AsksForEveryGeneratedPositionAndPutsPredictionsByStep) {
  auto plan = parse_plan("predictions", "1", "");
  plan.predicted_tokens = 2;
  auto subject = small_subject();
  subject.prediction_offset = 1;
  Recorder recorder(plan, subject);
  for (const auto& [step, row] : {std::pair{0, std::vector<std::int32_t>{1, 2, 9, 9}}, {1, {1, 2, 9, 5}}}) {
    const probe::Address address{0, step, 0, probe::kWholeForward};
    const auto asked = recorder.predictions(address, {kTokens, kTokens, kHeads, row});
    EXPECT_EQ(asked.rows, (std::vector<std::int32_t>{1, 2}));
    EXPECT_EQ(asked.held, (std::vector<std::int32_t>{-1, row[3] == 9 ? -1 : 5}));
    EXPECT_EQ(asked.top, 2);
    EXPECT_FALSE(recorder.request({0, step, 0, 1}, {kTokens, kTokens, kHeads, row}).any());
    probe::LayerRecord record;
    const auto base = static_cast<float>(step) / 8;
    record.predictions = {{base, base + 0.25f}, {3, 4}, {0, 0}, {6, 5, 4, 3}, {0.5, 0.25, 0.5, 0.25}};
    recorder.take(address, std::move(record));
  }
  EXPECT_FALSE(recorder.predictions({0, 0, 1, probe::kWholeForward}, {}).any()) << "the unconditional branch";
  const auto expected = recorder.expected_bytes();
  auto arrays = recorder.arrays();
  const auto& confidence = find(arrays, trace::kPredictedConfidence);
  EXPECT_EQ(confidence.shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(value(confidence, 1), 0.25f);
  EXPECT_EQ(value(confidence, 3), 0.375f) << "of step 1";
  EXPECT_EQ(find(arrays, trace::kPredictedTokens).shape, (std::vector<std::int64_t>{2, 2, 2}));
  EXPECT_EQ(find(arrays, trace::kPredictedProbabilities).shape, (std::vector<std::int64_t>{2, 2, 2}));
  std::uint64_t bytes = 0;
  for (const auto& array : arrays) {
    if (array.name.starts_with("predicted_") || array.name == trace::kTokensByStep)
      bytes += array.bytes.size();
  }
  EXPECT_EQ(bytes, expected.all);
  trace::Sample sample{"a", std::move(arrays), {{"prompt_length", "2"}}};
  EXPECT_NO_THROW(trace::check_sample(sample));
  sample.metadata["prompt_length"] = "1";
  EXPECT_THROW(trace::check_sample(sample), Error) << "three positions were generated then";
}

TEST(Recorder, CountsGroupsAsTheForwardSawThem) {
  Recorder recorder(parse_plan("received", "", ""), small_subject());
  feed(recorder, {1, 2, 9, 9}, 0);
  feed(recorder, {1, 2, 3, 9}, 1);
  const auto arrays = recorder.arrays();
  std::vector<std::int32_t> sizes(8);
  std::memcpy(sizes.data(), find(arrays, trace::kGroupSizes).bytes.data(), 32);
  EXPECT_EQ(sizes, (std::vector<std::int32_t>{2, 0, 2, 0, 2, 1, 1, 0}));
}

TEST(Recorder, AsksForNothingOutsideThePlan) {
  Recorder recorder(parse_plan("received", "1", "0"), small_subject());
  const std::vector<std::int32_t> row = {1, 2, 9, 9};
  const probe::LayerExtent extent{kTokens, kTokens, kHeads, row};
  EXPECT_FALSE(recorder.request({0, 0, 0, 0}, extent).any()) << "another layer";
  EXPECT_FALSE(recorder.request({0, 1, 0, 1}, extent).any()) << "another step";
  EXPECT_FALSE(recorder.request({0, 0, 1, 1}, extent).any()) << "the unconditional branch";
  EXPECT_TRUE(recorder.request({0, 0, 0, 1}, extent).any());
}

TEST(Recorder, AForwardThatNeverCameIsABugAndNotZeros) {
  Recorder recorder(parse_plan("received", "", ""), small_subject());
  feed(recorder, {1, 2, 9, 9}, 0);
  EXPECT_THROW(recorder.arrays(), InternalError);
}

TEST(Recorder, AnnouncesExactlyTheBytesItWrites) {
  const std::string observed = "received,mass,row-mass,contribution,norms,value-norms";
  Recorder recorder(parse_plan(observed, "", ""), small_subject());
  const auto expected = recorder.expected_bytes();
  feed(recorder, {1, 2, 9, 9}, 0);
  feed(recorder, {1, 2, 3, 9}, 1);
  std::uint64_t bytes = 0;
  for (const auto& array : recorder.arrays()) {
    if (array.dtype == trace::DataType::kF32 || array.name == trace::kTokensByStep)
      bytes += array.bytes.size();
  }
  EXPECT_EQ(bytes, expected.all);
  EXPECT_EQ(expected.large, 0u);
  const auto dense =
      Recorder(parse_plan("dense,dense-mean,states", "", ""), small_subject()).expected_bytes();
  EXPECT_EQ(dense.large, 4u * 4 * (2 * 16 + 16 + 4 * (2 + 1 + 1) * 3));
}

}  // namespace
}  // namespace buoy::observe
