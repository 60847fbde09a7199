#include "buoy/observe/observables.h"

#include <array>

#include "buoy/observe/contribution.h"

namespace buoy::observe {
namespace {

using probe::LayerRequest;

bool has_regions(const Subject& subject) {
  return !subject.regions.names.empty();
}

bool has_evidence(const Subject& subject) {
  return !subject.regions.evidence.empty();
}

// Sums over sets: those of the first sets, or of one set.
std::vector<float> columns_of(const std::vector<float>& masses, std::int64_t sets, std::int64_t first,
                              std::int64_t count) {
  std::vector<float> out;
  out.reserve(masses.size());
  for (std::int64_t at = 0; at + sets <= std::ssize(masses); at += sets)
    out.insert(out.end(), masses.begin() + at + first, masses.begin() + at + first + count);
  return out;
}

std::int64_t regions_of(const Subject& subject) {
  return std::ssize(subject.regions.names);
}

std::int64_t sets_of(const Subject& subject) {
  return regions_of(subject) + (has_evidence(subject) ? 1 : 0);
}

Values mass_of_regions(const std::vector<float>& masses, const Subject& subject) {
  if (!has_evidence(subject)) return masses;
  return columns_of(masses, sets_of(subject), 0, regions_of(subject));
}

// Weights of the rows that write the answer.
void ask_rows(LayerRequest& request, const Close& close) {
  request.rows = close.rows;
  request.row_weights = true;
}

// Vectors of every token: [tokens, heads, head_dim].
std::span<const float> vectors(const float* values, std::int64_t heads, const Subject& subject) {
  return {values, static_cast<size_t>(subject.tokens * heads * subject.head_dim)};
}

constexpr std::array kObservables = {
    Observable{"received", true, "attention received by every key, per head and query group",
               [](LayerRequest& r, const Close&) { r.received = true; }},
    Observable{"mass", true, "the same summed over regions: from query groups to regions",
               [](LayerRequest& r, const Close& close) {
                 r.received = r.group_mass = true;
                 r.key_sets = close.sets;
               }},
    Observable{"contribution", true, "attention received times the length of the key's value vector",
               [](LayerRequest& r, const Close&) { r.received = r.value_norm = true; }},
    Observable{"entropy", true, "entropy of every row",
               [](LayerRequest& r, const Close&) { r.entropy = true; }},
    Observable{"lse", true, "log-sum-exp of every row",
               [](LayerRequest& r, const Close&) { r.log_sum_exp = true; }},
    Observable{"first", true, "weight of every row on the first token",
               [](LayerRequest& r, const Close&) { r.first_share = true; }},
    Observable{"rows", false, "all weights of the rows that write the answer (large)", ask_rows},
    Observable{"row-mass", true, "the same summed over regions, and over the evidence",
               [](LayerRequest& r, const Close& close) {
                 r.rows = close.rows;
                 r.row_mass = true;
                 r.key_sets = close.sets;
               }},
    Observable{"top", true, "the strongest keys of those rows",
               [](LayerRequest& r, const Close& close) { r.rows = close.rows, r.top = close.top; }},
    Observable{"qk", true, "q.k, cosine and norms per key, before and after the rotation",
               [](LayerRequest& r, const Close&) { r.qk_after = r.qk_before = true; }},
    Observable{"norms", true, "lengths of queries and keys",
               [](LayerRequest& r, const Close&) { r.norms = true; }},
    Observable{"value-norms", true, "lengths of values",
               [](LayerRequest& r, const Close&) { r.value_norm = true; }},
    Observable{"head-norms", false, "lengths of what heads hand to the output projection, of every row",
               [](LayerRequest& r, const Close&) { r.head_norm = true; }},
    Observable{"kv-drift", false, "cosine of every key and value with the step before",
               [](LayerRequest& r, const Close& close) { r.previous_keys = close.previous_keys; }},
    Observable{"residual-norms", false,
               "length, largest value and cosine with the step before of those rows' residual stream",
               [](LayerRequest& r, const Close& close) {
                 r.residual.rows = close.rows;
                 r.residual.norms = true;
                 r.residual.previous = close.previous;
               }},
    Observable{"lens", false, "the likeliest tokens of those rows behind every layer (logit lens)",
               [](LayerRequest& r, const Close& close) {
                 r.residual.rows = close.rows;
                 r.residual.lens = close.top;
               }},
    Observable{"residual", false, "the residual stream of those rows itself (large)",
               [](LayerRequest& r, const Close& close) {
                 r.residual.rows = close.rows;
                 r.residual.post = true;
               }},
    Observable{"head-out", false, "what each head hands to the output projection in those rows (large)",
               [](LayerRequest& r, const Close& close) {
                 r.residual.rows = close.rows;
                 r.residual.head_out = true;
               }},
    Observable{kPredictions, false,
               "what is expected at every position of the answer: confidence, entropy, margin, top tokens",
               nullptr},
    Observable{kRouting, false,
               "experts that routers choose for every token, their weights, entropy and load (mixtures)",
               [](LayerRequest& r, const Close&) { r.routing = true; }},
    Observable{"states", false, "queries, keys and values themselves (large)",
               [](LayerRequest& r, const Close&) { r.states = true; }},
    Observable{"dense-mean", false, "the T x T weights, mean over heads (large)",
               [](LayerRequest& r, const Close&) { r.dense_mean = true; }},
    Observable{"dense", false, "the T x T weights of every head (very large)",
               [](LayerRequest& r, const Close&) { r.dense = true; }},
};

constexpr std::array kSources = {
    ArraySource{trace::kReceived, [](const Seen& s) -> Values { return s.record.received; }},
    ArraySource{trace::kMass,
                [](const Seen& s) -> Values { return mass_of_regions(s.record.group_mass, s.subject); },
                nullptr, has_regions},
    ArraySource{trace::kContribution,
                [](const Seen& s) -> Values {
                  return contribution({s.record.received, s.record.value_norm, s.subject.groups.count(),
                                       s.subject.heads, s.subject.kv_heads, s.subject.tokens});
                }},
    ArraySource{trace::kEntropy, [](const Seen& s) -> Values { return s.record.entropy; }},
    ArraySource{trace::kLogSumExp, [](const Seen& s) -> Values { return s.record.log_sum_exp; }},
    ArraySource{trace::kFirstShare, [](const Seen& s) -> Values { return s.record.first_share; }},
    ArraySource{trace::kRowWeights, [](const Seen& s) -> Values { return s.record.row_weights; }},
    ArraySource{trace::kRowMass,
                [](const Seen& s) -> Values { return mass_of_regions(s.record.row_mass, s.subject); },
                nullptr, has_regions},
    ArraySource{trace::kEvidenceMass,
                [](const Seen& s) -> Values {
                  return columns_of(s.record.row_mass, sets_of(s.subject), regions_of(s.subject), 1);
                },
                nullptr, has_evidence},
    ArraySource{trace::kTopWeights, [](const Seen& s) -> Values { return s.record.top_weights; }},
    ArraySource{trace::kTopKeys, nullptr,
                [](const Seen& s) -> const std::vector<std::int32_t>& { return s.record.top_keys; }},
    ArraySource{trace::kQkAfterDot, [](const Seen& s) -> Values { return s.record.qk_after.dot; }},
    ArraySource{trace::kQkAfterCosine, [](const Seen& s) -> Values { return s.record.qk_after.cosine; }},
    ArraySource{trace::kQkAfterNormProduct,
                [](const Seen& s) -> Values { return s.record.qk_after.norm_product; }},
    ArraySource{trace::kQkAfterSelfDot, [](const Seen& s) -> Values { return s.record.qk_after.self_dot; }},
    ArraySource{trace::kQkBeforeDot, [](const Seen& s) -> Values { return s.record.qk_before.dot; }},
    ArraySource{trace::kQkBeforeCosine, [](const Seen& s) -> Values { return s.record.qk_before.cosine; }},
    ArraySource{trace::kQkBeforeNormProduct,
                [](const Seen& s) -> Values { return s.record.qk_before.norm_product; }},
    ArraySource{trace::kQkBeforeSelfDot, [](const Seen& s) -> Values { return s.record.qk_before.self_dot; }},
    ArraySource{trace::kQueryNorm, [](const Seen& s) -> Values { return s.record.query_norm; }},
    ArraySource{trace::kKeyNorm, [](const Seen& s) -> Values { return s.record.key_norm; }},
    ArraySource{trace::kValueNorm, [](const Seen& s) -> Values { return s.record.value_norm; }},
    ArraySource{trace::kHeadNorm, [](const Seen& s) -> Values { return s.record.head_norm; }},
    ArraySource{trace::kKeyCosine, [](const Seen& s) -> Values { return s.record.key_cosine; }},
    ArraySource{trace::kValueCosine, [](const Seen& s) -> Values { return s.record.value_cosine; }},
    ArraySource{trace::kResidualNorm, [](const Seen& s) -> Values { return s.record.residual.norm; }},
    ArraySource{trace::kAttentionOutNorm,
                [](const Seen& s) -> Values { return s.record.residual.attention_norm; }},
    ArraySource{trace::kMlpOutNorm, [](const Seen& s) -> Values { return s.record.residual.mlp_norm; }},
    ArraySource{trace::kResidualPeak, [](const Seen& s) -> Values { return s.record.residual.peak; }},
    ArraySource{trace::kResidualPeakAt, nullptr,
                [](const Seen& s) -> const std::vector<std::int32_t>& { return s.record.residual.peak_at; }},
    ArraySource{trace::kResidualCosine, [](const Seen& s) -> Values { return s.record.residual.cosine; }},
    ArraySource{
        trace::kLensTokens, nullptr,
        [](const Seen& s) -> const std::vector<std::int32_t>& { return s.record.residual.lens_tokens; }},
    ArraySource{trace::kLensProbabilities,
                [](const Seen& s) -> Values { return s.record.residual.lens_probabilities; }},
    ArraySource{trace::kResidual, [](const Seen& s) -> Values { return s.record.residual.post; }},
    ArraySource{trace::kHeadOut, [](const Seen& s) -> Values { return s.record.residual.head_out; }},
    ArraySource{trace::kPredictedConfidence,
                [](const Seen& s) -> Values { return s.record.predictions.confidence; }},
    ArraySource{trace::kPredictedEntropy,
                [](const Seen& s) -> Values { return s.record.predictions.entropy; }},
    ArraySource{trace::kPredictedMargin, [](const Seen& s) -> Values { return s.record.predictions.margin; }},
    ArraySource{
        trace::kPredictedTokens, nullptr,
        [](const Seen& s) -> const std::vector<std::int32_t>& { return s.record.predictions.top_tokens; }},
    ArraySource{trace::kPredictedProbabilities,
                [](const Seen& s) -> Values { return s.record.predictions.top_probabilities; }},
    ArraySource{trace::kRoutedExperts, nullptr,
                [](const Seen& s) -> const std::vector<std::int32_t>& { return s.record.routing.experts; }},
    ArraySource{trace::kRoutedWeights, [](const Seen& s) -> Values { return s.record.routing.weights; }},
    ArraySource{trace::kRouterEntropy, [](const Seen& s) -> Values { return s.record.routing.entropy; }},
    ArraySource{trace::kExpertLoad, nullptr,
                [](const Seen& s) -> const std::vector<std::int32_t>& { return s.record.routing.load; }},
    ArraySource{trace::kDense, [](const Seen& s) -> Values { return s.record.dense; }},
    ArraySource{trace::kDenseMean, [](const Seen& s) -> Values { return s.record.dense_mean; }},
    ArraySource{
        trace::kQueries,
        [](const Seen& s) -> Values { return vectors(s.record.states.queries, s.subject.heads, s.subject); }},
    ArraySource{
        trace::kKeys,
        [](const Seen& s) -> Values { return vectors(s.record.states.keys, s.subject.kv_heads, s.subject); }},
    ArraySource{trace::kValues,
                [](const Seen& s)
                    -> Values { return vectors(s.record.states.values, s.subject.kv_heads, s.subject); }},
};

}  // namespace

std::shared_ptr<const KeySets> key_sets(const Regions& regions) {
  const auto keys = std::ssize(regions.of_token);
  auto sets = std::make_shared<KeySets>();
  for (std::int64_t region = 0; region < std::ssize(regions.names); ++region)
    sets->add(keys, [&](std::int32_t key) { return regions.of_token[static_cast<size_t>(key)] == region; });
  if (!regions.evidence.empty())
    sets->add(std::ssize(regions.evidence),
              [&](std::int32_t key) { return regions.evidence[static_cast<size_t>(key)] != 0; });
  return sets;
}

std::span<const Observable> observables() {
  return kObservables;
}

std::span<const ArraySource> array_sources() {
  return kSources;
}

}  // namespace buoy::observe
