// Keys that receive most, on a GPU: what is followed is the same to the bit whoever looks and in which
// groups, and what is hidden follows it.

#include <gtest/gtest.h>

#include "buoy/decode/drive.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/decoding.h"
#include "support/golden.h"
#include "support/gpu.h"

namespace buoy::run {
namespace {

class GpuObserver final : public probe::Probe {
 public:
  explicit GpuObserver(std::int64_t groups) : groups_(groups) {}
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    probe::LayerRequest out;
    out.received = out.entropy = true;
    out.groups = groups_;
    for (std::int64_t row = 0; groups_ > 1 && row < extent.query_rows; ++row)
      out.group_of_row.push_back(static_cast<std::uint8_t>(row % (groups_ + 1)));
    return out;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    EXPECT_TRUE(record.followed.empty());
    if (groups_ == 1) received[{address.step, address.layer}] = std::move(record.received);
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<float>> received;

 private:
  std::int64_t groups_;
};

class TopKeysCuda : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    model_.emplace(model::Model::load(testing::data_folder() / "goldens" / GetParam(), Device::kCuda));
    options_.max_new_tokens = 8;
    for (std::int32_t i = 0; i < 21; ++i)
      prompt_.push_back((i * 37 + 5) % static_cast<std::int32_t>(model_->config().vocabulary - 8));
  }
  // The confidences of all reveals.
  std::vector<double> decoded(probe::Probe* observer, std::int64_t keys) {
    ChangeTexts texts;
    texts.top.keys = std::to_string(keys);
    const auto changes = parse_changes(texts);
    ChangedRow row;
    row.tokens = std::ssize(prompt_) + 8, row.steps = 8, row.prompt = prompt_;
    row.left_to_right = !decode::decodes_masks(model_->config(), options_);
    ChangingProbe changing(changes, model_->config(), row, observer);
    const auto machine = make_machine(*model_, options_, prompt_, std::nullopt);
    decode::StepMachine* machines[] = {machine.get()};
    std::vector<double> out;
    decode::drive(
        {threads_}, *model_, machines,
        [&](size_t, const auto&, const decode::StepRecord& record) {
          for (const auto& one : record.reveals) out.push_back(one.confidence);
        },
        &changing);
    return out;
  }

  ThreadPool threads_{2};
  std::optional<model::Model> model_;
  DecodeOptions options_;
  std::vector<std::int32_t> prompt_;
};
INSTANTIATE_TEST_SUITE_P(Goldens, TopKeysCuda, ::testing::Values("llada-bf16", "dream-bf16", "qwen3-bf16"),
                         [](const auto& test) { return test.param.substr(0, test.param.find('-')); });

TEST_P(TopKeysCuda, AreChosenAlikeWhoeverLooks) {
  GpuObserver whole(1), grouped(3);
  const auto alone = decoded(nullptr, 2);
  EXPECT_EQ(decoded(&whole, 2), alone);
  EXPECT_EQ(decoded(&grouped, 2), alone);
  EXPECT_NE(decoded(nullptr, 0), alone);
}

TEST_P(TopKeysCuda, AreHiddenAsTheStepBeforeSays) {
  if (GetParam().starts_with("qwen")) return;  // the last row decides, which is not what is observed here
  GpuObserver whole(1);
  decoded(&whole, 2);
  const auto& config = model_->config();
  TopChange top;
  top.keys = 2;
  for (const auto& [at, now] : whole.received) {
    const auto before = whole.received.find({at.first - 1, at.second});
    const auto keys = std::ssize(now) / config.heads;
    for (std::int64_t head = 0; head < config.heads; ++head) {
      std::vector<std::int32_t> hidden;
      if (before != whole.received.end()) {
        const auto first = before->second.begin() + head * keys;
        hidden = choose_top_keys(top, std::vector<double>(first, first + keys), {});
      }
      for (std::int64_t key = 0; key < keys; ++key) {
        const bool is_hidden = std::binary_search(hidden.begin(), hidden.end(), key);
        EXPECT_EQ(now[static_cast<size_t>(head * keys + key)] == 0, is_hidden) << at.first << ' ' << head;
      }
    }
  }
}

}  // namespace
}  // namespace buoy::run
