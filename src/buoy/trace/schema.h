#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace buoy::trace {

// The vocabulary of a sample file. docs/trace-format.md explains it; a test keeps the two in step.

enum class Element { kFloat, kInteger, kByte };  // F32 or F16, I32, U8

struct ArraySchema {
  // "{s}" and "{l}" stand for a step and a layer number, "{name}" for a name in small letters
  std::string_view name;
  std::string_view shape;  // one letter or pair per dimension: "S L G H T"
  Element element;
  std::string_view unit;
  std::string_view meaning;
  std::string_view observe = {};  // what of `observe` fills it; "": always there
};

struct TextSchema {
  std::string_view key;
  std::string_view form;  // "text", "integer" or "list of texts"
  std::string_view meaning;
};

// S steps, L layers, G query groups, H heads, V key/value heads, T tokens, C regions, R chosen rows,
// K top keys or tokens, D head size, M width of the residual stream, A generated positions, P predicted
// tokens; 2 is two. A letter means the same number in every array of a sample, but N: a length of its own.
std::span<const ArraySchema> array_schema();
std::span<const TextSchema> text_schema();

// nullptr for a name the schema does not know.
const ArraySchema* find_array(std::string_view name);

// Names that begin so are private to whoever writes them and may have any shape.
inline constexpr std::string_view kPrivatePrefix = "x_";

inline constexpr std::uint8_t kNoRegion = 255;  // in region_of_token

inline constexpr std::string_view kTokens = "tokens";
inline constexpr std::string_view kTokensByStep = "tokens_by_step";
inline constexpr std::string_view kRevealedAt = "revealed_at";
inline constexpr std::string_view kRegionOfToken = "region_of_token";
inline constexpr std::string_view kEvidence = "evidence";
inline constexpr std::string_view kSpecial = "special";
inline constexpr std::string_view kEnds = "ends";
inline constexpr std::string_view kTemplateText = "template";
inline constexpr std::string_view kSteps = "steps";
inline constexpr std::string_view kLayers = "layers";
inline constexpr std::string_view kReceived = "received";
inline constexpr std::string_view kMass = "mass";
inline constexpr std::string_view kContribution = "contribution";
inline constexpr std::string_view kGroupSizes = "group_sizes";
inline constexpr std::string_view kEntropy = "entropy";
inline constexpr std::string_view kLogSumExp = "log_sum_exp";
inline constexpr std::string_view kFirstShare = "first_share";
inline constexpr std::string_view kRowPositions = "row_positions";
inline constexpr std::string_view kRowWeights = "row_weights";
inline constexpr std::string_view kRowMass = "row_mass";
inline constexpr std::string_view kEvidenceMass = "evidence_mass";
inline constexpr std::string_view kTopKeys = "top_keys";
inline constexpr std::string_view kTopWeights = "top_weights";

// Of models that see blocks.
inline constexpr std::string_view kStepKinds = "step_kinds";
inline constexpr std::string_view kRowsRun = "rows_run";
inline constexpr std::string_view kReveals = "reveals";
// Of step_kinds: what a forward was for.
enum class StepKind : std::uint8_t { kDenoise, kPrompt, kFinish, kFinalRow };

// What the level compact keeps (level.h): rows of one byte per key, with two scales each
// (base/quantised_row.h).
inline constexpr std::string_view kMeanCodes = "mean_codes";
inline constexpr std::string_view kMeanScales = "mean_scales";
inline constexpr std::string_view kMeanMass = "mean_mass";
inline constexpr std::string_view kMeanTopKeys = "mean_top_keys";
inline constexpr std::string_view kMeanTopWeights = "mean_top_weights";
inline constexpr std::string_view kHeadCodes = "head_codes";
inline constexpr std::string_view kHeadScales = "head_scales";
inline constexpr std::string_view kRowCodes = "row_codes";
inline constexpr std::string_view kRowScales = "row_scales";

inline constexpr std::string_view kQkAfterDot = "qk_after_dot";
inline constexpr std::string_view kQkAfterCosine = "qk_after_cosine";
inline constexpr std::string_view kQkAfterNormProduct = "qk_after_norm_product";
inline constexpr std::string_view kQkAfterSelfDot = "qk_after_self_dot";
inline constexpr std::string_view kQkBeforeDot = "qk_before_dot";
inline constexpr std::string_view kQkBeforeCosine = "qk_before_cosine";
inline constexpr std::string_view kQkBeforeNormProduct = "qk_before_norm_product";
inline constexpr std::string_view kQkBeforeSelfDot = "qk_before_self_dot";
inline constexpr std::string_view kQueryNorm = "query_norm";
inline constexpr std::string_view kKeyNorm = "key_norm";
inline constexpr std::string_view kValueNorm = "value_norm";
inline constexpr std::string_view kHeadNorm = "head_norm";
inline constexpr std::string_view kKeyCosine = "key_cosine";
inline constexpr std::string_view kValueCosine = "value_cosine";

// The residual stream of the chosen rows.
inline constexpr std::string_view kResidualNorm = "residual_norm";
inline constexpr std::string_view kAttentionOutNorm = "attention_out_norm";
inline constexpr std::string_view kMlpOutNorm = "mlp_out_norm";
inline constexpr std::string_view kResidualPeak = "residual_peak";
inline constexpr std::string_view kResidualPeakAt = "residual_peak_at";
inline constexpr std::string_view kResidualCosine = "residual_cosine";
inline constexpr std::string_view kLensTokens = "lens_tokens";
inline constexpr std::string_view kLensProbabilities = "lens_probabilities";

// What the routers of a mixture of experts decide.
inline constexpr std::string_view kRoutedExperts = "routed_experts";
inline constexpr std::string_view kRoutedWeights = "routed_weights";
inline constexpr std::string_view kRouterEntropy = "router_entropy";
inline constexpr std::string_view kExpertLoad = "expert_load";

// What the model expects at the positions of the answer, by forward.
inline constexpr std::string_view kPredictedConfidence = "predicted_confidence";
inline constexpr std::string_view kPredictedEntropy = "predicted_entropy";
inline constexpr std::string_view kPredictedMargin = "predicted_margin";
inline constexpr std::string_view kPredictedTokens = "predicted_tokens";
inline constexpr std::string_view kPredictedProbabilities = "predicted_probabilities";

// A text of bytes for each analysis; see state_name().
inline constexpr std::string_view kState = "state_{name}";

// An array for each step and layer; see array_name().
inline constexpr std::string_view kDense = "dense_step{s}_layer{l}";
inline constexpr std::string_view kDenseMean = "dense_mean_step{s}_layer{l}";
inline constexpr std::string_view kQueries = "queries_step{s}_layer{l}";
inline constexpr std::string_view kKeys = "keys_step{s}_layer{l}";
inline constexpr std::string_view kValues = "values_step{s}_layer{l}";
inline constexpr std::string_view kResidual = "residual_step{s}_layer{l}";
inline constexpr std::string_view kHeadOut = "head_out_step{s}_layer{l}";

std::string state_name(std::string_view analysis);  // "state_drift"

// "dense_step3_layer0" of kDense.
std::string array_name(std::string_view pattern, std::int64_t step, std::int64_t layer);
inline std::string dense_name(std::int64_t step, std::int64_t layer) {
  return array_name(kDense, step, layer);
}
inline std::string dense_mean_name(std::int64_t step, std::int64_t layer) {
  return array_name(kDenseMean, step, layer);
}
inline std::string queries_name(std::int64_t step, std::int64_t layer) {
  return array_name(kQueries, step, layer);
}
inline std::string keys_name(std::int64_t step, std::int64_t layer) {
  return array_name(kKeys, step, layer);
}
inline std::string values_name(std::int64_t step, std::int64_t layer) {
  return array_name(kValues, step, layer);
}

inline constexpr std::string_view kFormat = "format";
inline constexpr std::string_view kVersion = "version";
inline constexpr std::string_view kId = "id";
inline constexpr std::string_view kQuestion = "question";
inline constexpr std::string_view kPromptText = "prompt_text";
inline constexpr std::string_view kAnswerText = "answer_text";
inline constexpr std::string_view kPromptLength = "prompt_length";
inline constexpr std::string_view kTokenTexts = "token_texts";
inline constexpr std::string_view kRegionNames = "region_names";
inline constexpr std::string_view kGroupNames = "group_names";
inline constexpr std::string_view kGoldRegions = "gold_regions";
inline constexpr std::string_view kAnswers = "answers";
inline constexpr std::string_view kRight = "right";
inline constexpr std::string_view kAttention = "attention";  // one of the next four
inline constexpr std::string_view kCausalAttention = "causal", kBidirectionalAttention = "bidirectional",
                                  kPrefixAttention = "prefix", kBlocksAttention = "blocks";
inline constexpr std::string_view kBlockLength = "block_length";  // of blocks
inline constexpr std::string_view kGridOrigin = "grid_origin";
inline constexpr std::string_view kDenoisedLength = "denoised_length";  // of blocks, while they are denoised
inline constexpr std::string_view kDenoisedOrigin = "denoised_origin";
inline constexpr std::string_view kEndTokens = "end_tokens";
inline constexpr std::string_view kMaskToken = "mask_token";
inline constexpr std::string_view kPredictionOffset = "prediction_offset";
inline constexpr std::string_view kFinalStep = "final_step";

}  // namespace buoy::trace
