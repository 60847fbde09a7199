#pragma once

#include "buoy/ops/experts/experts.h"

namespace buoy::ops {

void route_cpu(const Context& context, const RouterRule& rule, const RouteArgs& args);
void experts_cpu(const Context& context, const ExpertsArgs& args, ExpertsScratch& scratch);

}  // namespace buoy::ops
