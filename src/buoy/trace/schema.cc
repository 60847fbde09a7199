#include "buoy/trace/schema.h"

#include <fmt/format.h>

#include <array>

namespace buoy::trace {
namespace {

constexpr auto kFloat = Element::kFloat;
constexpr auto kInteger = Element::kInteger;

constexpr std::array kArrays = {
    ArraySchema{kTokens, "T", kInteger, "token id", "the final row: prompt and generated tokens"},
    ArraySchema{kTokensByStep, "S T", kInteger, "token id", "the row as the forward of each step saw it"},
    ArraySchema{kRevealedAt, "T", kInteger, "step", "when a position was revealed; -1: prompt, or never"},
    ArraySchema{kRegionOfToken, "T", Element::kByte, "index", "into region_names; 255: in no region"},
    ArraySchema{kEvidence, "T", Element::kByte, "flag",
                "1: the token holds part of the answer in a gold document"},
    ArraySchema{kSpecial, "T", Element::kByte, "flag", "1: the token of the final row is a special token"},
    ArraySchema{kTemplateText, "T", Element::kByte, "flag",
                "1: the token is text of the template, which stands in documents too"},
    ArraySchema{kEnds, "T", Element::kByte, "flag",
                "1: the token of the final row is one that ends an answer"},
    ArraySchema{kSteps, "S", kInteger, "step", "the observed steps, ascending"},
    ArraySchema{kLayers, "L", kInteger, "layer", "the observed layers, ascending"},
    ArraySchema{kStepKinds, "S", Element::kByte, "kind",
                "blocks: 0 denoises, 1 stores the prompt, 2 finishes a block, 3 looks at the final row"},
    ArraySchema{kRowsRun, "S 2", kInteger, "position",
                "blocks: the first row that the forward ran, and where they end"},
    ArraySchema{kReveals, "N 3", kInteger, "mixed",
                "blocks: step, position and token of every reveal, in order; a position may come again"},
    ArraySchema{kReceived, "S L G H T", kFloat, "queries",
                "attention received by each key: weights summed over the queries of the group", "received"},
    ArraySchema{kMass, "S L G H C", kFloat, "queries",
                "attention each query group gives to each region: received, summed over the region's keys",
                "mass"},
    ArraySchema{kContribution, "S L H T", kFloat, "length",
                "sum over the queries of the length of weight times value vector", "contribution"},
    ArraySchema{kGroupSizes, "S G", kInteger, "queries", "queries in each group"},
    ArraySchema{kEntropy, "S L H T", kFloat, "nats", "entropy of the row of each query", "entropy"},
    ArraySchema{kLogSumExp, "S L H T", kFloat, "nats",
                "natural logarithm of the sum of exp(q.k / sqrt(D)) over the keys a query sees", "lse"},
    ArraySchema{kFirstShare, "S L H T", kFloat, "share of 1", "weight of each query on key 0", "first"},
    ArraySchema{kRowPositions, "R", kInteger, "position", "the queries looked at closely, ascending"},
    ArraySchema{kRowWeights, "S L R H T", kFloat, "share of 1", "all weights of the chosen queries", "rows"},
    ArraySchema{kRowMass, "S L R H C", kFloat, "share of 1", "weight of the chosen queries on each region",
                "row-mass"},
    ArraySchema{kEvidenceMass, "S L R H", kFloat, "share of 1",
                "weight of the chosen queries on the tokens flagged in evidence", "row-mass"},
    ArraySchema{kTopKeys, "S L R H K", kInteger, "position",
                "strongest keys of the chosen queries, strongest first; -1: no more", "top"},
    ArraySchema{kTopWeights, "S L R H K", kFloat, "share of 1", "weights on top_keys", "top"},
    ArraySchema{kQkAfterDot, "S L H T", kFloat, "length^2",
                "mean over the queries of q.k, as the softmax sees them", "qk"},
    ArraySchema{kQkAfterCosine, "S L H T", kFloat, "1", "mean over the queries of cos(q, k)", "qk"},
    ArraySchema{kQkAfterNormProduct, "S L H T", kFloat, "length^2",
                "mean over the queries of the length of q times that of k", "qk"},
    ArraySchema{kQkAfterSelfDot, "S L H T", kFloat, "length^2", "q.k of each position with itself", "qk"},
    ArraySchema{kQkBeforeDot, "S L H T", kFloat, "length^2", "qk_after_dot before the rotation", "qk"},
    ArraySchema{kQkBeforeCosine, "S L H T", kFloat, "1", "qk_after_cosine before the rotation", "qk"},
    ArraySchema{kQkBeforeNormProduct, "S L H T", kFloat, "length^2",
                "qk_after_norm_product before the rotation", "qk"},
    ArraySchema{kQkBeforeSelfDot, "S L H T", kFloat, "length^2", "qk_after_self_dot before the rotation",
                "qk"},
    ArraySchema{kQueryNorm, "S L H T", kFloat, "length", "length of each query vector", "norms"},
    ArraySchema{kKeyNorm, "S L V T", kFloat, "length", "length of each key vector", "norms"},
    ArraySchema{kValueNorm, "S L V T", kFloat, "length", "length of each value vector", "value-norms"},
    ArraySchema{kHeadNorm, "S L H T", kFloat, "length",
                "length of what each head hands to the output projection, of each query", "head-norms"},
    ArraySchema{kKeyCosine, "S L V T", kFloat, "1",
                "cosine of each key vector with that of the step before; 1: the first step", "kv-drift"},
    ArraySchema{kValueCosine, "S L V T", kFloat, "1",
                "cosine of each value vector with that of the step before; 1: the first step", "kv-drift"},
    ArraySchema{kResidualNorm, "S L R", kFloat, "length",
                "length of the residual stream behind the layer, of the chosen rows", "residual-norms"},
    ArraySchema{kAttentionOutNorm, "S L R", kFloat, "length",
                "length of what the attention adds to the residual stream", "residual-norms"},
    ArraySchema{kMlpOutNorm, "S L R", kFloat, "length", "length of what the MLP adds to the residual stream",
                "residual-norms"},
    ArraySchema{kResidualPeak, "S L R", kFloat, "length",
                "largest absolute value of the residual stream behind the layer", "residual-norms"},
    ArraySchema{kResidualPeakAt, "S L R", kInteger, "dimension", "where it is, counted from 0",
                "residual-norms"},
    ArraySchema{kResidualCosine, "S L R", kFloat, "1",
                "cosine of the residual stream with that of the step before; 1: the first step",
                "residual-norms"},
    ArraySchema{kLensTokens, "S L R K", kInteger, "token id",
                "likeliest tokens by the final norm and the head on the residual stream behind the layer",
                "lens"},
    ArraySchema{kLensProbabilities, "S L R K", kFloat, "share of 1", "probabilities of lens_tokens", "lens"},
    ArraySchema{kRoutedExperts, "S L T X", kInteger, "expert",
                "experts chosen for each token, best first; -1: the row did not run, or the layer has none",
                "routing"},
    ArraySchema{kRoutedWeights, "S L T X", kFloat, "factor", "their weights on what the experts return",
                "routing"},
    ArraySchema{kRouterEntropy, "S L T", kFloat, "nats",
                "entropy of the router's distribution over all experts, before any bias", "routing"},
    ArraySchema{kExpertLoad, "S L E", kInteger, "tokens", "tokens that chose each expert", "routing"},
    ArraySchema{kDense, "H T T", kFloat, "share of 1", "the weights themselves, [head, query, key]", "dense"},
    ArraySchema{kDenseMean, "T T", kFloat, "share of 1", "mean over the heads of the weights, [query, key]",
                "dense-mean"},
    ArraySchema{kMeanCodes, "S L T", Element::kByte, "code",
                "attention received by each key, mean over all queries and heads, quantised"},
    ArraySchema{kMeanScales, "S L 2", kFloat, "share of 1",
                "smallest and largest value of each row of mean_codes"},
    ArraySchema{kMeanMass, "S L G C", kFloat, "queries", "mass, mean over the heads"},
    ArraySchema{kMeanTopKeys, "S L K", kInteger, "position",
                "keys that receive most, mean over all queries and heads, strongest first; -1: no more"},
    ArraySchema{kMeanTopWeights, "S L K", kFloat, "share of 1", "what mean_top_keys receive"},
    ArraySchema{kHeadCodes, "S L H T", Element::kByte, "code",
                "attention received by each key in each head, mean over all queries, quantised"},
    ArraySchema{kHeadScales, "S L H 2", kFloat, "share of 1",
                "smallest and largest value of each row of head_codes"},
    ArraySchema{kRowCodes, "S L R T", Element::kByte, "code",
                "weights of the chosen queries, mean over the heads, quantised"},
    ArraySchema{kRowScales, "S L R 2", kFloat, "share of 1",
                "smallest and largest value of each row of row_codes"},
    ArraySchema{kQueries, "T H D", kFloat, "length", "query vectors, as the softmax sees them", "states"},
    ArraySchema{kKeys, "T V D", kFloat, "length", "key vectors, as the softmax sees them", "states"},
    ArraySchema{kValues, "T V D", kFloat, "length", "value vectors", "states"},
    ArraySchema{kResidual, "R M", kFloat, "length",
                "the residual stream behind the layer, of the chosen rows", "residual"},
    ArraySchema{kHeadOut, "R H D", kFloat, "length",
                "what each head hands to the output projection, of the chosen rows", "head-out"},
    ArraySchema{kPredictedConfidence, "S A", kFloat, "share of 1",
                "probability of the token that the position holds; of a masked one, of the most probable",
                "predictions"},
    ArraySchema{kPredictedEntropy, "S A", kFloat, "nats", "entropy of what is expected at the position",
                "predictions"},
    ArraySchema{kPredictedMargin, "S A", kFloat, "share of 1",
                "probability of the most probable token less that of the second", "predictions"},
    ArraySchema{kPredictedTokens, "S A P", kInteger, "token id",
                "most probable tokens of the position, most probable first; -1: no more", "predictions"},
    ArraySchema{kPredictedProbabilities, "S A P", kFloat, "share of 1", "probabilities of predicted_tokens",
                "predictions"},
    ArraySchema{kState, "N", Element::kByte, "byte", "what an analysis kept of the sample"},
};

constexpr std::array kTexts = {
    TextSchema{kFormat, "text", "buoy-trace-sample; set by the writer"},
    TextSchema{kVersion, "integer", "that of the trace; set by the writer"},
    TextSchema{kId, "text", "the sample's id; set by the writer"},
    TextSchema{kQuestion, "text", "the question as the data set has it"},
    TextSchema{kPromptText, "text", "the whole prompt, chat template included"},
    TextSchema{kAnswerText, "text", "the generated text"},
    TextSchema{kPromptLength, "integer", "tokens of the prompt; the rest of the row was generated"},
    TextSchema{kTokenTexts, "list of texts", "T texts, one per token of the final row"},
    TextSchema{kRegionNames, "list of texts", "names of the regions region_of_token points to"},
    TextSchema{kGroupNames, "list of texts", "G names of query groups"},
    TextSchema{kGoldRegions, "list of texts", "those region_names that hold the answer"},
    TextSchema{kAnswers, "list of texts", "the right answers"},
    TextSchema{kRight, "integer",
               "1: answer_text holds one of answers (substring, normalised); 0: none; absent: not known"},
    TextSchema{kAttention, "text",
               "causal, bidirectional, prefix: the prompt sees all of itself, the rest is causal, or blocks"},
    TextSchema{kBlockLength, "integer",
               "blocks: positions of a block; a query sees the blocks up to its own"},
    TextSchema{kGridOrigin, "integer", "blocks: a position at which one begins"},
    TextSchema{kDenoisedLength, "integer",
               "blocks: positions of a block while it is denoised; absent: block_length"},
    TextSchema{kDenoisedOrigin, "integer", "blocks: a position at which such a block begins"},
    TextSchema{kEndTokens, "list of texts", "blocks: ids that end an answer"},
    TextSchema{kMaskToken, "integer", "id of the mask; absent where there is none"},
    TextSchema{kPredictionOffset, "integer", "the query that writes position p is at p minus this: 0 or 1"},
    TextSchema{kFinalStep, "integer",
               "the step that is no denoising but a look at the final row; absent: none"},
};

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kSmallLetters = "abcdefghijklmnopqrstuvwxyz";

// Removes one or more of these characters from the front; false when there are none.
bool skip(std::string_view characters, std::string_view& text) {
  const size_t count = std::min(text.find_first_not_of(characters), text.size());
  text.remove_prefix(count);
  return count > 0;
}

bool matches(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    if (pattern.front() == '{') {
      const bool is_name = pattern.starts_with("{name}");
      pattern.remove_prefix(pattern.find('}') + 1);
      if (!skip(is_name ? kSmallLetters : kDigits, name)) return false;
    } else {
      if (name.empty() || name.front() != pattern.front()) return false;
      pattern.remove_prefix(1);
      name.remove_prefix(1);
    }
  }
  return name.empty();
}

}  // namespace

std::span<const ArraySchema> array_schema() {
  return kArrays;
}

std::span<const TextSchema> text_schema() {
  return kTexts;
}

const ArraySchema* find_array(std::string_view name) {
  for (const ArraySchema& schema : kArrays) {
    if (matches(schema.name, name)) return &schema;
  }
  return nullptr;
}

std::string state_name(std::string_view analysis) {
  return fmt::format(fmt::runtime(kState), fmt::arg("name", analysis));
}

std::string array_name(std::string_view pattern, std::int64_t step, std::int64_t layer) {
  return fmt::format(fmt::runtime(pattern), fmt::arg("s", step), fmt::arg("l", layer));
}

}  // namespace buoy::trace
