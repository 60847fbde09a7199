#include "buoy/study/networks/report_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "buoy/base/attempt.h"
#include "buoy/base/sha256.h"
#include "buoy/study/networks/network_facts.h"
#include "buoy/trace/reader.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;

TraceOrigin origin_of(const ReportRequest& request, const fs::path& folder, const trace::Manifest& manifest) {
  const auto found = request.origins.find(folder);
  return found == request.origins.end() ? TraceOrigin{manifest.model.name, data_of(manifest)} : found->second;
}

std::string control_of(const trace::Manifest& manifest) {
  return manifest.model.untrained.empty() ? "" : "untrained";
}

// By its name in the study, if it has one.
claims::Network known(const std::vector<claims::Network>& networks, const std::string& name) {
  const auto found =
      std::find_if(networks.begin(), networks.end(), [&](const auto& one) { return one.name == name; });
  return found == networks.end() ? claims::Network{name} : *found;
}

// One entry per name; weights and the like come from wherever they are known.
claims::Network& entry(claims::Background& background, const claims::Network& network) {
  auto& list = background.networks;
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.name == network.name; });
  return found == list.end() ? list.emplace_back(network) : *found;
}

// The comparison of tasks calls models by the names of their folders (analysis/tasks/task_groups.cc).
void add_tasks(const ReportRequest& request, const std::vector<analysis::TraceInput>& tasks,
               trace::Integrity integrity, claims::Background& background) {
  std::map<std::string, int> uses;
  std::set<std::string> seen;  // sums of config and weights
  std::map<std::string, std::set<std::string>> asked;
  for (const auto& task : tasks) {
    const auto failure = attempt([&] {
      const auto manifest = trace::TraceReader::open(task.folder, integrity).manifest();
      const auto& model = manifest.model;
      const TraceOrigin origin = origin_of(request, task.folder, manifest);
      asked[origin.network].insert(questions_of(manifest));
      auto& network = entry(background, known(request.networks, origin.network));
      network.weights = model.weights_sha256;
      network.control = control_of(manifest);
      if (!seen.insert(model.config_sha256 + model.weights_sha256).second) return;
      const int earlier = uses[model.name]++;
      background.aliases[earlier == 0 ? model.name : fmt::format("{} ({})", model.name, task.label)] =
          origin.network;
    });
    if (failure) continue;
  }
  for (const auto& [network, questions] : asked) {
    std::string all;
    for (const auto& one : questions) all += one + "\n";
    background.tasks[network] = sha256_hex(all);
  }
}

}  // namespace

void tell_network(const ReportRequest& request, const fs::path& folder, const trace::Manifest& manifest,
                  report::TraceSummary& summary) {
  const TraceOrigin origin = origin_of(request, folder, manifest);
  auto& kind = summary.kind;
  kind.network = origin.network;
  kind.about = known(request.networks, origin.network);
  kind.about.mask = summary.card.mask;
  kind.about.weights = manifest.model.weights_sha256;
  kind.about.control = control_of(manifest);
  kind.data = origin.data;
  kind.questions = questions_of(manifest);
}

claims::Background background_of(const ReportRequest& request, const std::vector<analysis::TraceInput>& tasks,
                                 const std::vector<NamedPath>& evaluations, trace::Integrity integrity) {
  claims::Background out;
  out.networks = request.networks;
  add_tasks(request, tasks, integrity, out);
  for (const auto& run : evaluations) {
    const auto failure = attempt([&] {
      for (const auto& [model, facts] : models_of_run(run.path)) {
        auto& network = entry(out, known(request.networks, model));
        network.weights = facts.weights;
        out.questions[{run.name, model}] = facts.questions;
      }
    });
    if (failure) continue;
  }
  return out;
}

std::vector<SiblingTable> read_siblings(const std::vector<fs::path>& files) {
  std::vector<SiblingTable> out;
  for (const auto& file : files) out.push_back({file, claims::read_quantities(file)});
  return out;
}

void add_siblings(const std::vector<SiblingTable>& tables, report::ReportInput& input) {
  if (tables.empty()) return;
  const auto own = claims::network_quantities(report::judged_tables(input), report::judged_traces(input),
                                              input.background);
  for (const auto& [file, rows] : tables) {
    const auto siblings = claims::matching_siblings(rows, own, file.string());
    auto& all = input.background.siblings;
    all.insert(all.end(), siblings.quantities.begin(), siblings.quantities.end());
    for (const auto& note : siblings.notes) input.notices.add(note);
  }
}

}  // namespace buoy::study
