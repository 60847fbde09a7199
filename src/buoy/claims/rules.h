#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// By what numbers claims are judged. All of them stand here, once: judges take them from here,
// docs/verdicts.md is printed from here, and their hash tells whether two verdicts come from the same rules.
namespace buoy::claims {

// All quantities of a claim together err with this chance at most (Holm); the intervals in tables are taken
// as intervals of 1 - kAlpha.
inline constexpr double kAlpha = 0.05;
// Effects that a study can find are those found with this chance.
inline constexpr double kPower = 0.8;
// With fewer samples than this nothing is decided: percentile intervals are too short.
inline constexpr std::int64_t kFewestSamples = 10;
// With fewer networks per arm than this nothing is said about kinds of models.
inline constexpr std::size_t kFewestNetworks = 5;
// Layers disagree when more than one in so many are on each side.
inline constexpr std::size_t kSplitLayers = 8;

// Where the whole interval must lie to speak for a claim. The band is null +- margin.
enum class Side {
  kAbove,     // beyond the band, above; against: beyond it, below
  kBelow,     // beyond the band, below; against: beyond it, above
  kWithin,    // inside the band; against: beyond it on either side
  kNotAbove,  // below the upper end of the band; against: above it
};

// What a quantity about kinds of models is made of: one number per network of one arm, or of both compared.
enum class Contrast {
  kDiffusion,       // of the masked-diffusion arm
  kAutoregressive,  // of the autoregressive arm
  kDifference,      // autoregressive minus masked diffusion
  kRatio,           // masked diffusion over autoregressive
};

// The number of a network where a quantity is judged layer by layer.
enum class OverLayers { kNone, kMean, kMeanOfDeepThird };

struct QuantityRule {
  std::string_view what;
  Side side = Side::kAbove;
  double null = 0;
  double margin = 0;
  std::string_view unit = "";
  // An interval no wider than this has no spread over questions: the number is what one training chose.
  double no_spread = 0;
  Contrast contrast = Contrast::kDiffusion;
  OverLayers layers = OverLayers::kNone;
  std::string_view of_network = "";  // the number of one network; "": what

  constexpr std::string_view number() const { return of_network.empty() ? what : of_network; }
};

namespace rules {

inline constexpr QuantityRule kStep{"Spearman of anchor and step", Side::kAbove, 0, 0.1};
inline constexpr QuantityRule kStepGivenFrontier{"the same given the frontier",
                                                 Side::kAbove,
                                                 0,
                                                 0.1,
                                                 "",
                                                 0,
                                                 Contrast::kDiffusion,
                                                 OverLayers::kNone,
                                                 "Spearman of anchor and step given the frontier"};
inline constexpr QuantityRule kStatic{"share of samples and layers whose anchor never moves", Side::kBelow,
                                      0.5, 0.1};
inline constexpr QuantityRule kStepByLayer{"Spearman of anchor and step by layer",
                                           Side::kAbove,
                                           0,
                                           0.1,
                                           "",
                                           0,
                                           Contrast::kDiffusion,
                                           OverLayers::kMean};
inline constexpr double kAllStatic = 0.9;  // C1: so many never move, and the claim is contradicted

inline constexpr QuantityRule kSetSize{"slope of set_size", Side::kBelow, 0, 0.1, "positions"};
inline constexpr QuantityRule kEntropy{"slope of entropy", Side::kBelow, 0, 0.02, "nats"};
inline constexpr QuantityRule kTopShare{"slope of top_share", Side::kAbove, 0, 0.001, "of attention"};

// C3: what counts as large, and what as less than medium (Cohen).
struct Scale {
  std::string_view quantity, what;
  double large, medium;
};
inline constexpr Scale kPlace{"relative_position", "relative position, epsilon squared", 0.14, 0.06};
inline constexpr Scale kType{"token_type", "token type, Cramer's V", 0.3, 0.2};
inline constexpr double kTaskAlpha = kAlpha / 2;  // of the layers of one of these two quantities

// About kinds of models: the same two, less what anchors drawn evenly over the same prompts give. Above the
// band is large, below it less than medium.
inline constexpr QuantityRule kPlaceExcess{"relative position, epsilon squared less that of even anchors",
                                           Side::kAbove,
                                           (kPlace.large + kPlace.medium) / 2,
                                           (kPlace.large - kPlace.medium) / 2,
                                           "",
                                           0,
                                           Contrast::kDiffusion,
                                           OverLayers::kMean};
inline constexpr QuantityRule kTypeExcess{"token type, Cramer's V less that of even anchors",
                                          Side::kAbove,
                                          (kType.large + kType.medium) / 2,
                                          (kType.large - kType.medium) / 2,
                                          "",
                                          0,
                                          Contrast::kDiffusion,
                                          OverLayers::kMean};

inline constexpr std::string_view kExcessOfFirst = "excess share of position 0",
                                  kExcessOfLargest = "excess share of the largest";
inline constexpr QuantityRule kSink{"excess share of position 0 in the autoregressive model",
                                    Side::kAbove,
                                    0,
                                    0.005,
                                    "",
                                    0,
                                    Contrast::kAutoregressive,
                                    OverLayers::kNone,
                                    kExcessOfFirst};
inline constexpr QuantityRule kFirstColumn{"excess share of position 0, autoregressive minus diffusion",
                                           Side::kAbove,
                                           0,
                                           0.005,
                                           "",
                                           0,
                                           Contrast::kDifference,
                                           OverLayers::kNone,
                                           kExcessOfFirst};
inline constexpr QuantityRule kLargestColumn{"excess share of the largest, autoregressive minus diffusion",
                                             Side::kAbove,
                                             0,
                                             0.005,
                                             "",
                                             0,
                                             Contrast::kDifference,
                                             OverLayers::kNone,
                                             kExcessOfLargest};

inline constexpr QuantityRule kAngle{"slope of the fraction due to angle", Side::kAbove, 0, 0.025};
inline constexpr QuantityRule kScale{"slope of the fraction due to scale", Side::kBelow, 0, 0.025};

inline constexpr QuantityRule kStructuralShare{"slope of the structural share of floating tokens",
                                               Side::kBelow, 0, 0.02};
inline constexpr QuantityRule kStructuralLift{"slope of the lift of structural tokens", Side::kBelow, 0,
                                              0.025};
inline constexpr QuantityRule kRetrieval{
    "Pearson of layer and retrieval score", Side::kAbove, 0, 0.1, "", 0.001};
inline constexpr QuantityRule kContentLift{"slope of the lift of gold, of evidence", Side::kAbove, 0, 0.025};

inline constexpr QuantityRule kGainRatio{"ratio of the gains, masked diffusion over autoregressive",
                                         Side::kAbove,
                                         2,
                                         0.1,
                                         "",
                                         0,
                                         Contrast::kRatio,
                                         OverLayers::kNone,
                                         "gain in exact match"};
// What closed book leaves a network to gain: no quantity of the claim, but the room it has.
inline constexpr std::string_view kRoom = "room for a gain in exact match";

inline constexpr QuantityRule kGoldFlow{"lift of gold over that of distractors, by layer",
                                        Side::kAbove,
                                        1,
                                        0.05,
                                        "",
                                        0,
                                        Contrast::kDiffusion,
                                        OverLayers::kMeanOfDeepThird};
inline constexpr QuantityRule kFirstTokenFlow{
    "lift of BOS, by layer",     Side::kAbove, 1, 0.05, "", 0, Contrast::kAutoregressive,
    OverLayers::kMeanOfDeepThird};
inline constexpr std::size_t kFewestGoldPositions = 3;  // "wherever it is": beginning, middle and end

inline constexpr QuantityRule kMiddleDrop{"ends minus middle", Side::kNotAbove, 0, 0.05, "of exact match"};
inline constexpr QuantityRule kFirstDrop{"first place minus middle", Side::kNotAbove, 0, 0.05,
                                         "of exact match"};
inline constexpr QuantityRule kLastDrop{"last place minus middle", Side::kNotAbove, 0, 0.05,
                                        "of exact match"};
inline constexpr QuantityRule kPlaceTrend{"straight line over places, late minus early", Side::kWithin, 0,
                                          0.05, "of exact match"};
inline constexpr std::size_t kFewestPlaces = 5;
// C9, C10: a model that is right less often has nothing to lose, and that it loses nothing says nothing.
inline constexpr double kFewestRight = 0.1;

inline constexpr QuantityRule kHidden{"exact match without floating columns minus without as many others",
                                      Side::kBelow, 0, 0.05, "of exact match"};

// About kinds of models: in a third where it holds, autoregressive models must not need floating columns too.
inline constexpr QuantityRule kHiddenBeside{
    "the same in autoregressive models", Side::kBelow,      0,           0.05, "of exact match", 0,
    Contrast::kAutoregressive,           OverLayers::kNone, kHidden.what};

}  // namespace rules

// Which kinds of models a claim speaks of.
enum class Arms { kDiffusion, kBoth };

struct ClaimRule {
  std::string id;
  std::string claim;  // one sentence
  std::string data;   // what is looked at
  std::vector<QuantityRule> quantities;
  std::string supported, contradicted, not_testable;  // when
  Arms arms = Arms::kDiffusion;
  std::vector<QuantityRule> own_kinds = {};  // about kinds of models, where not `quantities`

  const std::vector<QuantityRule>& about_kinds() const { return own_kinds.empty() ? quantities : own_kinds; }
};

std::span<const ClaimRule> claim_rules();  // C1 to C10
const ClaimRule& rule_of(std::string_view id);

// "above 0 by more than 0.1 positions"
std::string words_of(const QuantityRule& rule);
// All of a rule in one paragraph: the column `test` of verdicts.
std::string test_of(const ClaimRule& rule);

// Every number and condition of all rules, one a line, and its SHA-256: the version of the rules.
std::string canonical_rules();
const std::string& rules_hash();

// docs/verdicts.md
std::string describe_verdicts();

}  // namespace buoy::claims
