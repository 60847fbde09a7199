#include "buoy/run/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/questions/prompt/builtin_prompts.h"
#include "buoy/run/answer_file.h"
#include "buoy/run/ask/questioner.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/identity.h"
#include "buoy/run/run_folder.h"
#include "buoy/run/summary/score_book.h"

namespace buoy::run {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_names(const std::vector<NamedPath>& list, const char* what) {
  std::set<std::string> names;
  for (const auto& one : list) {
    if (!names.insert(one.name).second)
      throw_usage_error(
          {what, "different names (NAME=PATH gives one)", fmt::format("\"{}\" twice", one.name)});
  }
  if (list.empty()) throw_usage_error({what, "at least one", "none"});
}

std::vector<QuestionCell> plan_cells(const EvaluationSpec& spec, const std::vector<DataFacts>& facts) {
  std::vector<QuestionCell> cells;
  std::size_t first = 0;
  for (const auto& model : spec.models) {
    const ModelConfig config = read_config(model.path);
    settle(spec.chat_use, spec.chat, model.path);
    const bool diffusion = decode::decodes_masks(config, fitting(config.family, spec.decoding(model.name)));
    if (!has_tokenizer(model.path)) need_tokenizer(std::nullopt, model.path);
    for (std::size_t d = 0; d < spec.data.size(); ++d) {
      for (const auto& condition : spec.conditions) {
        if (!applies(condition, diffusion)) continue;
        check_decoding(config, fitting(config.family, decoding_of(condition, spec.decoding(model.name))));
        cells.push_back({&model, &spec.data[d], &condition, first, facts[d].items});
        first += facts[d].items;
      }
    }
  }
  if (cells.empty())
    throw_usage_error({"`sweep` " + spec.conditions.front().axis, "a masked-diffusion model", "none"});
  return cells;
}

std::vector<DataFacts> scan(const EvaluationSpec& spec) {
  std::vector<DataFacts> facts;
  for (const auto& data : spec.data) {
    facts.push_back(scan_data(data, spec.read));
    const bool wanted = std::any_of(spec.conditions.begin(), spec.conditions.end(),
                                    [](const Condition& condition) { return !condition.closed_book; });
    if (wanted && facts.back().with_passages == 0) {
      throw_input_error({data.path.string(), "passages (or `closed_book`, or `retrieve`)",
                         "none in " + counted(facts.back().items, "item")});
    }
  }
  return facts;
}

// What noise is made of: the first items of every data set.
std::vector<std::unique_ptr<questions::NoisePool>> make_pools(const EvaluationSpec& spec) {
  std::vector<std::unique_ptr<questions::NoisePool>> pools;
  const bool wanted = std::any_of(spec.conditions.begin(), spec.conditions.end(),
                                  [](const Condition& condition) { return condition.noise.has_value(); });
  for (const auto& data : spec.data) {
    if (!wanted) {
      pools.push_back(nullptr);
      continue;
    }
    auto read = spec.read;
    read.limit = questions::NoisePool::kMostItems;
    pools.push_back(std::make_unique<questions::NoisePool>(questions::read_items(data.path, read)));
  }
  return pools;
}

}  // namespace

EvaluationResult run_evaluation(const EvaluationSpec& spec, const std::filesystem::path& folder, bool resume,
                                const EvaluationProgress& progress) {
  check_names(spec.models, "models");
  check_names(spec.data, "data sets");
  for (const auto& data : spec.data) {
    if (data.name == kAllSets)
      throw_usage_error({"data sets",
                         fmt::format("names other than \"{}\", the tables' name for all of them", kAllSets),
                         fmt::format("\"{}\" (NAME=PATH gives another)", data.name)});
  }
  BUOY_CHECK(!spec.conditions.empty());
  require_features(spec.observe);
  const auto facts = scan(spec);
  const auto cells = plan_cells(spec, facts);
  auto answers = open_run_folder(folder, describe_evaluation(spec, facts), resume);
  const auto pools = make_pools(spec);
  EvaluationResult result;
  result.answers = cells.back().first + cells.back().items;
  if (answers.kept() > result.answers) {
    throw_input_error(
        {folder.string(), "at most " + counted(result.answers, "answer"), fmt::format("{}", answers.kept())});
  }
  progress.begin(result.answers - answers.kept());

  ThreadPool threads(spec.threads);
  const Context context{threads};
  std::optional<LoadedModel> model;
  const NamedPath* loaded = nullptr;
  for (const auto& cell : cells) {
    const bool answered = cell.first + cell.items <= answers.kept();
    if (answered) continue;
    if (loaded != cell.model) {
      model.reset();
      model.emplace(load_model(cell.model->path, spec.device));
      if (progress.clock != nullptr) progress.clock->lap("loading");
      loaded = cell.model;
    }
    const auto started = Clock::now();
    const auto* pool = pools[static_cast<std::size_t>(cell.data - spec.data.data())].get();
    std::size_t failed = 0, cut = 0;
    Questioner questioner(context, *model, spec, cell, pool);
    const std::size_t from =
        answers.kept() > cell.first ? std::min(answers.kept() - cell.first, cell.items) : 0;
    result.observing += questioner.ask(from, [&](std::size_t number, const AnswerRecord& record) {
      failed += record.failed() ? 1 : 0;
      cut += record.cut_passages > 0 ? 1 : 0;
      answers.put(cell.first + number, record);
      ++result.asked;
      progress.step();
    });
    result.seconds += seconds_since(started);
    if (progress.clock != nullptr) progress.clock->lap("decoding");
    if (cut > 0)
      progress.note(fmt::format("{}: passages of {} were cut to fit the model's context of {} tokens",
                                cell.name(), counted(cut, "item"), model->model.config().context));
    if (failed > 0)
      progress.note(fmt::format("{}: {} of {} failed", cell.name(), failed, counted(cell.items, "item")));
  }
  answers.finish();
  if (progress.clock != nullptr && !spec.observe.empty()) {
    progress.clock->within("handing records on", result.observing.handing_on);
    progress.clock->within("waiting for features", result.observing.waiting);
  }
  return result;
}

std::string template_for(const EvaluationSpec& spec, const Condition& condition) {
  const std::string prompt =
      condition.prompt.value_or(spec.prompt_template.empty() ? "shared-passages" : spec.prompt_template);
  if (!condition.closed_book) return prompt;
  return spec.closed_book_prompt.empty() ? closed_book_twin(prompt) : spec.closed_book_prompt;
}

std::string closed_book_twin(const std::string& prompt) {
  const std::string name = prompt == "shared-passages" ? "shared-closed-book" : prompt + "-closed-book";
  for (const auto& builtin : questions::builtin_prompts()) {
    if (builtin.name == name) return name;
  }
  const std::filesystem::path file = prompt;
  const auto twin = file.parent_path() / (file.stem().string() + "-closed-book" + file.extension().string());
  return path_exists(twin) ? twin.string() : prompt;
}

bool has_passages(const std::filesystem::path& data, const questions::ReadOptions& options) {
  const auto item = questions::ItemReader(data, options).next();
  return item && !item->passages.empty();
}

}  // namespace buoy::run
