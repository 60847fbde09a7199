// Hiding the keys that received most in the step before, against a plain loop in double that does the same:
// the same ids at the same steps, on tiny models of every family, with caches and without.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "buoy/decode/decoding_rule.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/turn.h"
#include "buoy/model/model_reference.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/decoding.h"
#include "buoy/run/trace_request.h"
#include "buoy/run/trace_run.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/family_case.h"

namespace buoy::run {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kSlots = 8;
constexpr std::int64_t kHiddenKeys = 2;

Changes hide(std::int64_t keys) {
  ChangeTexts texts;
  texts.top.keys = std::to_string(keys);
  return parse_changes(texts);
}

struct TopModel {
  std::filesystem::path folder;
  std::string rule;  // "": the default
  std::string name() const {
    std::string out = folder.filename().string() + (rule.empty() ? "" : "-" + rule);
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
  }
};

std::vector<TopModel> top_models() {
  std::vector<TopModel> out;
  for (const auto& name : testing::golden_cases())
    out.push_back({testing::data_folder() / "goldens" / name, ""});
  for (const auto& name : testing::dense_family_cases()) {
    const bool a2d = name.starts_with("a2d");
    out.push_back({testing::family_folder(name), a2d ? "bd3lm" : ""});
    if (a2d) out.push_back({testing::family_folder(name), "mdlm"});
    if (name.starts_with("nemotron")) out.push_back({testing::family_folder(name), "autoregressive"});
  }
  for (const auto& name : testing::expert_cases())
    out.push_back({testing::family_folder(name), name.starts_with("llada2") ? "llada2" : ""});
  return out;
}

// Minus infinity on the keys of the last forward that received most, per head, by a plain sort.
class PlainHider final : public probe::Probe {
 public:
  PlainHider(const ModelConfig& config, bool last_row) : config_(config), last_row_(last_row) {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override { return {}; }
  void take(const probe::Address&, probe::LayerRecord&&) override {}
  probe::Change change(const probe::Address& address, const probe::LayerExtent& extent) override {
    const auto seen = seen_.find({address.branch, address.layer});
    if (seen == seen_.end()) return {};
    auto& bias = bias_[{address.branch, address.layer}];
    bias.assign(static_cast<size_t>(config_.heads * extent.key_rows), 0.0f);
    const auto keys = std::ssize(seen->second) / config_.heads;
    for (std::int64_t head = 0; head < config_.heads; ++head) {
      const double* received = seen->second.data() + head * keys;
      std::vector<std::int64_t> order;
      for (std::int64_t k = 0; k < keys; ++k) {
        if (received[k] > 0) order.push_back(k);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t a, std::int64_t b) { return received[a] > received[b]; });
      for (std::int64_t n = 0; n < std::min(kHiddenKeys, std::ssize(order)); ++n) {
        if (order[static_cast<size_t>(n)] < extent.key_rows)
          bias[static_cast<size_t>(head * extent.key_rows + order[static_cast<size_t>(n)])] =
              -std::numeric_limits<float>::infinity();
      }
    }
    return {bias, {}};
  }

  void look(std::int64_t branch, const model::PlainStates<double>& states, std::int64_t rows,
            std::int64_t keys) {
    for (size_t l = 0; l < states.layers.size(); ++l) {
      const auto& weights = states.layers[l].weights;
      std::vector<double> received(static_cast<size_t>(config_.heads * keys), 0.0);
      for (std::int64_t head = 0; head < config_.heads; ++head) {
        for (std::int64_t row = last_row_ ? rows - 1 : 0; row < rows; ++row) {
          for (std::int64_t k = 0; k < keys; ++k)
            received[static_cast<size_t>(head * keys + k)] +=
                weights[static_cast<size_t>((head * rows + row) * keys + k)];
        }
      }
      seen_[{branch, static_cast<std::int64_t>(l)}] = std::move(received);
    }
  }

 private:
  const ModelConfig& config_;
  bool last_row_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> seen_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<float>> bias_;
};

class TopKeysReference : public ::testing::TestWithParam<TopModel> {
 protected:
  TopKeysReference() : threads_(2), model_(model::Model::load(GetParam().folder)) {
    if (!GetParam().rule.empty()) options_.decoding_rule = GetParam().rule;
    options_.max_new_tokens = kSlots;
    // Random networks of next tokens may end at once.
    if (last_row()) options_.eos_tokens = {static_cast<std::int32_t>(config().vocabulary - 1)};
    if (decode::decodes_masks(config(), options_)) {
      if (!config().mask_token) options_.mask_token = static_cast<std::int32_t>(config().vocabulary - 1);
      if (decode::decodes_blocks(config(), options_) && !config().block_length) options_.block_length = 4;
    }
    for (std::int32_t i = 0; i < 11; ++i)
      prompt_.push_back((i * 37 + 5) % static_cast<std::int32_t>(config().vocabulary - 8));
  }

  const ModelConfig& config() const { return model_.config(); }
  bool last_row() const { return !decode::decodes_masks(config(), options_); }
  std::unique_ptr<decode::StepMachine> machine() {
    auto out = make_machine(model_, options_, prompt_, std::nullopt);
    out->store_apart();  // the plain loop knows one forward at a time
    return out;
  }
  ChangedRow row() const {
    ChangedRow out;
    out.tokens = std::ssize(prompt_) + kSlots;
    out.steps = kSlots;
    out.prompt = prompt_;
    out.left_to_right = last_row();
    return out;
  }

  // Reveals of every step, with their confidences.
  std::vector<double> confidences(decode::StepMachine& machine, probe::Probe* probe) {
    std::vector<double> out;
    decode::StepMachine* machines[] = {&machine};
    decode::drive(
        {threads_}, model_, machines,
        [&](size_t, const auto&, const decode::StepRecord& record) {
          for (const auto& one : record.reveals) out.push_back(one.confidence);
        },
        probe);
    return out;
  }

  void drive_plainly(decode::StepMachine& machine) {
    const model::ModelReference exact(config(), model_.weights());
    PlainHider hider(config(), last_row());
    model::PlainCache<double> past;
    const std::int64_t width = config().kv_heads * config().head_dim;
    while (!machine.finished()) {
      const auto turn = decode::next_turn(machine, 0);
      std::vector<std::vector<float>> logits;
      for (const auto& input : turn.forwards) {
        const auto states = exact.forward(input, &hider, input.cache != nullptr ? &past : nullptr);
        hider.look(input.address.branch, states, input.rows(), input.key_rows());
        auto& rows = logits.emplace_back();
        for (const auto row : input.logit_rows) {
          const auto first = states.logits.begin() + row * config().vocabulary;
          rows.insert(rows.end(), first, first + config().vocabulary);
        }
        if (input.cache == nullptr || input.replaces_from || !input.extends_cache) continue;
        const std::vector<float> zeros(static_cast<size_t>(input.rows() * width));
        for (std::int64_t layer = 0; layer < config().layers; ++layer)
          input.cache->append(layer, zeros.data(), zeros.data(), input.rows());
        input.cache->advance(input.rows());
      }
      std::vector<decode::LogitRows> rows;
      for (const auto& one : logits) rows.push_back({one.data(), config().vocabulary});
      machine.advance(rows);
    }
  }

  ThreadPool threads_;
  model::Model model_;
  DecodeOptions options_;
  Ids prompt_;
};
INSTANTIATE_TEST_SUITE_P(Families, TopKeysReference, ::testing::ValuesIn(top_models()),
                         [](const auto& test) { return test.param.name(); });

TEST_P(TopKeysReference, SameIdsAtTheSameSteps) {
  const auto fast = machine(), plain = machine(), unchanged = machine();
  const auto changes = hide(kHiddenKeys);
  ChangingProbe changing(changes, config(), row(), nullptr);
  const auto changed = confidences(*fast, &changing);
  drive_plainly(*plain);
  EXPECT_EQ(fast->row(), plain->row());
  EXPECT_EQ(fast->revealed_at(), plain->revealed_at());
  EXPECT_NE(changed, confidences(*unchanged, nullptr));  // something was hidden
}

TEST_P(TopKeysReference, NoKeysChangeNothing) {
  const auto changed = machine(), unchanged = machine();
  const auto changes = hide(0);
  ChangingProbe changing(changes, config(), row(), nullptr);
  EXPECT_EQ(confidences(*changed, &changing), confidences(*unchanged, nullptr));
  EXPECT_EQ(changed->row(), unchanged->row());
}

// Sees queries in groups of its own.
class GroupingObserver final : public probe::Probe {
 public:
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    probe::LayerRequest out;
    out.received = true;
    out.groups = 2;
    for (std::int64_t row = 0; row < extent.query_rows; ++row)
      out.group_of_row.push_back(row % 3 == 2 ? probe::kNoGroup : static_cast<std::uint8_t>(row % 3));
    return out;
  }
  void take(const probe::Address&, probe::LayerRecord&& record) override {
    ++records;
    EXPECT_TRUE(record.followed.empty());
    EXPECT_FALSE(record.received.empty());
  }
  bool takes_parts() const override { return true; }
  int records = 0;
};

TEST_P(TopKeysReference, ChooseAlikeWhoeverLooks) {
  const auto watched = machine(), alone = machine();
  const auto changes = hide(kHiddenKeys);
  GroupingObserver observer;
  ChangingProbe both(changes, config(), row(), &observer), one(changes, config(), row(), nullptr);
  EXPECT_EQ(confidences(*watched, &both), confidences(*alone, &one));
  EXPECT_EQ(watched->row(), alone->row());
  EXPECT_GT(observer.records, 0);
}

// Watched as well, where blocks are decoded: twice, so that the number of forwards is known.
class TopKeysReferenceOfBlocks : public TopKeysReference {};

std::vector<TopModel> block_models() {
  std::vector<TopModel> out;
  for (auto& one : top_models()) {
    const std::string name = one.name();
    const bool blocks = name.starts_with("sdar") || name.starts_with("fast_dllm") ||
                        name.starts_with("llada2") || name.ends_with("bd3lm") ||
                        (name.starts_with("nemotron") && one.rule.empty());
    if (blocks) out.push_back(std::move(one));
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Families, TopKeysReferenceOfBlocks, ::testing::ValuesIn(block_models()),
                         [](const auto& test) { return test.param.name(); });

TEST_P(TopKeysReferenceOfBlocks, SameIdsInTheSameForwardsOfATrace) {
  ASSERT_TRUE(decode::decodes_blocks(config(), options_));
  const auto plain = machine();
  drive_plainly(*plain);
  testing::TempFolder scratch;
  TraceRequest request;
  request.folder = scratch / "trace";
  request.observe = "entropy,rows";
  request.items.resize(1);
  request.items[0].id = "only";
  request.ids = Prompt{};
  request.ids->ids = prompt_;
  request.decode = options_;
  request.changes = hide(kHiddenKeys);
  LoadedModel model = load_model(GetParam().folder);
  const auto result =
      run_trace({threads_}, model, make_trace_run(request, model), {[](const auto&) {}, [] {}});
  ASSERT_TRUE(result.failed.empty()) << result.failed.front().error;
  const auto sample = trace::TraceReader::open(request.folder).read("only");
  const Ids tokens = sample.integers(trace::kTokens);
  ASSERT_EQ(std::ssize(tokens), plain->decoded_length());
  EXPECT_EQ(tokens, Ids(plain->row().begin(), plain->row().begin() + std::ssize(tokens)));
  EXPECT_EQ(sample.shape(trace::kSteps)[0], plain->forward() + 1);  // and the look at the final row
}

}  // namespace
}  // namespace buoy::run
