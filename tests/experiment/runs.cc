#include "experiment/runs.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "evaluate/item_json.h"
#include "experiment/summary.h"
#include "support/golden.h"

namespace buoy::testing {
namespace fs = std::filesystem;

namespace {

struct Killed {};

fs::path bundled(const std::string& name) {
  return data_folder() / ".." / ".." / "models" / name;
}

}  // namespace

fs::path write_world(const TempFolder& folder, const evaluate::WorldSetOptions& options) {
  std::string lines;
  for (const auto& item : evaluate::make_world_set(evaluate::World(), options))
    lines += evaluate::item_json(item).dump() + '\n';
  return folder.write("world.jsonl", lines);
}

experiment::Named pair_model(bool masked_diffusion) {
  return masked_diffusion ? experiment::Named{"diffusion", bundled("pair-diffusion")}
                          : experiment::Named{"autoregressive", bundled("pair-autoregressive")};
}

experiment::EvaluationSpec pair_spec(const fs::path& data, std::vector<experiment::Condition> conditions) {
  experiment::EvaluationSpec spec;
  spec.models = {pair_model(true), pair_model(false)};
  spec.data = {{"world", data}};
  spec.conditions = std::move(conditions);
  spec.prompt = bundled("pair.prompt").string();
  spec.decode.max_new_tokens = 8;
  spec.decode.steps = 2;
  return spec;
}

experiment::Condition closed_book() {
  experiment::Condition condition;
  condition.name = "closed-book";
  condition.closed_book = true;
  return condition;
}

experiment::EvaluationResult run(const experiment::EvaluationSpec& spec, const fs::path& folder, bool resume,
                                 std::vector<std::string>* notes) {
  experiment::EvaluationProgress progress;
  progress.begin = [](std::size_t) {};
  progress.step = [] {};
  progress.note = [&](const std::string& text) {
    if (notes != nullptr) notes->push_back(text);
  };
  return experiment::run_evaluation(spec, folder, resume, progress);
}

void run_and_die(const experiment::EvaluationSpec& spec, const fs::path& folder, bool resume,
                 std::size_t answers) {
  std::size_t found = 0;
  experiment::EvaluationProgress progress;
  progress.begin = [&](std::size_t) {
    if (answers == 0) throw Killed();
  };
  progress.step = [&] {
    if (++found == answers) throw Killed();
  };
  progress.note = [](const std::string&) {};
  EXPECT_THROW(experiment::run_evaluation(spec, folder, resume, progress), Killed) << answers;
}

void summarise_run(const fs::path& folder) {
  experiment::write_summary(
      experiment::summarise(experiment::read_scores(folder), {.resamples = 100, .level = 0.95, .seed = 1}),
      folder);
}

Files files_of(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
  }
  return files;
}

::testing::AssertionResult same_files(const Files& a, const Files& b) {
  std::string different;
  for (const auto& [name, bytes] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second != bytes) different += " " + name;
  }
  for (const auto& [name, bytes] : b) {
    if (!a.contains(name)) different += " " + name;
  }
  if (different.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not the same:" << different;
}

double exact_match(const experiment::ScoreBook& book, const std::string& model,
                   const std::string& condition) {
  const auto* cell = book.find(model, "world", condition);
  if (cell == nullptr || cell->answers.empty()) return -1;
  double sum = 0;
  for (const auto& answer : cell->answers) sum += answer.scores.exact_match;
  return sum / static_cast<double>(cell->answers.size());
}

}  // namespace buoy::testing
