#include <algorithm>
#include <array>

#include "buoy/base/error.h"
#include "buoy/claims/sentences.h"

namespace buoy::claims {
namespace {

constexpr std::array kClaimWords = {
    ClaimWords{"C1", "Drift", "Anchors move right as denoising goes on",
               "Anchors do not move right as denoising goes on",
               "Anchors move neither right nor left beyond the margin",
               "Anchors move right as denoising goes on in some respects, not in others",
               "Whether anchors move right as denoising goes on is not decided",
               "Whether anchors move right as denoising goes on could not be tested"},
    ClaimWords{"C2", "Depth", "Deep layers have fewer and sharper anchors than shallow ones",
               "Deep layers do not have fewer and sharper anchors than shallow ones",
               "Anchors are as many and as sharp in deep layers as in shallow ones, within the margins",
               "Deep layers have fewer or sharper anchors in some respects, not in others",
               "Whether deep layers have fewer and sharper anchors is not decided",
               "Whether deep layers have fewer and sharper anchors could not be tested"},
    ClaimWords{"C3", "Tasks", "Where anchors stand depends on the task",
               "Where anchors stand does not depend on the task",
               "Where anchors stand is the same in all tasks, within the margin",
               "Where anchors stand depends on the task in some layers, not in others",
               "Whether it depends on the task where anchors stand is not decided",
               "Whether it depends on the task where anchors stand could not be tested"},
    ClaimWords{
        "C4", "Sinks", "The autoregressive model has the stronger sink, at the first token",
        "The autoregressive model does not have the stronger sink at the first token",
        "Sinks are equally strong in both kinds, within the margin",
        "The autoregressive model has the stronger sink at the first token in some respects, not in others",
        "Whether the autoregressive model has the stronger sink at the first token is not decided",
        "Whether the autoregressive model has the stronger sink at the first token could not be tested"},
    ClaimWords{"C5", "Angle and length",
               "Floating tokens win more by angle and less by length in deep layers",
               "Floating tokens do not win more by angle in deep layers",
               "Floating tokens win by angle and by length alike at all depths, within the margins",
               "Floating tokens win more by angle in deep layers in some respects, not in others",
               "Whether floating tokens win more by angle in deep layers is not decided",
               "Whether floating tokens win more by angle in deep layers could not be tested"},
    ClaimWords{"C6", "Structure, retrieval",
               "Shallow layers attend to structure, deep layers retrieve content",
               "Deep layers do not turn from structure to content",
               "Shallow and deep layers attend to structure and content alike, within the margins",
               "Deep layers turn from structure to content in some respects, not in others",
               "Whether deep layers turn from structure to content is not decided",
               "Whether deep layers turn from structure to content could not be tested"},
    ClaimWords{
        "C7", "Gain from passages", "Masked diffusion gains more than twice as much from passages",
        "Masked diffusion does not gain twice as much from passages",
        "Masked diffusion gains twice as much from passages, within the margin",
        "Masked diffusion gains more than twice as much from passages on some questions, not on others",
        "Whether masked diffusion gains more than twice as much from passages is not decided",
        "Whether masked diffusion gains more than twice as much from passages could not be tested"},
    ClaimWords{
        "C8", "Where answers look", "Diffusion answers look at the gold passage, autoregressive ones at BOS",
        "It is not so that diffusion answers look at the gold passage and autoregressive ones at BOS",
        "Answers of both kinds look at gold passage and BOS as by chance, within the margins",
        "Diffusion answers look at the gold passage and autoregressive ones at BOS in part only",
        "Whether diffusion answers look at the gold passage and autoregressive ones at BOS is not decided",
        "Whether diffusion answers look at the gold passage and autoregressive ones at BOS could not be "
        "tested"},
    ClaimWords{"C9", "Place of the passage",
               "Masked diffusion is not worse when the gold passage stands in the middle",
               "Masked diffusion is worse when the gold passage stands in the middle",
               "The place of the gold passage makes no difference to masked diffusion, within the margin",
               "The place of the gold passage matters to masked diffusion in some respects, not in others",
               "Whether the place of the gold passage matters to masked diffusion is not decided",
               "Whether the place of the gold passage matters to masked diffusion could not be tested"},
    ClaimWords{"C10", "Cause",
               "Answers need floating tokens: hiding them costs more than hiding as many others",
               "Answers do not need floating tokens: hiding them costs no more than hiding as many others",
               "Hiding floating tokens costs as much as hiding as many others, within the margin",
               "Answers need floating tokens in some respects, not in others",
               "Whether answers need floating tokens is not decided",
               "Whether answers need floating tokens could not be tested"},
};

const std::array kQuantityWords = {
    QuantityWords{rules::kStep.what, "rank correlation of anchor and step"},
    QuantityWords{rules::kStepGivenFrontier.what,
                  "rank correlation of anchor and step with the frontier held fixed"},
    QuantityWords{rules::kStatic.what, "share of anchors that never move"},
    QuantityWords{rules::kStepByLayer.what, "rank correlation of anchor and step, layer by layer"},
    QuantityWords{rules::kSetSize.what, "floating tokens, from first to last layer"},
    QuantityWords{rules::kEntropy.what, "entropy of attention in nats, from first to last layer"},
    QuantityWords{rules::kTopShare.what, "share of the largest anchor, from first to last layer"},
    QuantityWords{kLayersByTask, "over all tasks, the anchor depends on the task in"},
    QuantityWords{kLayersByTaskAlike, "over tasks of like length, in"},
    QuantityWords{rules::kSink.what, "excess share of the first token in the autoregressive model"},
    QuantityWords{rules::kFirstColumn.what,
                  "excess share of the first token, autoregressive minus diffusion"},
    QuantityWords{rules::kLargestColumn.what,
                  "excess share of the strongest token, autoregressive minus diffusion"},
    QuantityWords{rules::kAngle.what, "part of the advantage that is angle, from first to last layer"},
    QuantityWords{rules::kScale.what, "part of the advantage that is length, from first to last layer"},
    QuantityWords{rules::kStructuralShare.what,
                  "share of structure among floating tokens, from first to last layer"},
    QuantityWords{rules::kStructuralLift.what, "lift of structure, from first to last layer"},
    QuantityWords{rules::kRetrieval.what, "correlation of depth and retrieval score"},
    QuantityWords{rules::kContentLift.what,
                  "lift of the gold passage or its evidence, from first to last layer"},
    QuantityWords{kDiffusionGain, "masked diffusion gains, in exact match,"},
    QuantityWords{kAutoregressiveGain, "the autoregressive model"},
    QuantityWords{rules::kGainRatio.what, "gain of masked diffusion over that of the autoregressive model"},
    QuantityWords{rules::kGoldFlow.what, "lift of gold over that of other passages, by deep layer"},
    QuantityWords{rules::kFirstTokenFlow.what, "lift of BOS, by deep layer"},
    QuantityWords{rules::kMiddleDrop.what, "exact match with gold at the ends minus in the middle"},
    QuantityWords{rules::kFirstDrop.what, "exact match with gold first minus in the middle"},
    QuantityWords{rules::kLastDrop.what, "exact match with gold last minus in the middle"},
    QuantityWords{rules::kPlaceTrend.what,
                  "exact match from the first place to the last, as a straight line"},
    QuantityWords{rules::kHidden.what, "exact match without floating tokens minus without as many others"},
};

}  // namespace

const char* ClaimWords::lead(Verdict verdict) const {
  switch (verdict) {
    case Verdict::kSupported:
      return supported;
    case Verdict::kContradicted:
      return contradicted;
    case Verdict::kNoDifference:
      return no_difference;
    case Verdict::kMixed:
      return mixed;
    case Verdict::kUndecided:
      return undecided;
    case Verdict::kNotTestable:
      break;
  }
  return not_testable;
}

std::span<const ClaimWords> claim_words() {
  return kClaimWords;
}

const ClaimWords& words_of_claim(std::string_view id) {
  const auto found = std::find_if(kClaimWords.begin(), kClaimWords.end(),
                                  [&](const ClaimWords& words) { return words.id == id; });
  BUOY_CHECK(found != kClaimWords.end());
  return *found;
}

std::span<const QuantityWords> quantity_words() {
  return kQuantityWords;
}

const char* plain_words(std::string_view quantity) {
  const auto found = std::find_if(kQuantityWords.begin(), kQuantityWords.end(),
                                  [&](const QuantityWords& words) { return words.quantity == quantity; });
  BUOY_CHECK(found != kQuantityWords.end());
  return found->plain;
}

}  // namespace buoy::claims
