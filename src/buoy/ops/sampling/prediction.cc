#include "buoy/ops/sampling/prediction.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "buoy/base/error.h"

namespace buoy::ops {
namespace {

// The largest logits so far, largest first. Ids come ascending, so an equal one goes behind.
class Largest {
 public:
  explicit Largest(size_t most) : most_(most) { kept_.reserve(most + 1); }

  void offer(float logit, std::int32_t id) {
    if (kept_.size() == most_ && !(logit > kept_.back().logit)) return;
    const auto place =
        std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) { return logit > one.logit; });
    kept_.insert(place, {logit, id});
    if (kept_.size() > most_) kept_.pop_back();
  }

  struct Kept {
    float logit;
    std::int32_t id;
  };
  const std::vector<Kept>& kept() const { return kept_; }

 private:
  size_t most_;
  std::vector<Kept> kept_;
};

}  // namespace

RowPrediction predict_row(std::span<const float> logits, std::int32_t held, std::span<std::int32_t> tokens,
                          std::span<float> probabilities) {
  BUOY_CHECK(!logits.empty() && tokens.size() == probabilities.size());
  BUOY_CHECK(held < static_cast<std::int64_t>(logits.size()));
  Largest largest(std::max<size_t>(tokens.size(), 2));
  for (size_t id = 0; id < logits.size(); ++id) largest.offer(logits[id], static_cast<std::int32_t>(id));
  const auto& kept = largest.kept();
  const double top = kept[0].logit;
  double sum = 0, below = 0;  // of exp(x) and -x exp(x), x being the distance from the top
  for (const float logit : logits) {
    const double x = logit - top, weight = std::exp(x);
    sum += weight;
    below -= weight > 0 ? x * weight : 0.0;
  }
  const auto probability = [&](double logit) { return std::exp(logit - top) / sum; };
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = i < kept.size() ? kept[i].id : kNoToken;
    probabilities[i] = i < kept.size() ? static_cast<float>(probability(kept[i].logit)) : 0.0f;
  }
  RowPrediction out;
  out.confidence = probability(held < 0 ? top : logits[static_cast<size_t>(held)]);
  out.entropy = std::log(sum) + below / sum;
  out.margin = probability(top) - (kept.size() > 1 ? probability(kept[1].logit) : 0.0);
  return out;
}

}  // namespace buoy::ops
