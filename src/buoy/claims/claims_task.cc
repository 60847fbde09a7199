#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/claims/claims_judges.h"
#include "buoy/result/schema/tasks.h"
#include "buoy/result/table_advice.h"

namespace buoy::claims {
namespace {

constexpr const auto& kByLayer = schema::tasks_by_layer;
using rules::kPlace, rules::kType, rules::Scale;

Finding finding_of(const TableView& row, const Scale& scale) {
  if (row.number(kByLayer.distinct) == 1) return Finding::kAgainst;  // the same in all tasks
  const double value = row.number(kByLayer.value);
  if (!std::isfinite(value)) return Finding::kLacking;
  if (row.number(kByLayer.p_holm) < rules::kTaskAlpha && value >= scale.large &&
      value > row.number(kByLayer.layout))
    return Finding::kFor;
  return row.number(kByLayer.value.upper) < scale.medium ? Finding::kAgainst : Finding::kUndecided;
}

struct Count {
  size_t in_favour = 0, against = 0, defined = 0;

  void add(Finding finding) {
    in_favour += finding == Finding::kFor;
    against += finding == Finding::kAgainst;
    defined += finding != Finding::kLacking;
  }
};

std::string range_of(const std::vector<double>& values) {
  double least = INFINITY, most = -INFINITY;
  for (const double value : values) {
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  }
  return least > most ? "the same in all samples" : fmt::format("{:.3g} to {:.3g}", least, most);
}

std::string words_of(const TableView& rows, const Scale& scale, const Count& count) {
  const auto of_quantity = rows.where({{kByLayer.quantity, std::string(scale.quantity)}});
  if (count.defined == 0) return fmt::format("{} not defined", scale.what);
  return fmt::format("{} {} (anchors drawn evenly: {:.3g})", scale.what,
                     range_of(of_quantity.numbers(kByLayer.value)), of_quantity.number(kByLayer.layout));
}

// Some tasks of one model; `rows` are those of all layers.
Part judge_set(const std::string& name, const TableView& rows) {
  Count place, type, together;
  const auto layers = rows.distinct(kByLayer.layer);
  for (const auto& layer : layers) {
    const auto of_layer = rows.where({{kByLayer.layer, layer}});
    const Finding by_place =
        finding_of(of_layer.where({{kByLayer.quantity, std::string(kPlace.quantity)}}), kPlace);
    const Finding by_type =
        finding_of(of_layer.where({{kByLayer.quantity, std::string(kType.quantity)}}), kType);
    place.add(by_place);
    type.add(by_type);
    const bool against =
        by_place == Finding::kAgainst && (by_type == Finding::kAgainst || by_type == Finding::kLacking);
    together.add(by_place == Finding::kFor || by_type == Finding::kFor ? Finding::kFor
                 : against                                             ? Finding::kAgainst
                                                                       : Finding::kUndecided);
  }
  Part part{Finding::kUndecided, {}, {}};
  if (2 * together.in_favour > layers.size()) part.finding = Finding::kFor;
  if (2 * together.against > layers.size()) part.finding = Finding::kAgainst;
  if (part.finding == Finding::kUndecided && split(together.in_favour, together.against, layers.size()))
    part.finding = Finding::kSplit;
  part.words = fmt::format(
      "{} ({} tasks, {} samples): {}, {}; {} of {} layers as claimed ({} by place, {} by type), {} against",
      name, rows.number(kByLayer.tasks), rows.number(kByLayer.samples), words_of(rows, kPlace, place),
      words_of(rows, kType, type), together.in_favour, layers.size(), place.in_favour, type.in_favour,
      together.against);
  const auto fewest = static_cast<std::int64_t>(rows.number(kByLayer.fewest));
  if (fewest < kFewestSamples) {
    part.finding = Finding::kUndecided;
    part.words += fmt::format(" (of one task {})", too_few(fewest));
  }
  part.measured.push_back({name == "all tasks" ? kLayersByTask : kLayersByTaskAlike,
                           fmt::format("{} of {} layers", together.in_favour, layers.size()), part.finding,
                           fewest < kFewestSamples ? fmt::format("of one task {}", too_few(fewest))
                                                   : fmt::format("{} against", together.against),
                           static_cast<std::int64_t>(rows.number(kByLayer.samples))});
  return part;
}

// Per layer what tasks tell less what anchors drawn evenly tell; where all anchors are the same, nothing.
void add_excess(const TableView& rows, const std::string& set, const Material& material,
                ClaimVerdict& claim) {
  constexpr std::pair<const Scale&, const QuantityRule&> kExcesses[] = {{kPlace, rules::kPlaceExcess},
                                                                        {kType, rules::kTypeExcess}};
  const auto of_set = rows.where({{kByLayer.set, set}});
  const Network network =
      material.background.network(rows.text(kByLayer.model), rows.text(kByLayer.kind) == "masked diffusion");
  for (const auto& [scale, rule] : kExcesses) {
    const auto of_quantity = of_set.where({{kByLayer.quantity, std::string(scale.quantity)}});
    const auto value = of_quantity.numbers(kByLayer.value), lower = of_quantity.numbers(kByLayer.value.lower),
               upper = of_quantity.numbers(kByLayer.value.upper), even = of_quantity.numbers(kByLayer.layout),
               distinct = of_quantity.numbers(kByLayer.distinct);
    std::vector<Estimate> layers;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const auto samples = static_cast<std::int64_t>(of_set.number(kByLayer.fewest));
      if (distinct[i] == 1) {
        layers.push_back({0, 0, 0, samples});
      } else if (std::isfinite(value[i])) {
        const double less = std::isfinite(even[i]) ? even[i] : 0;
        layers.push_back({value[i] - less, lower[i] - less, upper[i] - less, samples});
      }
    }
    if (layers.empty()) continue;
    const std::string name = set == "all" ? "all tasks" : "tasks of like length";
    claim.quantities.push_back({"", quantity_name(rule, name), network, "tasks",
                                material.background.tasks_of(network.name), mean_over_layers(layers)});
  }
}

TraceVerdict judge_model(const TableView& rows, const Material& material) {
  std::vector<Part> parts = {judge_set("all tasks", rows.where({{kByLayer.set, "all"}}))};
  const auto alike = rows.where({{kByLayer.set, "alike"}});
  parts.push_back(alike.empty()
                      ? Part{Finding::kLacking, "no two tasks have rows of like length",
                             "tasks whose rows have like lengths (means within a tenth), two or more: "
                             "otherwise the length of prompts may be all that differs"}
                      : judge_set("tasks of like length", alike));
  TraceVerdict out = judge_trace(rows.text(kByLayer.model), parts);
  out.networks = {material.background.network(out.trace, rows.text(kByLayer.kind) == "masked diffusion")};
  return out;
}

}  // namespace

ClaimVerdict judge_tasks(const Material& material) {
  ClaimVerdict claim = verdict_on("C3");
  const auto table = find_table(material.tables, kByLayer);
  std::string others;
  for (const auto& model : table.distinct(kByLayer.model)) {
    const auto rows = table.where({{kByLayer.model, model}});
    auto verdict = judge_model(rows, material);
    for (const char* set : {"all", "alike"}) add_excess(rows, set, material, claim);
    if (!verdict.networks[0].control.empty()) continue;
    if (rows.text(kByLayer.kind) == "masked diffusion") {
      claim.by_trace.push_back(std::move(verdict));
    } else {
      others += fmt::format(" Beside it, {}: {}.", verdict.trace, verdict.evidence);
    }
  }
  if (claim.by_trace.empty()) {
    claim.evidence = "There are no three data sets, traced with the same masked-diffusion model.";
    claim.needs = fmt::format(
        "traces of one masked-diffusion model on at least three tasks: buoy trace with `observe` {} for each "
        "of three `data`, then buoy report with the traces as `tasks`",
        observe_for(kByLayer));
    return claim;
  }
  conclude(claim, combine(std::span<const TraceVerdict>(claim.by_trace)));
  claim.evidence += others;
  return claim;
}

}  // namespace buoy::claims
