#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "buoy/base/random.h"
#include "buoy/model/model.h"
#include "support/golden.h"

namespace buoy::testing {

using Ids = std::vector<std::int32_t>;

inline Ids all_rows(size_t count) {
  Ids rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Logits of one or more sequences as bits, row after row.
struct Bits {
  std::vector<float> numbers;

  bool operator==(const Bits& other) const {
    if (numbers.size() != other.numbers.size()) return false;
    return numbers.empty() ||
           std::memcmp(numbers.data(), other.numbers.data(), numbers.size() * sizeof(float)) == 0;
  }
  void append(const Bits& more) { numbers.insert(numbers.end(), more.numbers.begin(), more.numbers.end()); }
};

// One of the tiny golden checkpoints with a pool of threads.
class GoldenRun {
 public:
  explicit GoldenRun(const std::string& name, int thread_count = 2)
      : GoldenRun(model::Model::load(data_folder() / "goldens" / name), thread_count) {}
  explicit GoldenRun(model::Model model, int thread_count = 2)
      : threads_(thread_count), model_(std::move(model)) {}

  model::Model& model() { return model_; }
  bool causal() const { return mask_of(model_.config()) == AttentionMaskKind::kCausal; }

  Ids random_ids(std::int64_t count, std::uint64_t seed) const {
    Ids ids;
    for (std::int64_t i = 0; i < count; ++i) {
      const double u = uniform(seed, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(i)});
      ids.push_back(static_cast<std::int32_t>(u * static_cast<double>(model_.config().vocabulary)));
    }
    return ids;
  }

  Bits forward(const std::vector<model::SequenceInput>& inputs, probe::Probe* probe = nullptr) {
    size_t rows = 0;
    for (const auto& input : inputs) rows += input.logit_rows.size();
    const float* logits = model_.forward({threads_}, inputs, probe);
    return {{logits, logits + rows * static_cast<size_t>(model_.config().vocabulary)}};
  }

  // Logits of every row of one sequence.
  Bits forward(const Ids& ids, model::KvCache* cache = nullptr, probe::Probe* probe = nullptr) {
    const Ids rows = all_rows(ids.size());
    return forward({{ids, rows, cache}}, probe);
  }

 private:
  ThreadPool threads_;
  model::Model model_;
};

inline std::string golden_case_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace buoy::testing
