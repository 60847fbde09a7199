#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buoy/analysis/core/reach.h"
#include "buoy/stats/median.h"

namespace buoy::analysis {

// How floating tokens and sinks are told from the rest of the received attention of one step, layer and head
// (or mean over heads). All comparisons are strict.
enum class Rule : std::uint8_t {
  kThreeSigma,      // published (drift): above mean + epsilon * population deviation
  kThreeSigmaLift,  // the same on received / max(1/T, null): for causal layers, whose null falls with
                    // position
  kAdditive,        // published (absorption): above the mean of the others + 3; cannot fire, then the largest
  kRulliSum,        // the same on the scale of column sums
  kRulliPercent,    // the same on the scale of percents
  kTop1,            // the largest, the first of equal ones
  kShare,           // above factor * max(1/T, null)
  kShareDouble,     // above twice that
  kRobust,          // above median + factor * 1.4826 * MAD
};

inline constexpr std::array kRules = {
    Rule::kThreeSigma, Rule::kThreeSigmaLift, Rule::kAdditive,    Rule::kRulliSum, Rule::kRulliPercent,
    Rule::kTop1,       Rule::kShare,          Rule::kShareDouble, Rule::kRobust,
};
inline constexpr auto kRuleCount = static_cast<std::int64_t>(kRules.size());

inline constexpr double kPublishedEpsilon = 3.0;

struct RuleOptions {
  double epsilon = kPublishedEpsilon;
  double share_factor = 4.0;
  double mad_factor = 6.0;

  bool operator==(const RuleOptions&) const = default;
};

// "three_sigma", or "2_sigma" with that epsilon; "share_4".
std::string rule_name(Rule rule, const RuleOptions& options);
// "published" or "calibrated": a published rule with another number in it is not the published one.
std::string estimator_name(Rule rule, const RuleOptions& options);

// The positions one rule selects.
struct Anchors {
  bool defined = true;                  // false: the rule has no meaning for this vector
  bool fired = false;                   // the rule itself selected something, without its fallback
  std::vector<std::int32_t> positions;  // ascending
};

// Applies the rules to vectors over the keys of one reach.
class AnchorDetector {
 public:
  AnchorDetector(const Reach& reach, const RuleOptions& options);
  // Of a whole row.
  AnchorDetector(const Mask& mask, std::int64_t tokens, const RuleOptions& options)
      : AnchorDetector(whole_row(mask, tokens), options) {}

  bool fits(const Reach& reach) const { return reach == reach_; }
  const std::vector<double>& null() const { return null_; }  // uniform attention of these queries

  // The vector that the functions below are about; it must stay as it is meanwhile.
  void look(std::span<const double> received);
  void find(Rule rule, Anchors& out);
  std::int64_t top() const { return top_; }
  std::int64_t top_lift();  // the largest of received / max(1/T, null), the first of equal ones
  double top_share() const { return received_[static_cast<size_t>(top_)]; }
  double margin() const { return top_share() - second_; }  // of the largest over the second
  double entropy();                                        // nats
  double anchor_count() const;                             // 1 / sum of squares

 private:
  void above(double threshold, Anchors& out) const;
  void above_each(const std::vector<double>& thresholds, Anchors& out) const;
  void above_others(double scale, Anchors& out) const;
  const std::vector<double>& lift();  // received / floor
  void three_sigma_of_lift(Anchors& out);
  void robust(Anchors& out);

  Reach reach_;
  std::int64_t tokens_;  // keys that exist
  RuleOptions options_;
  std::vector<double> null_, floor_, share_, share_double_;  // floor: max(1/T, null)
  bool flat_ = true;                                         // the floor is the same everywhere
  std::span<const double> received_;
  double total_ = 0, mean_ = 0, deviation_ = 0, squares_ = 0, second_ = 0;
  std::int64_t top_ = 0;
  std::vector<double> lift_;  // empty: not yet made
  std::vector<double> scratch_;
  stats::MedianFinder median_;
};

// Of a set: the attention it holds.
double share_of(const std::vector<std::int32_t>& positions, std::span<const double> received);

}  // namespace buoy::analysis
