#pragma once

#include <functional>

#include "buoy/claims/claims_evidence.h"

namespace buoy::claims {

struct Material {
  std::span<const Table> tables;
  std::span<const TraceKind> traces;
  const Background& background;

  std::vector<TraceKind> diffusion() const;
  std::vector<TraceKind> autoregressive() const;
  // Those that a claim about one kind is not judged on: the other kind, and controls of both.
  std::vector<TraceKind> beside(bool masked_diffusion) const;
  // With the same number of the controls of that kind on the same data, where it is one.
  Reading read(const TraceKind& trace, const Lookup& lookup) const;
  std::vector<TraceKind> controls_of(const TraceKind& trace) const;
};

// What its rule says of a claim; nothing is judged yet.
ClaimVerdict verdict_on(std::string_view id);

// The numbers of networks that the claim is not judged on, for comparison.
void add_numbers(ClaimVerdict& claim, std::span<const TraceKind> traces,
                 const std::function<TraceVerdict(const TraceKind&)>& judge_one);
// A claim about masked diffusion: judged trace by trace, and the numbers of all others.
ClaimVerdict over_diffusion(ClaimVerdict claim, const Material& material,
                            TraceVerdict (*judge_one)(const Material&, const TraceKind&));

// How parts make the verdict of a claim: of a trace from questions, and of kinds of models from networks.
struct DriftParts {
  const Part &step, &given_frontier, &still, &by_layer;
  double still_lower;  // end of the interval of `still`
};
Verdict drift_verdict(const DriftParts& parts);                     // C1
Verdict absorption_verdict(std::span<const Part> parts);            // C4: sink, first, largest column
Part merged(const std::string& name, std::span<const Part> parts);  // C6: one of (a), (b), (c)
Verdict middle_verdict(std::span<const Part> parts);                // C9: the drops, then the straight line

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
