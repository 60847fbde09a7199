// Families with experts: logits, attention and routing against tools/goldens/FAMILIES.md, by the bounds of
// parity_test.cc; and their bits.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include "buoy/base/error.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/model/model_reference.h"
#include "model/golden_run.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy {
namespace {

using namespace testing;
using model::BlockGrid;
using model::Model;
using model::SequenceInput;

// Attention and routing of every layer.
class Watching final : public probe::Probe {
 public:
  explicit Watching(bool dense = true) : dense_(dense) {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest request;
    request.dense = dense_;
    request.routing = true;
    return request;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    attention[address.layer] = {record.dense.begin(), record.dense.end()};
    routing[{address.sequence, address.layer}] = std::move(record.routing);
  }

  std::map<std::int64_t, std::vector<double>> attention;
  std::map<std::pair<std::int64_t, std::int64_t>, probe::RoutingRecord> routing;

 private:
  bool dense_;
};

void expect_close(const Golden& golden, const std::string& array, const std::vector<double>& ours) {
  const auto exact = golden.numbers(array + "_f64");
  ASSERT_EQ(ours.size(), exact.size()) << array;
  EXPECT_LE(rms_difference(ours, exact), 2 * rms_difference(golden.numbers(array + "_f32"), exact)) << array;
}

std::vector<double> doubles(const float* from, size_t count) {
  return {from, from + count};
}

std::string test_name(const ::testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

struct NamedGrid {
  const char* name;
  std::optional<BlockGrid> grid;
};
constexpr NamedGrid kReadings[] = {
    {"full", std::nullopt}, {"causal", std::nullopt}, {"block4", BlockGrid{4}}};

// Entropies follow from the stored scores: the softmax, or sigmoids over their sum. A bias is part of them.
std::vector<double> entropies(const Golden& golden, const std::string& scores, std::int64_t experts) {
  const auto all = golden.numbers(scores + "_f64");
  std::vector<double> out;
  for (size_t row = 0; row < all.size(); row += static_cast<size_t>(experts)) {
    double sum = 0, entropy = 0;
    for (size_t e = row; e < row + static_cast<size_t>(experts); ++e) sum += all[e];
    for (size_t e = row; e < row + static_cast<size_t>(experts); ++e)
      entropy -= all[e] / sum * std::log(all[e] / sum);
    out.push_back(entropy);
  }
  return out;
}

class ExpertParity : public ::testing::TestWithParam<std::string> {};

TEST_P(ExpertParity, LogitsAttentionAndRouting) {
  const Golden golden(family_folder(GetParam()));
  ThreadPool threads(2);
  Model model = Model::load(golden.folder());
  const ModelConfig& config = model.config();
  const auto ids = golden.ids("A.ids");
  const auto rows = all_rows(ids.size());
  int readings = 0;
  for (const auto& [reading, grid] : kReadings) {
    const std::string name = std::string("A.") + reading;
    if (!golden.has(name + ".logits_f64")) continue;
    ++readings;
    Watching watch;
    SequenceInput input{ids, rows};
    input.grid = grid;
    const float* logits = model.forward({threads}, {&input, 1}, &watch);
    const auto ours = doubles(logits, ids.size() * static_cast<size_t>(config.vocabulary));
    expect_close(golden, name + ".logits", ours);
    if (golden.has(name + ".logits_plain16")) {
      const auto exact = golden.numbers(name + ".logits_f64");
      EXPECT_LE(rms_difference(ours, exact),
                2 * rms_difference(golden.numbers(name + ".logits_plain16"), exact));
    }
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
      const std::string prefix = name + ".layer_" + std::to_string(layer);
      expect_close(golden, prefix + "_attention", watch.attention.at(layer));
      const probe::RoutingRecord& routing = watch.routing.at({0, layer});
      EXPECT_EQ(golden.has(prefix + "_router_experts"), is_mixture(config, layer)) << layer;
      if (!is_mixture(config, layer)) {
        const auto chosen = static_cast<size_t>(config.experts->chosen);
        EXPECT_EQ(routing.experts, std::vector<std::int32_t>(ids.size() * chosen, -1));
        EXPECT_EQ(routing.weights, std::vector<float>(ids.size() * chosen, 0));
        EXPECT_EQ(routing.load, std::vector<std::int32_t>(static_cast<size_t>(config.experts->count), 0));
        continue;
      }
      EXPECT_EQ(routing.experts, golden.ids(prefix + "_router_experts"));
      expect_close(golden, prefix + "_router_weights",
                   doubles(routing.weights.data(), routing.weights.size()));
      std::int64_t choices = 0;
      for (size_t e = 0; e < routing.load.size(); ++e) {
        EXPECT_EQ(routing.load[e],
                  std::count(routing.experts.begin(), routing.experts.end(), static_cast<std::int32_t>(e)));
        choices += routing.load[e];
      }
      EXPECT_EQ(choices, std::ssize(ids) * config.experts->chosen);
      if (config.experts->router == RouterType::kSoftmax && config.experts->bias) continue;
      const auto expected = entropies(golden, prefix + "_router_scores", config.experts->count);
      ASSERT_EQ(routing.entropy.size(), expected.size());
      for (size_t row = 0; row < expected.size(); ++row)
        EXPECT_NEAR(routing.entropy[row], expected[row], 2e-6);
    }
  }
  EXPECT_EQ(readings, 1);
}

// The pass in double, from the stored weights.
TEST_P(ExpertParity, TheReferenceIsTheGolden) {
  const Golden golden(family_folder(GetParam()));
  const Model model = Model::load(golden.folder());
  const auto ids = golden.ids("A.ids");
  for (const auto& [reading, grid] : kReadings) {
    const std::string name = std::string("A.") + reading;
    if (!golden.has(name + ".logits_f64")) continue;
    SequenceInput input{ids, {}};
    input.grid = grid;
    const auto exact = golden.numbers(name + ".logits_f64");
    const auto logits = model::ModelReference(model.config(), model.weights()).forward(input).logits;
    ASSERT_EQ(logits.size(), exact.size());
    EXPECT_LT(rms_difference(logits, exact), 1e-11);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ExpertParity, ::testing::ValuesIn(expert_cases()), test_name);

TEST(ExpertReadings, WithoutRenormalisation) {
  const Golden golden(family_folder("qwen3-moe-f32"));
  const ChangedFamily changed("qwen3-moe-f32", {{"norm_topk_prob", false}});
  ThreadPool threads(2);
  Model model = Model::load(changed.folder());
  const auto ids = golden.ids("A.ids");
  const auto rows = all_rows(ids.size());
  const SequenceInput input{ids, rows};
  const float* logits = model.forward({threads}, {&input, 1});
  expect_close(golden, "A.norm_topk_prob_false.logits",
               doubles(logits, ids.size() * static_cast<size_t>(model.config().vocabulary)));
}

class ExpertBits : public ::testing::TestWithParam<std::string> {
 protected:
  GoldenRun run_{Model::load(family_folder(GetParam()))};
  Ids a_ = run_.random_ids(23, 1), b_ = run_.random_ids(9, 2), c_ = run_.random_ids(17, 3);
};

TEST_P(ExpertBits, PackedEqualsAloneWithAnyNumberOfThreads) {
  const Ids rows_a = all_rows(a_.size()), rows_b = all_rows(b_.size()), last = {16};
  const std::vector<SequenceInput> inputs = {{a_, rows_a}, {b_, rows_b}, {c_, last}};
  const Bits together = run_.forward(inputs);
  Bits alone;
  for (const auto& input : inputs) alone.append(run_.forward({input}));
  EXPECT_TRUE(together == alone);
  for (const int threads : {1, 3}) {
    GoldenRun other(Model::load(family_folder(GetParam())), threads);
    EXPECT_TRUE(other.forward(inputs) == together) << threads;
  }
}

TEST_P(ExpertBits, WatchedEqualsUnwatched) {
  const Ids last = {static_cast<std::int32_t>(a_.size()) - 1}, some = {2, 5};
  std::vector<SequenceInput> inputs = {{a_, last}, {b_, some}};
  inputs[1].address.sequence = 1;
  const Bits unwatched = run_.forward(inputs);
  for (const bool dense : {false, true}) {
    Watching watch(dense);
    EXPECT_TRUE(run_.forward(inputs, &watch) == unwatched);
    // Every row is there, in the last layer, too, and packed it is what it is alone.
    for (size_t n = 0; n < 2; ++n) {
      Watching alone(false);
      run_.forward({inputs[n]}, &alone);
      for (const auto& [at, routing] : alone.routing) {
        EXPECT_EQ(routing.experts, watch.routing.at(at).experts);
        EXPECT_EQ(routing.weights, watch.routing.at(at).weights);
        EXPECT_EQ(routing.entropy, watch.routing.at(at).entropy);
        EXPECT_EQ(routing.load, watch.routing.at(at).load);
        EXPECT_EQ(std::ssize(routing.entropy), inputs[n].rows());
      }
    }
  }
}

TEST_P(ExpertBits, CachedEqualsRecomputed) {
  const ModelConfig& config = run_.model().config();
  const bool blocks = may_decode_blocks(config.family);
  if (!blocks && !run_.causal()) GTEST_SKIP() << "no exact cache";
  const Ids rows = all_rows(a_.size());
  SequenceInput whole{a_, rows};
  if (blocks) whole.grid = BlockGrid{4};
  const Bits expected = run_.forward({whole});
  model::KvCache cache = run_.model().new_cache();
  Bits cached;
  for (std::int64_t begin = 0; begin < std::ssize(a_); begin += 4) {
    const auto count = std::min<std::int64_t>(4, std::ssize(a_) - begin);
    const Ids part(a_.begin() + begin, a_.begin() + begin + count), part_rows = all_rows(part.size());
    SequenceInput input{part, part_rows, &cache};
    if (blocks) input.grid = BlockGrid{4};
    cached.append(run_.forward({input}));
  }
  EXPECT_TRUE(cached == expected);
}

TEST_P(ExpertBits, AnMlpLeftOutIsStillRouted) {
  struct Muted final : probe::Probe {
    bool routing;
    std::map<std::int64_t, probe::RoutingRecord> seen = {};
    explicit Muted(bool r) : routing(r) {}
    probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
      probe::LayerRequest request;
      request.routing = routing;
      return request;
    }
    void take(const probe::Address& address, probe::LayerRecord&& record) override {
      seen[address.layer] = std::move(record.routing);
    }
    probe::Change change(const probe::Address&, const probe::LayerExtent&) override {
      probe::Change change;
      change.mlp_scale = 0;
      return change;
    }
  };
  const Ids rows = all_rows(a_.size());
  Muted quiet(false), watching(true);
  EXPECT_TRUE(run_.forward({{a_, rows}}, &quiet) == run_.forward({{a_, rows}}, &watching));
  for (const auto& [layer, routing] : watching.seen)
    EXPECT_EQ(routing.experts.front() < 0, !is_mixture(run_.model().config(), layer));
}

INSTANTIATE_TEST_SUITE_P(Families, ExpertBits, ::testing::ValuesIn(expert_cases()), test_name);

// Pages of experts that no token chose may not be read; they are not.
TEST(IdleExperts, AreNeverReadByAForward) {
  const TempFolder folder;
  benchmark::write_random_checkpoint(folder.path(), {Family::kQwen3Moe, 64, 2, 2, 1, 32, 128, 64, 32, 2, 64},
                                     3);
  GoldenRun run(Model::load(folder.path()));
  const Ids ids = {1, 2, 3, 4, 5}, rows = all_rows(ids.size());
  Watching watch(false);
  const Bits expected = run.forward({{ids, rows}}, &watch);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  int closed = 0;
  std::vector<std::pair<void*, size_t>> pages;
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const auto& experts = run.model().weights().layers[static_cast<size_t>(layer)].mixture.experts;
    const auto& load = watch.routing.at({0, layer}).load;
    for (size_t e = 0; e < experts.size(); ++e) {
      if (load[e] > 0) continue;
      for (const Weight* weight : {&experts[e].gate, &experts[e].up, &experts[e].down}) {
        const auto begin = reinterpret_cast<std::uintptr_t>(weight->data),
                   end = begin + static_cast<size_t>(weight->size()) * size_of(weight->dtype);
        const auto first = (begin + page - 1) / page * page, last = end / page * page;
        if (first >= last) continue;
        pages.emplace_back(reinterpret_cast<void*>(first), last - first);
        ASSERT_EQ(mprotect(pages.back().first, pages.back().second, PROT_NONE), 0);
        ++closed;
      }
    }
  }
  EXPECT_GE(closed, 2 * 3 * (32 - 10));
  EXPECT_TRUE(run.forward({{ids, rows}}) == expected);
  for (const auto& [begin, size] : pages) mprotect(begin, size, PROT_READ);
}

}  // namespace
}  // namespace buoy
