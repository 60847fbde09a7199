#include "drawn_studies.h"

#include <algorithm>
#include <random>

namespace buoy::null_studies {
namespace {

using claims::NetworkQuantity;

std::vector<std::string> names_of(std::span<const NetworkQuantity> numbers, bool masked_diffusion) {
  std::vector<std::string> out;
  for (const auto& n : numbers) {
    if (n.network.masked_diffusion == masked_diffusion &&
        std::find(out.begin(), out.end(), n.network.name) == out.end())
      out.push_back(n.network.name);
  }
  return out;
}

void plant(const Planted& planted, NetworkQuantity& number) {
  if (number.claim != planted.claim || number.network.masked_diffusion != planted.of_diffusion) return;
  for (const auto& [quantity, effect] : planted.quantity) {
    if (!number.quantity.starts_with(quantity)) continue;
    auto& e = number.estimate;
    e.value += effect, e.lower += effect, e.upper += effect;
  }
}

}  // namespace

double Verdicts::share(claims::Verdict verdict, std::size_t studies) const {
  const auto found = of.find(verdict);
  return found == of.end() ? 0 : static_cast<double>(found->second) / static_cast<double>(studies);
}

Verdicts judge_drawn(const claims::ClaimRule& rule, std::span<const NetworkQuantity> all, const Draw& draw,
                     const Planted* planted) {
  std::vector<NetworkQuantity> numbers;
  for (const auto& n : all) {
    if (n.claim == rule.id) numbers.push_back(n);
  }
  Verdicts out;
  std::mt19937_64 random(draw.seed);
  // Of all numbers, so that every claim is judged on the same studies.
  std::vector<std::string> arms[] = {names_of(all, true), names_of(all, false)};
  for (std::size_t study = 0; study < draw.studies; ++study) {
    std::vector<NetworkQuantity> drawn;
    for (auto& arm : arms) {
      for (std::size_t i = 0; i < std::min(draw.per_arm + draw.controls, arm.size()); ++i) {
        std::swap(arm[i], arm[i + random() % (arm.size() - i)]);
        for (const auto& n : numbers) {
          if (n.network.name != arm[i]) continue;
          drawn.push_back(n);
          if (i >= draw.per_arm) drawn.back().network.control = "untrained";
          if (i < draw.per_arm && planted != nullptr) plant(*planted, drawn.back());
        }
      }
    }
    const auto kinds = claims::judge_kinds(rule, drawn);
    ++out.of[kinds.verdict];
    for (const auto& quantity : kinds.quantities) ++out.findings[quantity.name][quantity.finding];
  }
  return out;
}

}  // namespace buoy::null_studies
