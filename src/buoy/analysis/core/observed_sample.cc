#include "buoy/analysis/core/observed_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

std::vector<std::uint8_t> flags(const trace::StoredSample& sample, std::string_view name) {
  if (!sample.has(name)) return {};
  const auto values = sample.integers(name);
  return {values.begin(), values.end()};
}

std::vector<std::string> texts(const trace::StoredSample& sample, std::string_view key) {
  return sample.has_text(key) ? sample.text_list(key) : std::vector<std::string>{};
}

}  // namespace

void require_array(const trace::StoredSample& sample, std::string_view array) {
  if (sample.has(array)) return;
  const auto* schema = trace::find_array(array);
  throw_input_error({"sample " + sample.id(), fmt::format("the array {}", array),
                     schema != nullptr && !schema->observe.empty()
                         ? fmt::format("none; trace again with {} among `observe`", schema->observe)
                         : std::string(array == trace::kEvidence || array == trace::kRegionOfToken
                                           ? "none; trace again with `data` that has passages"
                                           : "none; trace again with this version of Buoy")});
}

ObservedSample::ObservedSample(const trace::Manifest& manifest, trace::StoredSample stored)
    : stored_(std::move(stored)) {
  for (const auto name : {trace::kTokens, trace::kSteps, trace::kLayers}) require_array(stored_, name);
  for (const auto text : {trace::kPromptLength, trace::kAttention}) {
    if (!stored_.has_text(text)) {
      throw_input_error({"sample " + id(), fmt::format("the text {}", text),
                         "none; trace again with this version of Buoy"});
    }
  }
  final_row = stored_.integers(trace::kTokens);
  steps = stored_.integers(trace::kSteps);
  layers = stored_.integers(trace::kLayers);
  tokens = static_cast<std::int64_t>(final_row.size());
  final_index_ = static_cast<std::int64_t>(steps.size()) - 1;
  const bool looked_back = stored_.has_text(trace::kFinalStep) && !steps.empty() &&
                           stored_.integer_text(trace::kFinalStep) == steps.back();
  has_final_row_ = looked_back || !stored_.has_text(trace::kMaskToken);
  if (looked_back && steps.size() > 1) steps.pop_back();
  prompt_length = stored_.integer_text(trace::kPromptLength);
  heads = manifest.model.heads;
  kv_heads = manifest.model.kv_heads;
  head_dim = manifest.model.head_dim;
  causal = stored_.text(trace::kAttention) == "causal";
  if (stored_.has_text(trace::kMaskToken)) {
    mask_token = static_cast<std::int32_t>(stored_.integer_text(trace::kMaskToken));
    masked_diffusion = true;
  }
  if (stored_.has_text(trace::kPredictionOffset))
    prediction_offset = stored_.integer_text(trace::kPredictionOffset);
  revealed_at = stored_.has(trace::kRevealedAt) ? stored_.integers(trace::kRevealedAt)
                                                : std::vector<std::int32_t>(final_row.size(), -1);
  tokens_by_step_ = stored_.has(trace::kTokensByStep) ? stored_.integers(trace::kTokensByStep)
                                                      : std::vector<std::int32_t>();
  if (stored_.has(trace::kGroupSizes)) {
    group_sizes_ = stored_.integers(trace::kGroupSizes);
    groups_ = stored_.shape(trace::kGroupSizes)[1];
  }
  token_texts = texts(stored_, trace::kTokenTexts);
  region_names = texts(stored_, trace::kRegionNames);
  gold_regions = texts(stored_, trace::kGoldRegions);
  answers = texts(stored_, trace::kAnswers);
  if (stored_.has(trace::kRegionOfToken)) region_of_token = stored_.integers(trace::kRegionOfToken);
  evidence = flags(stored_, trace::kEvidence);
  special = flags(stored_, trace::kSpecial);
}

std::vector<std::int32_t> ObservedSample::row_at(std::int64_t s) const {
  if (tokens_by_step_.empty()) return final_row;
  const auto begin = tokens_by_step_.begin() + s * tokens;
  return {begin, begin + tokens};
}

bool ObservedSample::masked_at(std::int64_t s, std::int64_t position) const {
  if (mask_token < 0 || tokens_by_step_.empty()) return false;
  return position >= prompt_length &&
         tokens_by_step_[static_cast<size_t>(s * tokens + position)] == mask_token;
}

std::int64_t ObservedSample::index_of_step(std::int64_t step) const {
  const auto at = std::lower_bound(steps.begin(), steps.end(), step);
  return at != steps.end() && *at == step ? at - steps.begin() : -1;
}

std::vector<std::string> ObservedSample::group_names() const {
  return texts(stored_, trace::kGroupNames);
}

Received ObservedSample::received(std::int64_t s, std::int64_t l) const {
  std::vector<std::int64_t> all(static_cast<size_t>(groups_));
  std::iota(all.begin(), all.end(), 0);
  return received(s, l, all);
}

Received ObservedSample::received(std::int64_t s, std::int64_t l,
                                  const std::vector<std::int64_t>& groups) const {
  require_array(stored_, trace::kReceived);
  const auto sums = stored_.floats_at(trace::kReceived, {s, l});  // [G, H, T]
  Received out{heads, tokens, {}, {}};
  out.share.assign(static_cast<size_t>(heads * tokens), 0.0);
  out.mean.assign(static_cast<size_t>(tokens), 0.0);
  double queries = 0;
  for (const auto group : groups) {
    queries += group_sizes_[static_cast<size_t>(s * groups_ + group)];
    const float* from = sums.data() + group * heads * tokens;
    for (size_t i = 0; i < out.share.size(); ++i) out.share[i] += from[i];
  }
  if (queries <= 0) return out;
  for (double& value : out.share) value /= queries;
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t j = 0; j < tokens; ++j)
      out.mean[static_cast<size_t>(j)] += out.head(h)[j] / static_cast<double>(heads);
  }
  return out;
}

}  // namespace buoy::analysis
