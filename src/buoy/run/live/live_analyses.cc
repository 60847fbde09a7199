#include "buoy/run/live/live_analyses.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/observe/number_set.h"

namespace buoy::run {
namespace {

std::vector<std::string> observables_of(const analysis::AnalysisKind& kind) {
  return observe::split_list(std::string(kind.producer.observe));
}

}  // namespace

std::string observables_for(const std::vector<std::string>& analyses) {
  std::vector<std::string> names;
  for (const auto& name : analyses) {
    for (const auto& one : observables_of(analysis::find_analysis(name))) {
      if (std::find(names.begin(), names.end(), one) == names.end()) names.push_back(one);
    }
  }
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::vector<std::string> analyses_within(const observe::Plan& plan, bool with_named) {
  std::vector<std::string> names;
  for (const auto& kind : analysis::analysis_kinds()) {
    if (kind.only_named && !with_named) continue;
    const auto needed = observables_of(kind);
    if (std::all_of(needed.begin(), needed.end(), [&](const auto& one) { return plan.has(one); }))
      names.emplace_back(kind.producer.name);
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> analyses_beyond(const observe::Plan& plan) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto within = analyses_within(plan);
  for (const auto& kind : analysis::analysis_kinds()) {
    const std::string name(kind.producer.name);
    if (!kind.on_request && std::find(within.begin(), within.end(), name) == within.end())
      out.emplace_back(name, fmt::format("it needs `observe` {}", kind.producer.observe));
  }
  return out;
}

}  // namespace buoy::run
