#include "buoy/report/explorer_plan.h"

#include <algorithm>

namespace buoy::report {
namespace {

// `wanted` of `count` indices, the first and the last among them; the last alone when only one is wanted.
std::vector<std::int64_t> evenly(std::int64_t count, std::int64_t wanted) {
  wanted = std::min(count, wanted);
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < wanted; ++i)
    out.push_back(wanted == 1 ? count - 1 : (i * (count - 1) + (wanted - 1) / 2) / (wanted - 1));
  return out;
}

}  // namespace

ExplorerPlan plan_explorer(const ExplorerSize& size) {
  ExplorerPlan plan;
  // Where steps must be left out anyway, a quarter of the room is better spent on single heads.
  const bool all = size.steps * size.layers <= size.rows;
  const std::int64_t for_means = all ? size.rows : std::max<std::int64_t>(1, size.rows / 4 * 3);
  const std::int64_t layers = std::min(size.layers, for_means);
  plan.layers = evenly(size.layers, layers);
  plan.steps = evenly(size.steps, for_means / layers);
  const auto kept_steps = static_cast<std::int64_t>(plan.steps.size());
  if (size.query_cells > 0) {
    plan.row_layers = evenly(layers, size.query_cells);
    plan.row_steps = evenly(kept_steps, std::max<std::int64_t>(1, size.query_cells / layers));
  }
  const std::int64_t left = size.rows - kept_steps * layers;
  if (size.heads < 2 || left < size.heads) return plan;
  plan.head_layers = evenly(layers, left / size.heads);
  plan.head_steps = evenly(kept_steps, std::max<std::int64_t>(1, left / (size.heads * layers)));
  return plan;
}

}  // namespace buoy::report
