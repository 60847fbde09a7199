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
#include "buoy/base/interrupt.h"
#include "buoy/model/memory.h"
#include "buoy/questions/prompt/builtin_prompts.h"
#include "buoy/run/answer_file.h"
#include "buoy/run/ask/questioner.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/identity.h"
#include "buoy/run/parts/evaluation_plan.h"
#include "buoy/run/run_folder.h"
#include "buoy/run/summary/score_book.h"
#include "buoy/shard/deal.h"
#include "buoy/shard/parent_folder.h"

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
        const auto decode = fitting(config.family, decoding_of(condition, spec.decoding(model.name)));
        check_decoding(config, decode);
        if (condition.top) check_top_steps(*condition.top, decode.steps.value_or(decode.max_new_tokens));
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
    if (!facts.back().ready.empty()) require_template(spec, data.path, facts.back().ready);
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

// Everything that is known before a model is loaded.
struct Prepared {
  explicit Prepared(const EvaluationSpec& spec) {
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
    facts = scan(spec);
    cells = plan_cells(spec, facts);
    answers = cells.back().first + cells.back().items;
  }

  std::vector<DataFacts> facts;
  std::vector<QuestionCell> cells;
  std::size_t answers = 0;
};

// Which questions of a cell are asked, and where their answers go.
struct Asking {
  std::function<std::size_t(const QuestionCell&)> left;  // how many, at most; 0: the cell is left out
  std::function<bool(std::size_t number)> wanted;        // by the number in the run
  std::function<void(std::size_t number, const AnswerRecord&)> take;
  // Of parts that steal: from here on what others were to ask; what they began and did not end (nothing: all
  // is there).
  std::function<void()> begin_cell = {}, others = {};
  std::function<std::optional<std::set<std::size_t>>()> left_over = {};
};

class Asker {
 public:
  Asker(const EvaluationSpec& spec, const Prepared& run, std::filesystem::path folder,
        const EvaluationProgress& progress)
      : spec_(spec),
        run_(run),
        folder_(std::move(folder)),
        progress_(progress),
        pools_(make_pools(spec)),
        threads_(spec.threads) {}

  EvaluationResult ask(const Asking& asking) {
    for (const auto& cell : run_.cells) {
      stop_here();
      if (asking.left(cell) > 0) ask(asking, cell);
    }
    // Behind all cells: nobody waits for one that is slow while there is something to do.
    while (asking.left_over) {
      const auto numbers = asking.left_over();
      if (!numbers) break;
      const auto within = [&](const QuestionCell& cell) {
        return static_cast<std::size_t>(
            std::distance(numbers->lower_bound(cell.first), numbers->lower_bound(cell.first + cell.items)));
      };
      const Asking rest{within, [&](std::size_t number) { return numbers->contains(number); }, asking.take};
      for (const auto& cell : run_.cells) {
        if (within(cell) > 0) ask(rest, cell);
      }
    }
    if (progress_.clock != nullptr && !spec_.observe.empty()) {
      progress_.clock->within("handing records on", result_.observing.handing_on);
      progress_.clock->within("waiting for features", result_.observing.waiting);
    }
    result_.answers = run_.answers;
    return result_;
  }

 private:
  void ask(const Asking& asking, const QuestionCell& cell) {
    if (loaded_ != cell.model) {
      model_.reset();
      model_.emplace(load_model(cell.model->path, spec_.device));
      if (progress_.clock != nullptr) progress_.clock->lap("loading");
      loaded_ = cell.model;
    }
    if (asking.begin_cell) asking.begin_cell();
    const auto started = Clock::now();
    const auto* pool = pools_[static_cast<std::size_t>(cell.data - spec_.data.data())].get();
    std::size_t failed = 0, cut = 0;
    Questioner questioner(context_, *model_, spec_, cell, pool);
    const auto take = [&](std::size_t number, const AnswerRecord& record) {
      if (record.failed()) {
        ++failed;
        ++result_.failed;
        result_.last_error = record.error;
      }
      cut += record.cut_passages > 0 ? 1 : 0;
      asking.take(cell.first + number, record);
      ++result_.asked;
      progress_.step();
    };
    const auto wanted = [&](std::size_t number) {
      return !stop_requested() && asking.wanted(cell.first + number);
    };
    result_.observing += questioner.ask({asking.left(cell), wanted, folder_}, take);
    stop_here();
    if (asking.others) {
      asking.others();
      result_.observing += questioner.ask({asking.left(cell), wanted, folder_}, take);
      stop_here();
    }
    result_.seconds += seconds_since(started);
    if (progress_.clock != nullptr) progress_.clock->lap("decoding");
    if (cut > 0)
      progress_.note(fmt::format("{}: passages of {} were cut to fit the model's context of {} tokens",
                                 cell.name(), counted(cut, "item"), model_->model.config().context));
    if (failed > 0)
      progress_.note(fmt::format("{}: {} of {} failed", cell.name(), failed, counted(cell.items, "item")));
  }

  const EvaluationSpec& spec_;
  const Prepared& run_;
  const std::filesystem::path folder_;  // of the answers
  const EvaluationProgress& progress_;
  std::vector<std::unique_ptr<questions::NoisePool>> pools_;
  ThreadPool threads_;
  const Context context_{threads_};
  std::optional<LoadedModel> model_;
  const NamedPath* loaded_ = nullptr;
  EvaluationResult result_;
};

// By the length of texts: no tokenizer is asked for what only decides who asks.
std::vector<std::uint64_t> costs_of(const EvaluationSpec& spec, const Prepared& run) {
  constexpr std::uint64_t kBytesOfToken = 4;
  std::vector<std::uint64_t> costs;
  for (const auto& cell : run.cells) {
    const ModelConfig config = read_config(cell.model->path);
    const auto decode = fitting(config.family, decoding_of(*cell.condition, spec.decoding(cell.model->name)));
    shard::SampleShape shape;
    shape.new_tokens = static_cast<std::uint64_t>(std::max(decode.max_new_tokens, 0));
    if (is_masked_diffusion(config.family)) shape.forwards = forwards_of(config.family, decode);
    const auto weights = static_cast<std::uint64_t>(model::parameters_of(config)) / 1'000'000 + 1;
    for (const auto& bytes : run.facts[static_cast<std::size_t>(cell.data - spec.data.data())].bytes) {
      shape.prompt_tokens =
          (bytes.question + (cell.condition->closed_book ? 0 : bytes.passages)) / kBytesOfToken;
      costs.push_back(shard::expected_cost(shape) * weights);
    }
  }
  return costs;
}

EvaluationPlan plan_of(const EvaluationSpec& spec, const Prepared& run) {
  std::vector<EvaluationPlan::Cell> cells;
  for (const auto& cell : run.cells)
    cells.push_back({cell.model->name, cell.data->name, cell.condition->name, cell.first});
  std::map<std::string, std::vector<std::string>> ids;
  for (std::size_t d = 0; d < spec.data.size(); ++d) ids[spec.data[d].name] = run.facts[d].ids;
  return {std::move(cells), std::move(ids)};
}

}  // namespace

EvaluationResult run_evaluation(const EvaluationSpec& spec, const std::filesystem::path& folder, bool resume,
                                const EvaluationProgress& progress) {
  const Prepared run(spec);
  require_no_parts(folder, path_exists(folder / kAnswersFile));
  auto answers = open_run_folder(folder, describe_evaluation(spec, run.facts), resume);
  if (answers.kept() > run.answers) {
    throw_input_error(
        {folder.string(), "at most " + counted(run.answers, "answer"), fmt::format("{}", answers.kept())});
  }
  progress.begin(run.answers - answers.kept());
  const auto result = Asker(spec, run, folder, progress)
                          .ask({.left =
                                    [&](const QuestionCell& cell) {
                                      const auto end = cell.first + cell.items;
                                      return end - std::clamp(answers.kept(), cell.first, end);
                                    },
                                .wanted = [&](std::size_t number) { return number >= answers.kept(); },
                                .take = [&](std::size_t number,
                                            const AnswerRecord& record) { answers.put(number, record); }});
  answers.finish();
  return result;
}

EvaluationResult run_evaluation_part(const EvaluationSpec& spec, const Sharding& sharding,
                                     const EvaluationProgress& progress) {
  const Prepared run(spec);
  const Json description = describe_evaluation(spec, run.facts);
  if (!shard::write_once(sharding.out / "run.json", dump_json(description, 2) + '\n'))
    require_same_description(sharding.out / "run.json", description);
  const auto plan = plan_of(spec, run);
  shard::write_plan(EvaluationPlan::file(sharding.out), plan.text(), "plan of questions");
  Part part(sharding, costs_of(spec, run));
  auto answers = open_part_folder(part.folder(), description,
                                  [&](const AnswerRecord& record) { return plan.number_of(record); });
  part.opened();
  for (const auto& [number, line] : answers.numbers()) part.done(number);
  progress.begin(part.own_count() - std::min(part.own_count(), answers.kept()));
  if (progress.part) progress.part(part.own_count(), answers.kept());
  bool own = true;
  Asking asking;
  asking.left = [&](const QuestionCell& cell) {
    std::size_t left = 0;
    for (std::size_t n = cell.first; n < cell.first + cell.items; ++n)
      left += (part.steals() || part.owns(n)) && !answers.has(n) ? 1 : 0;
    return left;
  };
  asking.wanted = [&](std::size_t number) {
    return (!own || part.owns(number)) && !answers.has(number) && part.take(number);
  };
  asking.take = [&](std::size_t number, const AnswerRecord& record) {
    answers.put(number, record);
    part.done(number);
  };
  if (part.steals()) {
    // Of every cell first its own, then what nobody has begun; behind them what dead ones had begun.
    asking.others = [&] { own = false; };
    asking.begin_cell = [&] { own = true; };
    asking.left_over = [&]() -> std::optional<std::set<std::size_t>> {
      const auto left = part.left_over([](std::size_t) { return true; });
      if (left.empty()) return std::nullopt;
      constexpr std::size_t kAtOnce = 8;  // others want some, too
      std::set<std::size_t> ours;
      for (const auto number : left) {
        if (ours.size() == kAtOnce) break;
        if (!answers.has(number) && part.take(number)) ours.insert(number);
      }
      return ours;
    };
  }
  const auto result = Asker(spec, run, sharding.out, progress).ask(asking);
  answers.finish();
  return result;
}

void require_template(const EvaluationSpec& spec, const std::filesystem::path& data,
                      const std::string& item) {
  const bool named =
      !spec.prompt_template.empty() ||
      std::all_of(spec.conditions.begin(), spec.conditions.end(), [&](const Condition& condition) {
        return condition.prompt.has_value() || (condition.closed_book && !spec.closed_book_prompt.empty());
      });
  if (named) return;
  throw_input_error({fmt::format("{}: item {}: prompt", data.string(), item),
                     "a template that is named (`template` ready asks ready prompts as they are)",
                     "a ready prompt and no template"});
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
