#pragma once

#include "buoy/claims/claims_evidence.h"

namespace buoy::claims {

struct Material {
  std::span<const Table> tables;
  std::span<const TraceKind> traces;

  std::vector<TraceKind> diffusion() const;
  std::vector<TraceKind> autoregressive() const;
  Reading read(const TraceKind& trace, const Lookup& lookup) const {
    return claims::read(tables, trace, lookup);
  }
};

// What its rule says of a claim; nothing is judged yet.
ClaimVerdict verdict_on(std::string_view id);

inline constexpr const char* kNeedsDiffusion = "a trace of a masked-diffusion model";
inline constexpr const char* kNeedsAutoregressive = "a trace of an autoregressive model on the same data";

ClaimVerdict judge_drift(const Material& material);       // C1
ClaimVerdict judge_depth(const Material& material);       // C2
ClaimVerdict judge_tasks(const Material& material);       // C3
ClaimVerdict judge_absorption(const Material& material);  // C4
ClaimVerdict judge_split(const Material& material);       // C5
ClaimVerdict judge_content(const Material& material);     // C6
ClaimVerdict judge_flow(const Material& material);        // C8
// From the tables of `buoy eval`, not from traces.
ClaimVerdict judge_gain(const Material& material);    // C7
ClaimVerdict judge_middle(const Material& material);  // C9
ClaimVerdict judge_cause(const Material& material);   // C10

}  // namespace buoy::claims
