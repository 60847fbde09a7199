// Heads of 64 and 128, for which the card has kernels of their own, on random checkpoints: plain and shared
// keys, bidirectional and causal, lengths on both sides of a tile. The bound is that of cuda_test.cc.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/model/device/device_weights.h"
#include "model/cuda_run.h"

namespace buoy {
namespace {

using testing::Ids;
using testing::relative_difference;

struct Shape {
  const char* name;
  benchmark::ShapeOfModel model;
};

class ShapesCuda : public ::testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    benchmark::write_random_checkpoint(folder_.path() / "model", GetParam().model, 3);
  }
  std::vector<float> logits(model::Model& model, const Ids& ids, probe::Probe* probe = nullptr) {
    const Ids rows = testing::all_rows(ids.size());
    const float* found =
        model.forward({threads_}, std::vector<model::SequenceInput>{{ids, rows, nullptr, {}}}, probe);
    return {found, found + ids.size() * static_cast<size_t>(model.config().vocabulary)};
  }

  testing::TempFolder folder_;
  ThreadPool threads_{4};
};

// Takes attention received and checks that every query gave away all it had.
class Sums final : public probe::Probe {
 public:
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest r;
    r.received = r.entropy = r.qk_after = r.qk_before = true;
    return r;
  }
  void take(const probe::Address&, probe::LayerRecord&& record) override {
    double sum = 0;
    for (const float value : record.received) sum += value;
    const auto expected = static_cast<double>(record.states.heads * record.states.query_rows);
    EXPECT_NEAR(sum, expected, 1e-2 * expected);
    ++layers;
  }
  int layers = 0;
};

TEST_P(ShapesCuda, LikeTheCpu) {
  const auto folder = folder_.path() / "model";
  model::Model cpu = model::Model::load(folder), gpu = model::Model::load(folder, Device::kCuda);
  const testing::PlainBf16 plain(folder);
  for (const std::int32_t length : {1, 63, 64, 200}) {
    Ids ids;
    for (std::int32_t i = 0; i < length; ++i) ids.push_back((i * 37 + length) % 500);
    const auto expected = logits(cpu, ids), found = logits(gpu, ids);
    const double bound = 2 * relative_difference(plain.forward(ids), expected);
    EXPECT_LE(relative_difference(found, expected), bound) << length;
    Sums sums;
    EXPECT_EQ(logits(gpu, ids, &sums), found) << "watched, " << length;
    EXPECT_EQ(sums.layers, 2);
  }
}

TEST(WeightsCuda, MoreThanTheCardHoldsIsRefusedWithNumbers) {
  BUOY_NEEDS_GPU();
  auto shape = benchmark::llada_8b();
  const DeviceInfo card = usable_devices()[0];
  const std::uint64_t of_layer = 2 * (4 * 4096 * 4096 + 3 * 4096 * 12288) + 2 * 4096 * sizeof(float);
  shape.layers = static_cast<std::int64_t>(card.memory_bytes / of_layer) + 1;
  const std::uint64_t needed = static_cast<std::uint64_t>(shape.layers) * of_layer +
                               std::uint64_t{2} * 2 * 126464 * 4096 + 4096 * sizeof(float);
  try {
    model::DeviceWeights::random(benchmark::config_of(shape), {}, 1);
    FAIL() << "the card has " << card.memory_bytes << " bytes";
  } catch (const UsageError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find(describe_bytes(needed)), std::string::npos) << said;
    EXPECT_NE(said.find("GiB free"), std::string::npos) << said;
    RecordProperty("message", said);
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, ShapesCuda,
                         ::testing::Values(Shape{"llada128", {Family::kLlada, 256, 2, 2, 2, 128, 384, 512}},
                                           Shape{"llada64", {Family::kLlada, 256, 2, 4, 4, 64, 384, 512}},
                                           Shape{"llama128", {Family::kLlama, 512, 2, 4, 2, 128, 384, 512}},
                                           Shape{"llama64", {Family::kLlama, 256, 2, 4, 1, 64, 384, 512}}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace buoy
