#include "buoy/ops/experts/experts.h"

#include "buoy/base/error.h"
#include "buoy/ops/experts/experts_cpu.h"

namespace buoy::ops {

void route(const Context& context, const RouterRule& rule, const RouteArgs& args) {
  BUOY_CHECK(rule.chosen >= 1 && rule.chosen <= rule.experts && args.rows >= 0);
  if (rule.kind == RouterKind::kSigmoidGroups) {
    BUOY_CHECK(rule.groups >= 1 && rule.experts % rule.groups == 0);
    BUOY_CHECK(rule.kept_groups >= 1 && rule.kept_groups <= rule.groups);
    BUOY_CHECK(rule.chosen <= rule.kept_groups * (rule.experts / rule.groups));
  }
  route_cpu(context, rule, args);
}

RowsByExpert rows_by_expert(std::span<const std::int32_t> routed, std::int64_t experts) {
  RowsByExpert out;
  out.first.assign(static_cast<size_t>(experts) + 1, 0);
  for (const auto expert : routed) {
    BUOY_CHECK(expert >= 0 && expert < experts);
    ++out.first[static_cast<size_t>(expert) + 1];
  }
  for (size_t e = 0; e < static_cast<size_t>(experts); ++e) out.first[e + 1] += out.first[e];
  std::vector<std::int64_t> next(out.first.begin(), out.first.end() - 1);
  out.pairs.resize(routed.size());
  for (size_t n = 0; n < routed.size(); ++n)
    out.pairs[static_cast<size_t>(next[static_cast<size_t>(routed[n])]++)] = static_cast<std::int64_t>(n);
  return out;
}

void experts(const Context& context, const ExpertsArgs& args, ExpertsScratch& scratch) {
  BUOY_CHECK(!args.experts.empty() && args.chosen >= 1 && args.rows >= 0);
  if (args.rows > 0) experts_cpu(context, args, scratch);
}

}  // namespace buoy::ops
