#include "buoy/study/study_outcomes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "buoy/base/attempt.h"
#include "buoy/base/counted.h"
#include "buoy/claims/corrected.h"
#include "buoy/study/design/counting_networks.h"
#include "buoy/study/design/measured_claims.h"

namespace buoy::study {
namespace {

using claims::kFewestSamples;
namespace rules = claims::rules;

class Outcomes {
 public:
  Outcomes(const StudyPlan& plan, const StudyFacts& facts)
      : plan_(plan), study_(plan.study()), facts_(facts) {}

  std::vector<std::string> run() {
    look_at_arms();
    look_at_traces();
    look_at_tasks();
    look_at_gains();
    look_at_places();
    look_at_columns();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void exclude(fmt::format_string<Args...> format, Args&&... args) {
    out_.push_back("excluded by the design: " + fmt::format(format, std::forward<Args>(args)...));
  }

  // Models of one kind among those named; one whose config cannot be read may be of either.
  std::size_t of_kind(const std::vector<std::string>& names, bool masked_diffusion) const {
    std::size_t count = 0;
    for (const auto* entry : plan_.models_of(names)) {
      const auto& config = facts_.models.at(entry->name).config;
      count += !config || is_masked_diffusion(config->family) == masked_diffusion;
    }
    return count;
  }

  // Questions that are asked of a data set; 0: not known.
  std::size_t asked(const std::string& data, const run::Request& request) const {
    const auto found = facts_.data.find(data);
    return found == facts_.data.end() ? 0 : std::min(found->second.count, request.read.limit);
  }

  void look_at_arms() {
    const std::size_t diffusion = of_kind({}, true), autoregressive = of_kind({}, false);
    const std::size_t all_diffusion = counting_networks(plan_, facts_, {}, true),
                      all_autoregressive = counting_networks(plan_, facts_, {}, false);
    if (std::min(all_diffusion, all_autoregressive) < claims::kFewestNetworks)
      exclude(
          "all claims: about kinds of models, anything: {} masked-diffusion and {} autoregressive {} "
          "(from {} per arm on)",
          all_diffusion, all_autoregressive, all_diffusion + all_autoregressive == 1 ? "network" : "networks",
          claims::kFewestNetworks);
    if (diffusion == 0) exclude("C1, C2, C3, C5, C6, C8, C9, C10: anything: no masked-diffusion model");
    if (autoregressive == 0) exclude("C4, C7, C8: anything: no autoregressive model");
  }

  void look_at_traces() {
    std::vector<std::string> unmeasured = {"C1", "C2", "C4", "C5", "C6", "C8"};
    for (const auto& trace : study_.traces) {
      if (trace.tasks_only) continue;
      std::erase_if(unmeasured, [&](const auto& claim) { return is_measured(plan_, trace, claim); });
      const std::size_t questions = asked(trace.data, trace.request);
      if (questions > 0 && questions < static_cast<std::size_t>(kFewestSamples))
        exclude("trace {}: any decision on C1, C2, C4, C5, C6, C8: {} (from {} on)", trace.name,
                counted(questions, "question"), kFewestSamples);
      else if (is_measured(plan_, trace, "C8"))
        look_at_gold_places(trace);
    }
    if (!unmeasured.empty())
      exclude("{}: anything: no trace observes what it takes", fmt::join(unmeasured, ", "));
  }

  // C8 needs gold at several places, with enough questions at each.
  void look_at_gold_places(const TraceEntry& trace) {
    const auto found = facts_.data.find(trace.data);
    const std::size_t questions = asked(trace.data, trace.request);
    if (found == facts_.data.end() || found->second.expected || questions > found->second.sample.size())
      return;  // not known, or more than were looked at
    std::map<std::size_t, std::size_t> at;
    const std::int64_t fixed = trace.request.arrangement.gold_position;
    for (std::size_t i = 0; i < questions; ++i) {
      const auto& passages = found->second.sample[i].passages;
      const auto gold = std::find_if(passages.begin(), passages.end(), [](const auto& p) { return p.gold; });
      if (gold != passages.end())
        ++at[fixed > 0 ? static_cast<std::size_t>(fixed)
                       : static_cast<std::size_t>(gold - passages.begin()) + 1];
    }
    if (at.size() < rules::kFewestGoldPositions) {
      exclude("trace {}: C8, anything: gold stands at {} (from {} on)", trace.name,
              counted(at.size(), "place"), rules::kFewestGoldPositions);
      return;
    }
    const auto fewest =
        std::min_element(at.begin(), at.end(), [](auto a, auto b) { return a.second < b.second; })->second;
    if (fewest < static_cast<std::size_t>(kFewestSamples))
      exclude(
          "trace {}: C8, supported or contradicted for masked-diffusion models: {} with gold at one of {} "
          "places (from {} on)",
          trace.name, counted(fewest, "question"), at.size(), kFewestSamples);
  }

  void look_at_tasks() {
    std::map<std::string, std::set<std::string>> tasks;  // by model
    std::size_t fewest = SIZE_MAX;
    for (const auto& trace : study_.traces) {
      for (const auto* model : plan_.models_of(trace.models)) tasks[model->name].insert(trace.name);
      if (const auto questions = asked(trace.data, trace.request); questions > 0)
        fewest = std::min(fewest, questions);
    }
    constexpr std::size_t kFewestTasks = 3;
    if (std::none_of(tasks.begin(), tasks.end(),
                     [](const auto& of_model) { return of_model.second.size() >= kFewestTasks; }))
      exclude("C3: anything: no model is traced on {} tasks", kFewestTasks);
    else if (fewest < static_cast<std::size_t>(kFewestSamples))
      exclude("C3: supported or contradicted: {} of one task (from {} on)", counted(fewest, "question"),
              kFewestSamples);
  }

  void look_at_gains() {
    bool any = false;
    for (const auto& entry : study_.evaluations)
      any |= entry.closed_book && of_kind(entry.models, true) > 0 && of_kind(entry.models, false) > 0;
    if (!any) {
      exclude("C7: anything: no evaluation asks both kinds of models in closed book and with passages");
      return;
    }
    out_.push_back(fmt::format(
        "known only after the run: C7: where {:g} times the autoregressive gain does not fit between the "
        "masked-diffusion models' closed book and 1, there is no room and C7 is not testable",
        rules::kGainRatio.null));
  }

  std::size_t places_of(const EvaluateEntry& entry) const {
    std::set<std::string> places;
    // A sweep that cannot be read is said elsewhere.
    (void)attempt([&] {
      for (const auto& condition : plan_.expected_conditions(entry)) {
        if (condition.axis == "gold-position") places.insert(condition.value);
      }
    });
    return places.size();
  }

  void look_at_places() {
    bool any = false;
    const auto from = static_cast<std::size_t>(
        claims::fewest_items(rules::kMiddleDrop.margin, claims::rule_of("C9").quantities.size()));
    for (const auto& entry : study_.evaluations) {
      if (places_of(entry) < rules::kFewestPlaces || of_kind(entry.models, true) == 0) continue;
      any = true;
      for (const auto& data : entry.data) {
        const std::size_t questions = asked(data, entry.request);
        if (questions > 0 && questions < from)
          exclude("evaluate {}: C9, supported on {}: {}, too few even if all agree (from {} on)", entry.name,
                  data, counted(questions, "question"), from);
      }
    }
    if (!any)
      exclude("C9: anything: no evaluation sweeps gold-position over {} places or more",
              rules::kFewestPlaces);
  }

  void look_at_columns() {
    bool any = false;
    constexpr std::size_t kThirds = 3;
    const auto from = static_cast<std::size_t>(claims::fewest_items(rules::kHidden.margin, kThirds));
    for (const auto& entry : study_.evaluations) {
      if (entry.columns_from.empty() || of_kind(entry.models, true) == 0) continue;
      any = true;
      for (const auto& data : entry.data) {
        const std::size_t questions = asked(data, entry.request);
        if (questions > 0 && questions < from)
          exclude(
              "evaluate {}: C10, no difference beyond the margin on {}: {}, too few even if all agree "
              "(from {} on)",
              entry.name, data, counted(questions, "question"), from);
      }
    }
    if (!any) exclude("C10: anything: no evaluation hides columns");
  }

  const StudyPlan& plan_;
  const Study& study_;
  const StudyFacts& facts_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> excluded_outcomes(const StudyPlan& plan, const StudyFacts& facts) {
  return Outcomes(plan, facts).run();
}

}  // namespace buoy::study
