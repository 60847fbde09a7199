// Rules in words: in the column `test`, on docs/verdicts.md, and as the text that is hashed.

#include <fmt/format.h>

#include "buoy/base/sha256.h"
#include "buoy/claims/contrasts.h"
#include "buoy/claims/rules.h"

namespace buoy::claims {
namespace {

const char* name_of(Side side) {
  switch (side) {
    case Side::kAbove:
      return "above";
    case Side::kBelow:
      return "below";
    case Side::kWithin:
      return "within";
    case Side::kNotAbove:
      break;
  }
  return "not-above";
}

std::string against_words(const QuantityRule& rule) {
  const double low = rule.null - rule.margin, high = rule.null + rule.margin;
  switch (rule.side) {
    case Side::kAbove:
      return fmt::format("below {:g}", low);
    case Side::kBelow:
    case Side::kNotAbove:
      return fmt::format("above {:g}", high);
    case Side::kWithin:
      break;
  }
  return fmt::format("below {:g} or above {:g}", low, high);
}

std::string for_words(const QuantityRule& rule) {
  const double low = rule.null - rule.margin, high = rule.null + rule.margin;
  switch (rule.side) {
    case Side::kAbove:
      return fmt::format("above {:g}", high);
    case Side::kBelow:
      return fmt::format("below {:g}", low);
    case Side::kNotAbove:
      return fmt::format("below {:g}", high);
    case Side::kWithin:
      break;
  }
  return fmt::format("between {:g} and {:g}", low, high);
}

// The conditions that all claims share, with their numbers.
std::string general_rules() {
  return fmt::format(
      R"(A quantity has a null and a margin. What counts is where its whole interval lies:

- **for**: beyond the margin on the claimed side;
- **against**: beyond the margin on the other side;
- **as good as equal** (no difference beyond the margin): inside the margin. It is neither for nor against;
- **open**: anything else, an interval that is not there, or fewer than {0} samples.

Where what is claimed is that nothing happens (C9), inside the margin is for.

**Margins** say what is too small to matter, and must leave room for what a study of 64 questions and five networks per arm is to find: a Spearman
of 0.3, an excess share of 0.02, a slope of 0.05. An effect as large as its margin is never beyond it, so slopes of QK fractions and of
lifts have half of that, 0.025. Excess shares have a quarter, 0.005: with half of it the power was 0.42 at the one spread between networks that was
known (two seeds), with a quarter 0.81. Where networks differ as much as the slopes of two seeds did, no margin is small enough
(`docs/results/2026-11-18-power.md`). These margins were set when the numbers of the planted pair were known.

**Untrained controls** hold findings back. A study runs networks of the same config that were never trained beside its traces
([controls](studies.md#controls)). Where one has a number of the same kind, mask and data, a quantity is for or against only if its interval lies
beyond the margin of the control as well, on the same side: what a network shows before training is not what training made of it. Otherwise
it is open, and the evidence says so. Layers within a quantity are compared with the null alone. Controls are never judged themselves.

**What is open** is said with the smallest effect (distance from the null) that such an interval finds with a power of {5:g}: margin and
standard error times the quantiles of {2:g}% and of the power, uncorrected. A report claims no more than that.

**Several quantities in one claim** are corrected by Holm: all verdicts on the quantities of a claim in one trace (or model and data
set, or run) err with a chance of {1:g} together. Tables have intervals of {2:g}%. Of m quantities, one must be decided with its
interval widened to 1 - {1:g}/m, the next with 1 - {1:g}/(m - 1), and so on; where none is, those left stay open. Ends are moved out
from the value by the ratio of normal quantiles, each side by itself. Layers within a quantity are corrected among themselves
in the same way, at the level that the quantity has. Quantities that are not defined do not count. Verdicts from intervals of another
`confidence` are not verdicts of these rules.

**Verdicts on a trace** follow its parts, and say how many are what:

| verdict | parts |
|---|---|
| supported | all for |
| contradicted | one or more against, the others against or as good as equal |
| no difference beyond the margin | all as good as equal |
| mixed | one or more for, and one or more against or as good as equal; or more than one in {3} layers on each side |
| not decided | none of these: some are open. The count beside it says what the others are |
| not testable | something is lacking, or the design leaves the claim no room |

Traces (models, runs) that could not be tested do not vote while others could. Supported and contradicted together are mixed; one that
decides nothing leaves the whole undecided.

**About kinds of models**: samples are questions, so all this is about *these models*. A claim about kinds of models takes networks
as its samples: from {4} networks per arm on. With fewer the second verdict is "too few networks". Each network has one number per
quantity; where a quantity is judged by layer, it is the mean over these layers (those with {0} samples or more), between the means of
the ends. A network counts
where its number has an interval and rests on {0} questions or more. The kinds are masked diffusion with a full mask and
autoregressive with a causal one: networks that mix these and untrained controls are shown and never count. The interval of an arm is
Student's t on the numbers of its networks, at two levels: its variance is s^2 / n over networks, plus the mean of the squared
standard errors of the networks over their questions. All networks of a study are asked the same questions, so that what these add
does not shrink with n; the squared error of one network is the most it can be, so the interval is conservative. Arms are compared
by Welch with Satterthwaite's degrees of freedom, ratios by Fieller. Null, margin, side and Holm's correction are the same, for all
quantities of a claim and all its data together, at the quantiles of t. How quantities make a verdict is the same as for traces; only
of C3, whose layers are one number here, place or type is enough for, and both are needed against, of all tasks and of those of like length.
)",
      kFewestSamples, kAlpha, 100 * (1 - kAlpha), kSplitLayers, kFewestNetworks, kPower);
}

// Outside of the version: no verdict and no number of a network depends on it, and tables of networks that
// were measured before it was written stay comparable.
std::string contrast_rules() {
  return fmt::format(R"(
## Contrasts of arms

What mask and objective do to a number (table `claim_contrasts`): the mean of one arm minus that of another, of {0} networks or more each,
by Welch as above. No claim is judged by it, so these rules are not in the version above, and nothing is corrected for their number. The
null is 0; the margin is that of the quantity (of two rules on one number the first; 0 for ratios and for what no rule has). What is found:

- **beyond the margin**: the whole interval lies beyond the margin, on either side, and beyond the margin around what untrained controls of
  both arms show (the difference of their means) on the same side as well;
- **also without training**: beyond the margin, but not beyond what the controls show. The mask, the config or the way of decoding is enough
  for it, and it is not told as an effect of training;
- **beyond the margin, no controls**: beyond it, and one of the arms has no untrained control to compare with;
- **within the margin**; **open**: anything else.
)",
                     kFewestOfAContrast);
}

const char* name_of(Contrast contrast) {
  switch (contrast) {
    case Contrast::kDiffusion:
      return "the masked-diffusion arm";
    case Contrast::kAutoregressive:
      return "the autoregressive arm";
    case Contrast::kDifference:
      return "autoregressive minus masked diffusion";
    case Contrast::kRatio:
      break;
  }
  return "masked diffusion over autoregressive";
}

const char* name_of(OverLayers layers) {
  switch (layers) {
    case OverLayers::kNone:
      return "";
    case OverLayers::kMean:
      return ", mean over the layers";
    case OverLayers::kMeanOfDeepThird:
      break;
  }
  return ", mean over the deep third of the layers";
}

// "About kinds of models": what each quantity is made of.
std::string kinds_words(const ClaimRule& rule) {
  std::string out;
  for (const auto& q : rule.about_kinds()) {
    out += fmt::format(
        "\n  - {}{}: {}{}", q.number(), name_of(q.layers), name_of(q.contrast),
        rule.own_kinds.empty() ? "" : fmt::format(" (for: {}; against: {})", for_words(q), against_words(q)));
  }
  return out;
}

std::string quantity_table(const ClaimRule& rule) {
  if (rule.quantities.empty()) return "";
  std::string out = "\n| quantity | null | margin | for | against |\n|---|---|---|---|---|\n";
  for (const auto& quantity : rule.quantities) {
    out += fmt::format("| {} | {:g} | {:g}{}{} | {} | {} |\n", quantity.what, quantity.null, quantity.margin,
                       quantity.unit.empty() ? "" : " ", quantity.unit, for_words(quantity),
                       against_words(quantity));
  }
  return out;
}

}  // namespace

std::string words_of(const QuantityRule& rule) {
  return fmt::format("{} {} (against: {})", rule.what, for_words(rule), against_words(rule));
}

std::string test_of(const ClaimRule& rule) {
  std::string out = rule.data + ". ";
  for (size_t i = 0; i < rule.quantities.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "For: " : "; ", words_of(rule.quantities[i]));
  if (!rule.quantities.empty()) out += ". ";
  return out + fmt::format("Supported when {}. Contradicted when {}. Not testable when {}.", rule.supported,
                           rule.contradicted, rule.not_testable);
}

std::string canonical_rules() {
  std::string out = general_rules();
  for (const auto& rule : claim_rules()) {
    out += fmt::format("{}|{}|{}|{}|{}|{}|{}\n", rule.id, rule.claim, rule.data, rule.supported,
                       rule.contradicted, rule.not_testable, rule.arms == Arms::kBoth ? "both" : "diffusion");
    for (const auto* list : {&rule.quantities, &rule.own_kinds}) {
      for (const auto& q : *list) {
        out += fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}\n", rule.id, q.what, name_of(q.side), q.null,
                           q.margin, q.unit, q.no_spread, name_of(q.contrast), name_of(q.layers), q.number());
      }
    }
  }
  return out;
}

const std::string& rules_hash() {
  static const std::string hash = sha256_hex(canonical_rules());
  return hash;
}

std::string describe_verdicts() {
  std::string out = fmt::format(
      R"(# Rules of verdicts

How `buoy report` judges the claims of arXiv 2601.07894. This page is printed from the rules in
`src/buoy/claims/rules.h` and `rules.cc` (`build/dev/bin/describe_verdicts`), and a test compares the two. Verdicts of different rules do not
compare: the report, the table `claims` and this page print the version of the rules, the SHA-256 of their text.

Version of these rules: `{}`

## All claims

)",
      rules_hash());
  out += general_rules();
  for (const auto& rule : claim_rules()) {
    out += fmt::format(
        "\n## {0}\n\n*{1}*\n\n{2}.\n{3}\n- Supported when {4}.\n- Contradicted when {5}.\n- Not testable "
        "when "
        "{6}.\n- About kinds of models, {7}:{8}\n",
        rule.id, rule.claim, rule.data, quantity_table(rule), rule.supported, rule.contradicted,
        rule.not_testable, rule.arms == Arms::kBoth ? "both arms" : "the masked-diffusion arm",
        kinds_words(rule));
  }
  return out + contrast_rules();
}

}  // namespace buoy::claims
