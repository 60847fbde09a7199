// Logits, attention, queries and keys of every family against tools/goldens, an independent PyTorch
// implementation (which agrees with transformers' own classes where those exist).
//
// Bound: the root-mean-square error against the float64 run is at most twice the error that a plain
// implementation in the same precision makes against the same float64 run. For float32 arithmetic the
// plain implementation is PyTorch in float32 on the stored weights; for 16-bit checkpoints there is a
// second, wider bound from PyTorch in bf16 (or f16) throughout.

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "buoy/model/model.h"
#include "support/golden.h"

namespace buoy {
namespace {

using testing::Golden;
using testing::rms_difference;

std::vector<double> transposed(const float* rows, std::int64_t count, std::int64_t heads, std::int64_t dim) {
  std::vector<double> out;  // [rows, heads, dim] to [heads, rows, dim]
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t r = 0; r < count; ++r) {
      out.insert(out.end(), rows + (r * heads + h) * dim, rows + (r * heads + h + 1) * dim);
    }
  }
  return out;
}

struct Captured {
  std::vector<double> queries, keys, attention;
};

class CaptureAll final : public probe::Probe {
 public:
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest request;
    request.dense = request.states = true;
    return request;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    const probe::LayerStates& s = record.states;
    layers[address.layer] = {transposed(s.queries, s.query_rows, s.heads, s.head_dim),
                             transposed(s.keys, s.key_rows, s.kv_heads, s.head_dim),
                             {record.dense.begin(), record.dense.end()}};
  }

  std::map<std::int64_t, Captured> layers;
};

void expect_within(const Golden& golden, const std::string& array, const std::vector<double>& ours) {
  const auto exact = golden.numbers(array + "_f64");
  ASSERT_EQ(ours.size(), exact.size()) << array;
  const double plain = rms_difference(golden.numbers(array + "_f32"), exact);
  EXPECT_LE(rms_difference(ours, exact), 2 * plain) << array;
}

class Parity : public ::testing::TestWithParam<std::string> {};

TEST_P(Parity, LogitsAttentionQueriesAndKeys) {
  const Golden golden(GetParam());
  ThreadPool threads(2);
  const Context context{threads};
  model::Model model = model::Model::load(golden.folder());
  for (const std::string prompt : {"A", "B"}) {
    const auto ids = golden.ids(prompt + ".ids");
    std::vector<std::int32_t> rows(ids.size());
    std::iota(rows.begin(), rows.end(), 0);
    CaptureAll capture;
    const float* logits =
        model.forward(context, std::vector<model::SequenceInput>{{ids, rows, nullptr}}, &capture);
    const std::vector<double> ours(logits,
                                   logits + ids.size() * static_cast<size_t>(model.config().vocabulary));
    expect_within(golden, prompt + ".logits", ours);
    if (golden.has(prompt + ".logits_plain16")) {
      const auto exact = golden.numbers(prompt + ".logits_f64");
      EXPECT_LE(rms_difference(ours, exact),
                2 * rms_difference(golden.numbers(prompt + ".logits_plain16"), exact));
    }
    size_t compared = 0;
    for (const auto& [number, layer] : capture.layers) {
      const std::string name = prompt + ".layer_" + std::to_string(number);
      if (!golden.has(name + "_attention_f64")) continue;
      expect_within(golden, name + "_attention", layer.attention);
      expect_within(golden, name + "_query_states", layer.queries);
      expect_within(golden, name + "_key_states", layer.keys);
      ++compared;
    }
    EXPECT_GE(compared, prompt == "A" ? static_cast<size_t>(model.config().layers) : 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, Parity, ::testing::ValuesIn(testing::golden_cases()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace buoy
