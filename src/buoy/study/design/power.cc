#include "buoy/study/design/power.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/attempt.h"
#include "buoy/base/counted.h"
#include "buoy/claims/detectable.h"
#include "buoy/study/design/counting_networks.h"
#include "buoy/study/design/measured_claims.h"

namespace buoy::study {
namespace {

class Effects {
 public:
  Effects(const StudyPlan& plan, const StudyFacts& facts) : plan_(plan), facts_(facts) {}

  std::vector<std::string> run() {
    for (const auto& trace : plan_.study().traces) {
      if (!trace.tasks_only) look_at_trace(trace);
    }
    for (const auto& entry : plan_.study().evaluations) look_at_evaluation(entry);
    if (out_.empty()) return out_;
    out_.insert(
        out_.begin(),
        fmt::format("what can be found with a power of {:g}% (effects beyond the margins; spreads over "
                    "questions as of {}, over networks as of {}; other models may differ):",
                    100 * claims::kPower, claims::kSpreadOverQuestions, claims::kSpreadOverNetworks));
    return std::move(out_);
  }

 private:
  std::size_t asked(const std::string& data, const run::Request& request) const {
    const auto found = facts_.data.find(data);
    return found == facts_.data.end() ? 0 : std::min(found->second.count, request.read.limit);
  }

  std::size_t networks(const std::vector<std::string>& names, bool masked_diffusion) const {
    std::size_t count = 0;
    for (const auto* entry : plan_.models_of(names)) {
      const auto& config = facts_.models.at(entry->name).config;
      count += config && is_masked_diffusion(config->family) == masked_diffusion;
    }
    return count;
  }

  void look_at_trace(const TraceEntry& trace) {
    const std::size_t questions = asked(trace.data, trace.request);
    if (questions < static_cast<std::size_t>(claims::kFewestSamples)) return;  // nothing is decided
    const std::size_t diffusion = networks(trace.models, true),
                      autoregressive = networks(trace.models, false);
    if (diffusion == 0) return;
    const std::string part = fmt::format("trace {}, {}", trace.name, counted(questions, "question"));
    add(trace, part, claims::detectable_of_traces(static_cast<std::int64_t>(questions)), autoregressive > 0);
    const std::size_t of_diffusion = counting_networks(plan_, facts_, trace.models, true),
                      of_autoregressive = counting_networks(plan_, facts_, trace.models, false);
    if (of_diffusion < claims::kFewestNetworks) return;
    const bool both = of_autoregressive >= claims::kFewestNetworks;
    const std::size_t fewest = both ? std::min(of_diffusion, of_autoregressive) : of_diffusion;
    add(trace,
        fmt::format("{}, about kinds of models, {}{} per arm", part,
                    plan_.study().siblings.empty() ? "" : "up to ", fewest),
        claims::detectable_of_traces(static_cast<std::int64_t>(questions), static_cast<std::int64_t>(fewest)),
        both);
  }

  // Claim by claim, of those that judge the trace; those about two arms only where there are two.
  void add(const TraceEntry& trace, const std::string& part, const std::vector<claims::Detectable>& all,
           bool both_arms) {
    for (auto first = all.begin(); first != all.end();) {
      const auto last =
          std::find_if(first, all.end(), [&](const auto& one) { return one.claim != first->claim; });
      const bool arms_are_there = both_arms || claims::rule_of(first->claim).arms == claims::Arms::kDiffusion;
      if (arms_are_there && is_measured(plan_, trace, first->claim))
        out_.push_back(fmt::format("  {}: {}", part, claims::describe({first, last})));
      first = last;
    }
  }

  void look_at_evaluation(const EvaluateEntry& entry) {
    for (const auto& data : entry.data) {
      const auto questions = static_cast<std::int64_t>(asked(data, entry.request));
      if (questions == 0 || networks(entry.models, true) == 0) continue;
      const std::string part = fmt::format("evaluate {}, {}, {}", entry.name, data,
                                           counted(static_cast<std::uint64_t>(questions), "question"));
      const auto say = [&](const claims::Detectable& one) {
        out_.push_back(fmt::format("  {}: {}", part, claims::describe({&one, 1})));
      };
      if (entry.closed_book && networks(entry.models, false) > 0) say(claims::detectable_of_gains(questions));
      if (sweeps_places(entry)) say(claims::detectable_of_places(questions));
      if (!entry.columns_from.empty()) say(claims::detectable_of_columns(questions));
    }
  }

  bool sweeps_places(const EvaluateEntry& entry) const {
    std::size_t places = 0;
    // A sweep that cannot be read is said elsewhere.
    (void)attempt([&] {
      for (const auto& condition : plan_.expected_conditions(entry))
        places += condition.axis == "gold-position";
    });
    return places >= claims::rules::kFewestPlaces;
  }

  const StudyPlan& plan_;
  const StudyFacts& facts_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> detectable_effects(const StudyPlan& plan, const StudyFacts& facts) {
  return Effects(plan, facts).run();
}

}  // namespace buoy::study
