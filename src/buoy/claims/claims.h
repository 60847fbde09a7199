#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/result/table.h"

namespace buoy::claims {

enum class Verdict {
  kSupported,
  kContradicted,
  kMixed,      // something speaks for the claim and something against it
  kUndecided,  // nothing contradicts anything, but intervals are too wide or samples too few
  kNotTestable,
};
std::string_view name_of(Verdict verdict);

// With fewer samples than this nothing is called supported or contradicted: percentile intervals are too
// short.
inline constexpr std::int64_t kFewestSamples = 10;

struct TraceKind {
  std::string label;
  bool masked_diffusion = true;
  std::int64_t samples = 0;
};

struct TraceVerdict {
  std::string trace;  // its label; for a comparison of two: "A against B"
  Verdict verdict = Verdict::kNotTestable;
  std::string evidence;
  std::string needs;
};

struct ClaimVerdict {
  std::string id;
  std::string claim;  // one sentence
  std::string test;   // what was computed, with its threshold
  Verdict verdict = Verdict::kNotTestable;
  std::string evidence;  // numbers with intervals, trace by trace
  std::string needs;     // what is lacking and how to get it; empty when nothing is
  std::vector<TraceVerdict> by_trace;
  std::string failure;  // why it could not be judged at all; empty: it was
};

// The paper's claims C1 to C10, from the tables of all analyses together. Tables carry a first column
// "trace".
std::vector<ClaimVerdict> judge_claims(std::span<const Table> tables, std::span<const TraceKind> traces);

// One row for each claim overall, followed by one for each trace it was judged on.
Table claims_table(std::span<const ClaimVerdict> verdicts);

}  // namespace buoy::claims
