#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/claims/measured.h"
#include "buoy/claims/networks.h"
#include "buoy/claims/rules.h"
#include "buoy/result/table.h"

namespace buoy::claims {

// About these models, from questions. docs/verdicts.md has the rules.
enum class Verdict {
  kSupported,
  kContradicted,
  kNoDifference,  // all parts lie inside their margins
  kMixed,         // something speaks for the claim, and something does not bear it out
  kUndecided,     // some parts are open, and the others do not disagree
  kNotTestable,
};
std::string_view name_of(Verdict verdict);

struct TraceKind {
  std::string label;
  bool masked_diffusion = true;
  std::int64_t samples = 0;
  std::string network = {};  // which was traced; "": one of its own

  Network traced() const { return {network.empty() ? label : network, masked_diffusion}; }
};

struct TraceVerdict {
  std::string trace;  // its label; for a comparison of two: "A against B"
  Verdict verdict = Verdict::kNotTestable;
  std::string evidence;
  std::string needs;
  std::string parts = {};               // "1 for, 2 against, 1 open"
  std::vector<Network> networks = {};   // that it is about
  std::vector<Measured> measured = {};  // the numbers of `evidence`, for sentences
};

struct ClaimVerdict {
  std::string id;
  std::string claim;  // one sentence
  std::string test;   // what was computed, with its threshold
  Verdict verdict = Verdict::kNotTestable;
  std::string parts;     // of the only trace, or how many traces say what
  std::string evidence;  // numbers with intervals, trace by trace
  std::string needs;     // what is lacking and how to get it; empty when nothing is
  std::vector<TraceVerdict> by_trace;
  KindsVerdict kinds;   // about kinds of models, from networks
  std::string failure;  // why it could not be judged at all; empty: it was
};

// The paper's claims C1 to C10, from the tables of all analyses together. Tables carry a first column
// "trace".
std::vector<ClaimVerdict> judge_claims(std::span<const Table> tables, std::span<const TraceKind> traces);

// One row for each claim overall, followed by one for each trace it was judged on.
Table claims_table(std::span<const ClaimVerdict> verdicts);

}  // namespace buoy::claims
