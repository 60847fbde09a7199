// Outputs of heads and the drift of keys and values, of every golden checkpoint: what the model itself holds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/golden_run.h"
#include "model/head_states_probe.h"

namespace buoy {
namespace {

using testing::all_rows;
using testing::GoldenRun;
using testing::HeadStatesProbe;
using testing::Ids;

class HeadStatesOfModels : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Goldens, HeadStatesOfModels,
                         ::testing::Values("llada-f32", "llama3-f32", "dream-f32"),
                         testing::golden_case_name);

// In double, [kv_heads, rows] from [rows, kv_heads, head_dim].
std::vector<double> cosines(const std::vector<float>& now, const std::vector<float>& before,
                            const ModelConfig& c) {
  const std::int64_t rows = std::ssize(now) / (c.kv_heads * c.head_dim);
  std::vector<double> out(static_cast<size_t>(c.kv_heads * rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t h = 0; h < c.kv_heads; ++h) {
      double dot = 0, here = 0, there = 0;
      for (std::int64_t d = 0; d < c.head_dim; ++d) {
        const auto at = static_cast<size_t>((row * c.kv_heads + h) * c.head_dim + d);
        dot += double{now[at]} * before[at];
        here += double{now[at]} * now[at];
        there += double{before[at]} * before[at];
      }
      out[static_cast<size_t>(h * rows + row)] = dot / std::sqrt(here * there);
    }
  }
  return out;
}

TEST_P(HeadStatesOfModels, DriftIsThatOfTheStates) {
  GoldenRun run(GetParam());
  const ModelConfig& c = run.model().config();
  HeadStatesProbe probe(c.layers);
  probe.wants_states = true;
  Ids ids = run.random_ids(20, 3);
  const Ids rows = all_rows(ids.size());
  const auto forward = [&](std::int64_t step) {
    run.forward({{ids, rows, nullptr, {0, step, 0, 0}}}, &probe);
    return probe.seen;
  };
  const auto first = forward(0);
  for (const auto& [at, seen] : first) {
    EXPECT_TRUE(std::all_of(seen.key_cosine.begin(), seen.key_cosine.end(), [](float x) { return x == 1; }));
    EXPECT_EQ(std::ssize(seen.key_cosine), c.kv_heads * std::ssize(ids));
    EXPECT_EQ(std::ssize(seen.head_norm), c.heads * std::ssize(ids));
  }
  ids[7] = (ids[7] + 1) % 50;
  const auto second = forward(1);
  for (const auto& [at, seen] : second) {
    const auto keys = cosines(seen.keys, first.at(at).keys, c),
               values = cosines(seen.values, first.at(at).values, c);
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_NEAR(seen.key_cosine[i], keys[i], 1e-6);
      EXPECT_NEAR(seen.value_cosine[i], values[i], 1e-6);
    }
  }
  // In the first layer nothing but the changed token can have moved.
  const auto& lowest = second.at({0, 0}).value_cosine;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i != 7) {
      EXPECT_FLOAT_EQ(lowest[i], 1) << i;
    }
  }
  EXPECT_LT(lowest[7], 0.999f);
  // The same row again: nothing moves. A new run begins anew.
  for (const auto& [at, seen] : forward(2)) {
    for (const float cosine : seen.key_cosine) EXPECT_FLOAT_EQ(cosine, 1);
  }
  ids[3] = (ids[3] + 1) % 50;
  for (const auto& [at, seen] : forward(0)) {
    for (const float cosine : seen.value_cosine) EXPECT_EQ(cosine, 1);
  }
}

TEST_P(HeadStatesOfModels, NormsAreThoseOfTheHeadOutputs) {
  GoldenRun run(GetParam());
  const ModelConfig& c = run.model().config();
  class Both final : public probe::Probe {
   public:
    probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
      probe::LayerRequest r;
      r.head_norm = r.residual.head_out = true;
      r.residual.rows = all_rows(static_cast<size_t>(extent.query_rows));
      return r;
    }
    probe::Change change(const probe::Address&, const probe::LayerExtent&) override { return {{}, scale}; }
    void take(const probe::Address&, probe::LayerRecord&& r) override { records.push_back(std::move(r)); }
    std::vector<float> scale;
    std::vector<probe::LayerRecord> records;
  } probe;
  probe.scale.assign(static_cast<size_t>(c.heads), 1.0f);
  probe.scale[0] = 0;
  const Ids ids = run.random_ids(9, 5);
  run.forward(ids, nullptr, &probe);
  ASSERT_EQ(std::ssize(probe.records), c.layers);
  for (const auto& record : probe.records) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      for (std::int64_t row = 0; row < std::ssize(ids); ++row) {
        double squares = 0;
        for (std::int64_t d = 0; d < c.head_dim; ++d) {
          const double value =
              record.residual.head_out[static_cast<size_t>((row * c.heads + h) * c.head_dim + d)];
          squares += value * value;
        }
        const float norm = record.head_norm[static_cast<size_t>(h * std::ssize(ids) + row)];
        EXPECT_FLOAT_EQ(norm, static_cast<float>(std::sqrt(squares)));
        if (h == 0) {
          EXPECT_EQ(norm, 0) << "a head that is switched off";
        }
      }
    }
  }
}

}  // namespace
}  // namespace buoy
