#include "buoy/observe/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::observe {

bool Plan::has(std::string_view name) const {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const Observable* observable) { return observable->name == name; });
}

std::vector<std::string> Plan::names() const {
  std::vector<std::string> names;
  for (const auto* observable : wanted) names.emplace_back(observable->name);
  return names;
}

Plan parse_plan(const std::string& observe, const std::string& layers, const std::string& steps) {
  const auto asked = split_list(observe);
  for (const auto& name : asked) {
    const auto is_it = [&](const Observable& observable) { return observable.name == name; };
    if (name == "all" || std::any_of(observables().begin(), observables().end(), is_it)) continue;
    std::string names = "all";
    for (const auto& observable : observables()) names += fmt::format(", {}", observable.name);
    throw_usage_error({"`observe`", "some of " + names, '"' + name + '"'});
  }
  const auto is_asked = [&](std::string_view name) {
    return std::find(asked.begin(), asked.end(), name) != asked.end();
  };
  Plan plan;
  for (const auto& observable : observables()) {
    if (is_asked(observable.name) || (observable.in_all && is_asked("all")))
      plan.wanted.push_back(&observable);
  }
  plan.layers = NumberSet(layers, "`layers`");
  plan.steps = NumberSet(steps, "`steps_observed`");
  return plan;
}

std::string describe_observables() {
  std::string text =
      "What can be observed (`observe`, comma-separated; all: everything that is not large):\n";
  for (const auto& observable : observables())
    text += fmt::format("  {:<14} {}\n", observable.name, observable.help);
  return text;
}

}  // namespace buoy::observe
