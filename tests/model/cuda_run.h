#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "model/golden_run.h"
#include "model/rounded_checkpoint.h"
#include "support/gpu.h"
#include "support/plain_bf16.h"
#include "support/temp_folder.h"

namespace buoy::testing {

// Root of the mean square of a - b as a share of that of b.
inline double relative_difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    size += static_cast<double>(b[i]) * b[i];
  }
  return std::isfinite(difference) && size > 0 ? std::sqrt(difference / size)
         : difference == 0                     ? 0
                                               : INFINITY;
}

// The same tiny checkpoint on the CPU and on the GPU. The GPU keeps weights as bf16, so the CPU gets them
// rounded.
class CudaRun {
 public:
  explicit CudaRun(const std::string& name)
      : cpu_(rounded(name, rounded_.path())),
        plain_(rounded_.path()),
        threads_(2),
        model_(model::Model::load(data_folder() / "goldens" / name, Device::kCuda)) {}

  GoldenRun& cpu() { return cpu_; }
  model::Model& model() { return model_; }
  // Twice what a plain bf16 run of these tokens loses against the CPU, whose sums are float: the bound for
  // all that comes out of the GPU.
  double bound(const Ids& ids) {
    return 2 * relative_difference(plain_.forward(ids), cpu_.forward(ids).numbers);
  }
  Context context() { return {threads_}; }

  Bits forward(const std::vector<model::SequenceInput>& inputs, probe::Probe* probe = nullptr) {
    size_t rows = 0;
    for (const auto& input : inputs) rows += input.logit_rows.size();
    const float* logits = model_.forward({threads_}, inputs, probe);
    return {{logits, logits + rows * static_cast<size_t>(model_.config().vocabulary)}};
  }
  Bits forward(const Ids& ids, model::KvCache* cache = nullptr, probe::Probe* probe = nullptr) {
    const Ids rows = all_rows(ids.size());
    return forward({{ids, rows, cache}}, probe);
  }

 private:
  static model::Model rounded(const std::string& name, const std::filesystem::path& folder) {
    write_rounded_checkpoint(data_folder() / "goldens" / name, folder);
    return model::Model::load(folder);
  }

  TempFolder rounded_;
  GoldenRun cpu_;
  PlainBf16 plain_;
  ThreadPool threads_;
  model::Model model_;
};

}  // namespace buoy::testing
