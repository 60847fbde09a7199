// Masks that a config states, on the card: like the CPU, from a cache like recomputed, and nothing is seen
// that must not be. Heads of 64 and 128 have kernels of their own.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "model/cuda_run.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using testing::Ids;
using testing::relative_difference;

struct MaskedShape {
  const char *name, *mask;
  benchmark::ShapeOfModel model;
};

class MaskCuda : public ::testing::TestWithParam<MaskedShape> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    benchmark::write_random_checkpoint(folder(), GetParam().model, 3);
    Json config = read_json_file(folder() / "config.json");
    config["attention_mask_kind"] = GetParam().mask;
    write_file_atomically(folder() / "config.json", testing::to_text(config));
    gpu_.emplace(model::Model::load(folder(), Device::kCuda));
  }
  std::filesystem::path folder() const { return folder_.path() / "model"; }
  Ids ids(std::int32_t length, std::int32_t seed = 0) const {
    Ids out;
    for (std::int32_t i = 0; i < length; ++i) out.push_back((i * 37 + length + seed) % 500);
    return out;
  }
  std::vector<float> logits(model::Model& model, const std::vector<model::SequenceInput>& inputs,
                            probe::Probe* probe = nullptr) {
    size_t rows = 0;
    for (const auto& input : inputs) rows += input.logit_rows.size();
    const float* found = model.forward({threads_}, inputs, probe);
    return {found, found + rows * static_cast<size_t>(model.config().vocabulary)};
  }
  std::vector<float> whole(model::Model& model, const Ids& tokens, std::int64_t prefix) {
    const Ids rows = testing::all_rows(tokens.size());
    return logits(model, {{tokens, rows, nullptr, {}, prefix}});
  }

  testing::TempFolder folder_;
  ThreadPool threads_{4};
  std::optional<model::Model> gpu_;
};

// What every query gives away is all it has; what is given to a key comes from those that see it.
class Received final : public probe::Probe {
 public:
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest r;
    r.received = r.entropy = r.qk_after = r.qk_before = true;
    return r;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    received[address.layer] = record.received;
    moments[address.layer] = record.qk_after.dot;
  }
  std::map<std::int64_t, std::vector<float>> received, moments;
};

TEST_P(MaskCuda, LikeTheCpu) {
  model::Model cpu = model::Model::load(folder());
  const testing::PlainBf16 plain(folder());
  for (const std::int32_t length : {1, 64, 200, 300}) {
    for (const std::int64_t prefix : {0, 1, length / 2, length - 1, length}) {
      const Ids tokens = ids(length), rows = testing::all_rows(tokens.size());
      const std::vector<model::SequenceInput> inputs = {{tokens, rows, nullptr, {}, prefix}};
      Received of_cpu, of_gpu;
      const auto expected = logits(cpu, inputs, &of_cpu), found = logits(*gpu_, inputs);
      const double bound = 2 * relative_difference(plain.forward(tokens, prefix), expected);
      EXPECT_LE(relative_difference(found, expected), bound) << prefix << " of " << length;
      EXPECT_EQ(logits(*gpu_, inputs, &of_gpu), found) << "watched, " << prefix << " of " << length;
      // Layer 0 has the same states up to their rounding.
      EXPECT_LE(relative_difference(of_gpu.received[0], of_cpu.received[0]), 1.0 / 64);
      EXPECT_LE(relative_difference(of_gpu.moments[0], of_cpu.moments[0]), 1.0 / 64);
    }
  }
}

TEST_P(MaskCuda, ATokenThatIsNotSeenChangesNoLogit) {
  const std::int64_t prefix = 100;
  const Ids tokens = ids(200);
  const auto width = static_cast<size_t>(gpu_->config().vocabulary);
  const auto before = whole(*gpu_, tokens, prefix);
  for (const size_t key : {0, 50, 99, 100, 150, 199}) {
    Ids changed = tokens;
    changed[key] = (changed[key] + 7) % 500;
    const auto after = whole(*gpu_, changed, prefix);
    for (size_t row = 0; row < tokens.size(); ++row) {
      const bool same = std::equal(before.begin() + static_cast<std::int64_t>(row * width),
                                   before.begin() + static_cast<std::int64_t>((row + 1) * width),
                                   after.begin() + static_cast<std::int64_t>(row * width));
      const bool in_prefix =
          GetParam().mask == std::string("prefix") && static_cast<std::int64_t>(key) < prefix;
      EXPECT_EQ(same, key > row && !in_prefix) << "row " << row << ", token " << key;
    }
  }
}

TEST_P(MaskCuda, PackedFromACacheLikeTheWholeRow) {
  if (is_masked_diffusion(gpu_->config().family)) GTEST_SKIP() << "decodes without a cache";
  const testing::PlainBf16 plain(folder());
  model::Model cpu = model::Model::load(folder());
  const Ids one = ids(150), other = ids(70, 5);
  const Ids one_prompt(one.begin(), one.begin() + 130), other_prompt(other.begin(), other.begin() + 40);
  auto one_cache = gpu_->new_cache(), other_cache = gpu_->new_cache();
  logits(*gpu_, {{one_prompt, {}, &one_cache, {}, 130}, {other_prompt, {}, &other_cache, {}, 40}});
  const auto width = static_cast<std::int64_t>(gpu_->config().vocabulary);
  const auto whole_one = whole(cpu, one, 130), whole_other = whole(cpu, other, 40);
  const double bound = 2 * relative_difference(plain.forward(other, 40), whole_other);
  for (std::int64_t i = 0; i < 20; ++i) {
    const Ids a = {one[static_cast<size_t>(130 + i)]}, b = {other[static_cast<size_t>(40 + i)]}, row = {0};
    const auto found = logits(*gpu_, {{a, row, &one_cache, {}, 130}, {b, row, &other_cache, {}, 40}});
    std::vector<float> expected(whole_one.begin() + (130 + i) * width, whole_one.begin() + (131 + i) * width);
    expected.insert(expected.end(), whole_other.begin() + (40 + i) * width,
                    whole_other.begin() + (41 + i) * width);
    // Two rows vary more than all together.
    EXPECT_LE(relative_difference(found, expected), 2 * bound) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Masks, MaskCuda,
    ::testing::Values(MaskedShape{"prefix128", "prefix", {Family::kLlama, 512, 2, 4, 2, 128, 384, 512}},
                      MaskedShape{"prefix64", "prefix", {Family::kLlama, 256, 2, 4, 1, 64, 384, 512}},
                      MaskedShape{"causal_masked64", "causal", {Family::kLlada, 256, 2, 4, 4, 64, 384, 512}}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace buoy
