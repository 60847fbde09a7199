#include "buoy/study/design/counting_networks.h"

#include <set>

#include "buoy/base/attempt.h"
#include "buoy/claims/rules.h"
#include "buoy/claims/siblings.h"

namespace buoy::study {

std::size_t counting_networks(const StudyPlan& plan, const StudyFacts& facts,
                              const std::vector<std::string>& models, bool masked_diffusion) {
  std::size_t count = 0;
  for (const auto* entry : plan.models_of(models)) {
    const auto& config = facts.models.at(entry->name).config;
    if (!config) {
      ++count;  // one whose config cannot be read may be of either kind
    } else if (is_masked_diffusion(config->family) == masked_diffusion) {
      count += mask_of(*config) == (masked_diffusion ? AttentionMaskKind::kFull : AttentionMaskKind::kCausal);
    }
  }
  std::set<std::string> siblings;
  for (const auto& file : plan.study().siblings) {
    attempt([&] {  // what is wrong with a table is said where it is looked at
      for (const auto& [quantity, rules] : claims::read_quantities(plan.beside(file))) {
        const auto& network = quantity.network;
        if (rules == claims::rules_hash() && network.counts() && network.masked_diffusion == masked_diffusion)
          siblings.insert(network.name);
      }
    });
  }
  return count + siblings.size();
}

}  // namespace buoy::study
