#include "buoy/claims/quantities.h"

#include <algorithm>
#include <cmath>

#include "buoy/claims/claims.h"

namespace buoy::claims {

std::string quantity_name(const QuantityRule& rule, const std::string& detail) {
  return std::string(rule.number()) + (detail.empty() ? "" : ": " + detail);
}

bool is_of(const QuantityRule& rule, const std::string& quantity) {
  const auto name = rule.number();
  return quantity == name || quantity.starts_with(std::string(name) + ": ");
}

std::string detail_of(const QuantityRule& rule, const std::string& quantity) {
  const auto name = rule.number();
  return quantity.size() > name.size() + 2 ? quantity.substr(name.size() + 2) : "";
}

stats::Estimate mean_over_layers(std::span<const stats::Estimate> layers) {
  // A layer with few samples says little; where all have few, so has the number.
  std::vector<stats::Estimate> enough;
  std::copy_if(layers.begin(), layers.end(), std::back_inserter(enough),
               [](const auto& layer) { return layer.samples >= kFewestSamples; });
  if (!enough.empty()) layers = enough;
  stats::Estimate out;
  double count = 0, value = 0, lower = 0, upper = 0;
  for (const auto& layer : layers) {
    if (!std::isfinite(layer.value)) continue;
    out.samples = count == 0 ? layer.samples : std::min(out.samples, layer.samples);
    ++count;
    value += layer.value, lower += layer.lower, upper += layer.upper;
  }
  if (count == 0) return out;
  out.value = value / count, out.lower = lower / count, out.upper = upper / count;
  return out;
}

std::vector<NetworkQuantity> network_quantities(std::span<const Table> tables,
                                                std::span<const TraceKind> traces) {
  return network_quantities(tables, traces, {});
}

std::vector<NetworkQuantity> network_quantities(std::span<const Table> tables,
                                                std::span<const TraceKind> traces,
                                                const Background& background) {
  std::vector<NetworkQuantity> out;
  for (auto& claim : judge_claims(tables, traces, background))
    out.insert(out.end(), claim.quantities.begin(), claim.quantities.end());
  return out;
}

}  // namespace buoy::claims
