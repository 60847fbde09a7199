#include "buoy/observe/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "buoy/base/error.h"

namespace buoy::observe {
namespace {

struct Observable {
  const char* name;
  bool Plan::*member;
  bool in_all;
  const char* meaning;
};

constexpr std::array kObservables = {
    Observable{"received", &Plan::received, true,
               "attention received by every key, per head and query group"},
    Observable{"mass", &Plan::mass, true, "the same summed over regions: from query groups to regions"},
    Observable{"contribution", &Plan::contribution, true,
               "attention received times the length of the key's value vector"},
    Observable{"entropy", &Plan::entropy, true, "entropy of every row"},
    Observable{"lse", &Plan::log_sum_exp, true, "log-sum-exp of every row"},
    Observable{"first", &Plan::first_share, true, "weight of every row on the first token"},
    Observable{"rows", &Plan::rows, true, "all weights of the rows that write the answer"},
    Observable{"row-mass", &Plan::row_mass, true, "the same summed over regions, and over the evidence"},
    Observable{"top", &Plan::top, true, "the strongest keys of those rows"},
    Observable{"qk", &Plan::qk, true, "q.k, cosine and norms per key, before and after the rotation"},
    Observable{"norms", &Plan::norms, true, "lengths of queries, keys and values"},
    Observable{"states", &Plan::states, false, "queries, keys and values themselves (large)"},
    Observable{"dense-mean", &Plan::dense_mean, false, "the T x T weights, mean over heads (large)"},
    Observable{"dense", &Plan::dense, false, "the T x T weights of every head (very large)"},
};

}  // namespace

std::vector<std::string> Plan::names() const {
  std::vector<std::string> names;
  for (const auto& observable : kObservables) {
    if (this->*observable.member) names.emplace_back(observable.name);
  }
  return names;
}

Plan parse_plan(const std::string& observe, const std::string& layers, const std::string& steps) {
  Plan plan;
  for (const auto& name : split_list(observe)) {
    bool known = false;
    for (const auto& observable : kObservables) {
      if (name == observable.name || (name == "all" && observable.in_all))
        plan.*observable.member = known = true;
    }
    if (known) continue;
    std::string names = "all";
    for (const auto& observable : kObservables) names += fmt::format(", {}", observable.name);
    throw_usage_error({"--observe", "some of " + names, '"' + name + '"'});
  }
  plan.layers = NumberSet(layers, "--layers");
  plan.steps = NumberSet(steps, "--steps-observed");
  return plan;
}

std::string describe_observables() {
  std::string text =
      "What can be observed (--observe, comma-separated; all: everything that is not large):\n";
  for (const auto& observable : kObservables)
    text += fmt::format("  {:<10} {}\n", observable.name, observable.meaning);
  return text;
}

}  // namespace buoy::observe
