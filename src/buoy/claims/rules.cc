#include "buoy/claims/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::claims {
namespace {

const char* const kAllFor = "all quantities are for";
const char* const kNoneFor = "one or more quantities are against, and the others against or as good as equal";
const char* const kNeedsTables = "a trace lacks a table or a value of these quantities";

std::vector<ClaimRule> make_rules() {
  using namespace rules;
  return {
      {"C1",
       "Anchors shift right over the denoising steps in each layer.",
       "Diffusion traces, heads averaged, all positions, all layers",
       {kStep, kStepGivenFrontier, kStatic, kStepByLayer},
       "all quantities are for; that anchors move at all is a condition and supports nothing by itself",
       fmt::format("{}; or the first is against and no other correlation is for; or at least {:g} of samples "
                   "and layers have an anchor that never moves and no correlation is for",
                   kNoneFor, kAllStatic),
       fmt::format("{}, as where step and frontier are the same thing", kNeedsTables)},
      {"C2",
       "Shallow layers have several spread anchors, deep layers fewer and sharper ones.",
       "Diffusion traces, slopes over depth of straight lines fitted through the layers, each per head and "
       "with heads averaged; sets are three-sigma ones (or those of `epsilon`)",
       {kSetSize, kEntropy, kTopShare},
       kAllFor,
       kNoneFor,
       kNeedsTables},
      {"C3",
       "Where anchors stand depends on the task.",
       fmt::format(
           "Diffusion traces of one model on three data sets or more; anchor: the largest lift over "
           "uniform attention; all tasks, and those whose rows have like lengths. A layer is for when "
           "{} is at least {:g} or {} at least {:g}, with p below {:g} for all layers of that quantity "
           "(permuted task labels, Holm; {:g} for the two quantities) and more than anchors drawn "
           "evenly over the same prompts give; against when the upper ends lie below {:g} and {:g}, or "
           "all anchors are the same",
           kPlace.what, kPlace.large, kType.what, kType.large, kTaskAlpha, kAlpha, kPlace.medium,
           kType.medium),
       {},
       "more than half of the layers are for, both of all tasks and of those of like length",
       "more than half of the layers are against, of both",
       "there are fewer than three tasks, or no two whose rows have like lengths",
       Arms::kDiffusion,
       {kPlaceExcess, kTypeExcess}},
      {"C4",
       "Autoregressive models have a rigid sink at the first token; in masked-diffusion models absorption is "
       "weaker and distributed.",
       "Every autoregressive against every diffusion trace of the same data (of any, where none share it), "
       "final row, head by head, all layers, by the "
       "queries that write the answer (by all where these are not apart): excess share (share - floor) / "
       "(seen - floor), which is the same for the same sink under every mask and at every length; "
       "differences of the questions that both have, in pairs. Assumes the same prompts",
       {kSink, kFirstColumn, kLargestColumn},
       kAllFor,
       fmt::format("{}; or both differences are against, whatever the sink", kNoneFor),
       "there are not both kinds of traces, or one lacks the table",
       Arms::kBoth},
      {"C5",
       "Floating columns win by angle and norm in shallow layers, mainly by angle in deep ones.",
       "Diffusion traces, columns that float in the head itself, after the rotation, slopes over depth of "
       "straight lines fitted through the layers of the fractions of the advantage",
       {kAngle, kScale},
       kAllFor,
       kNoneFor,
       kNeedsTables},
      {"C6",
       "Shallow layers attend to structure, deep layers to content.",
       fmt::format(
           "Diffusion traces, over depth: (a) structure falls (the first two), (b) retrieval rises "
           "(strict and mass), (c) gold rises (gold and evidence). A Pearson whose interval is no wider "
           "than {:g} is the same for all questions: it says which layers one training chose (n = 1 "
           "network), and counts for nothing",
           kRetrieval.no_spread),
       {kStructuralShare, kStructuralLift, kRetrieval, kContentLift},
       "(a), (b) and (c) are for, each with all its quantities that are defined",
       "one or more of (a), (b), (c) are against, and the others against or as good as equal",
       kNeedsTables},
      {"C7",
       "Masked-diffusion models gain more than twice as much from retrieved passages as autoregressive ones.",
       "Gain in exact match over closed book, same prompt and items, item by item; every data set and "
       "condition with passages",
       {kGainRatio},
       "the ratio is for wherever it is testable",
       "the ratio is against wherever it is testable",
       fmt::format(
           "there is no room ({:g} times the autoregressive gain is more than what closed book leaves "
           "the masked-diffusion models to 1), or the autoregressive gain is not surely above 0",
           kGainRatio.null),
       Arms::kBoth},
      {"C8",
       "A diffusion model's flow goes to the gold document wherever it stands, an autoregressive model's to "
       "BOS.",
       "One-layer attention of the answer over even attention, deep third of the layers: gold at every place "
       "(diffusion), BOS (autoregressive). A quantity is for when more than half of those layers are and "
       "none "
       "is against. The published rollout is not used: over many layers it shows the mask, not the model",
       {kGoldFlow, kFirstTokenFlow},
       "all quantities are for, in traces of both kinds",
       "one or more quantities are against, the others against or as good as equal, in traces of both kinds",
       fmt::format("there are not both kinds of traces, or gold stands at fewer than {} places",
                   kFewestGoldPositions),
       Arms::kBoth},
      {"C9",
       "Masked-diffusion models avoid being lost in the middle.",
       "Exact match by the place of the gold passage, item by item: both ends together, the first and the "
       "last "
       "place each by itself against the middle third; and a straight line over all places, which finds a "
       "bias "
       "towards one end that both ends together hide. Here no effect is what is claimed",
       {kMiddleDrop, kFirstDrop, kLastDrop, kPlaceTrend},
       kAllFor,
       "the first three are against, whatever the straight line",
       fmt::format("there are fewer than {} places, or exact match is below {:g} both at the ends and in the "
                   "middle: nothing to lose",
                   kFewestPlaces, kFewestRight)},
      {"C10",
       "Floating explains strong in-context learning.",
       "Exact match with passages when floating columns of a third of the layers are hidden (never the "
       "answer "
       "itself) minus that when as many random or structural ones are, item by item. A third of the layers "
       "is "
       "for when both differences are, against when one of them is, as good as equal when one of them shows "
       "that floating columns cost no more beyond the margin",
       {kHidden},
       "some third is for, and no third of an autoregressive model beside it is, the same or another (else "
       "mixed)",
       "one or more thirds are against, and the others against or as good as equal",
       fmt::format(
           "no columns were hidden, or exact match is below {:g} with nothing hidden: nothing to lose",
           kFewestRight),
       Arms::kBoth,
       {kHidden, kHiddenBeside}},
  };
}

}  // namespace

std::span<const ClaimRule> claim_rules() {
  static const std::vector<ClaimRule> rules = make_rules();
  return rules;
}

const ClaimRule& rule_of(std::string_view id) {
  const auto rules = claim_rules();
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const auto& rule) { return rule.id == id; });
  BUOY_CHECK(found != rules.end());
  return *found;
}

}  // namespace buoy::claims
