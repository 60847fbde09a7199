#pragma once

#include <string_view>

namespace buoy::claims {

// About these models, from questions; or about kinds of models, from networks. docs/verdicts.md has the
// rules.
enum class Verdict {
  kSupported,
  kContradicted,
  kNoDifference,  // all parts lie inside their margins
  kMixed,         // something speaks for the claim, and something does not bear it out
  kUndecided,     // some parts are open, and the others do not disagree
  kNotTestable,
};
std::string_view name_of(Verdict verdict);

// What one number says about a claim.
enum class Finding {
  kFor,
  kAgainst,
  kEqual,  // no difference beyond the margin
  kSplit,  // some of it for, some against
  kUndecided,
  kLacking,
};

}  // namespace buoy::claims
