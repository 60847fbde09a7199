#include "untrained_numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "buoy/analysis/core/run.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/claims/claims.h"
#include "buoy/run/trace_request.h"
#include "buoy/world/world_request.h"

namespace buoy::null_studies {
namespace {

const char* const kReading = "reading";

// As in studies/default.toml.
std::vector<questions::Item> asked_for(const std::string& people, const std::string& task,
                                       std::uint32_t count, std::uint64_t seed) {
  world::WorldRequest request;
  request.version = 2;
  request.people = people;
  request.task = task;
  request.passages = 5;
  request.count = count;
  request.seed = seed;
  return world::make_questions(request);
}

struct Task {
  std::string name, prompt;
  std::vector<questions::Item> items;
  std::vector<std::string> analyses;
};

std::vector<Task> tasks_of(const Asked& asked) {
  std::vector<std::string> all;
  for (const auto& kind : analysis::analysis_kinds()) {
    if (!kind.on_request) all.emplace_back(kind.producer.name);  // no claim rests on the others
  }
  const auto reading = asked_for("unknown", "", asked.questions, 1);
  const auto known = asked_for("asked", "", asked.of_tasks, 1);
  const auto two_hop = asked_for("unknown", "two-hop", asked.of_tasks, 3);
  return {{kReading, "natural.prompt", reading, all},
          {"recall", "natural-closed-book.prompt", known, {"tasks"}},
          {"two-hop", "natural.prompt", two_hop, {"tasks"}}};
}

analysis::LabelledRun traced(run::LoadedModel& model, const Task& task, const Asked& asked) {
  run::TraceRequest request;
  request.prompt_template = (asked.models / task.prompt).string();
  request.arrangement.closed_book = task.name == "recall";
  request.items = task.items;
  request.observe = run::observables_for(task.analyses);
  request.groups = "regions";
  request.keep = trace::Level::kTables;
  request.decode.max_new_tokens = 8;
  request.decode = run::fitting(model.model.config().family, request.decode);
  request.analyses = {task.analyses, {}, task.name};
  auto run = run::make_trace_run(request, model);
  ThreadPool threads(asked.threads);
  auto result =
      run::run_trace({threads}, model, run, {.begin = [](const auto&) {}, .step = [] {}, .times = nullptr});
  // Every analysis has its place, whether the run has it or not.
  analysis::LabelledRun out{task.name, {}};
  for (const auto& kind : analysis::analysis_kinds()) {
    out.run.analyses.emplace_back();
    for (std::size_t i = 0; i < result.names.size(); ++i) {
      if (result.names[i] == kind.producer.name)
        out.run.analyses.back() = std::move(result.analysed.analyses[i]);
    }
  }
  if (!result.failed.empty()) throw InputError("a question failed: " + result.failed.front().error);
  return out;
}

}  // namespace

const std::vector<UntrainedArm>& untrained_arms() {
  static const std::vector<UntrainedArm> arms = {{"natural-diffusion", true},
                                                 {"natural-autoregressive", false}};
  return arms;
}

std::string name_of(const UntrainedArm& arm, std::uint64_t seed) {
  return fmt::format("{}-{}", arm.name, seed);
}

std::vector<claims::NetworkQuantity> measure(const UntrainedArm& arm, std::uint64_t seed,
                                             const Asked& asked) {
  auto model = run::make_untrained(asked.models / arm.name, seed);
  std::vector<std::string> names;
  for (const auto& kind : analysis::analysis_kinds()) names.emplace_back(kind.producer.name);
  std::vector<analysis::LabelledRun> runs;
  for (const auto& task : tasks_of(asked)) runs.push_back(traced(model, task, asked));
  std::vector<Table> tables;
  for (auto& [name, of_analysis] : analysis::assemble(names, std::move(runs), {}).analyses)
    tables.insert(tables.end(), of_analysis.begin(), of_analysis.end());

  const std::string name = name_of(arm, seed);
  const claims::TraceKind reading{.label = kReading,
                                  .masked_diffusion = arm.masked_diffusion,
                                  .samples = asked.questions,
                                  .network = name,
                                  .data = kReading,
                                  .questions = kReading};
  auto numbers = claims::network_quantities(tables, std::span(&reading, 1));
  // The comparison of tasks calls a model by its folder.
  for (auto& number : numbers) number.network = {name, arm.masked_diffusion};
  return numbers;
}

void append(const std::filesystem::path& file, const std::vector<claims::NetworkQuantity>& numbers) {
  std::ofstream out(file, std::ios::app);
  for (const auto& n : numbers) {
    const auto& e = n.estimate;
    out << fmt::format("{}\t{}\t{}\t{}\t{}\t{:.5g}\t{:.5g}\t{:.5g}\t{}\n", n.network.name,
                       n.network.masked_diffusion ? "masked" : "next", n.claim, n.quantity, n.data, e.value,
                       e.lower, e.upper, e.samples);
  }
  out.close();
  if (!out) throw IoError(file.string() + ": cannot write");
}

std::vector<claims::NetworkQuantity> read(const std::filesystem::path& file) {
  std::vector<claims::NetworkQuantity> out;
  if (!path_exists(file)) return out;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream cells_of(line);
    for (std::string cell; std::getline(cells_of, cell, '\t');) cells.push_back(cell);
    if (cells.size() != 9)
      throw_input_error({file.string(), "nine cells in a line", fmt::format("{}: {}", cells.size(), line)});
    claims::NetworkQuantity n;
    n.network = {cells[0], cells[1] == "masked"};
    n.claim = cells[2], n.quantity = cells[3], n.data = n.questions = cells[4];
    n.estimate.value = std::strtod(cells[5].c_str(), nullptr);
    n.estimate.lower = std::strtod(cells[6].c_str(), nullptr);
    n.estimate.upper = std::strtod(cells[7].c_str(), nullptr);
    n.estimate.samples = std::strtoll(cells[8].c_str(), nullptr, 10);
    out.push_back(std::move(n));
  }
  return out;
}

}  // namespace buoy::null_studies
