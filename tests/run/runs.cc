#include "run/runs.h"

#include <nlohmann/json.hpp>

#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/run/summary/summary.h"
#include "support/golden.h"
#include "support/tiny_checkpoint.h"

namespace buoy::testing {
namespace fs = std::filesystem;

namespace {

struct Killed {};

fs::path bundled(const std::string& name) {
  return data_folder() / ".." / ".." / "models" / name;
}

}  // namespace

fs::path write_world(const TempFolder& folder, const world::WorldSetOptions& options) {
  std::string lines;
  for (const auto& item : world::make_world_set(world::World(), options))
    lines += questions::item_json(item).dump() + '\n';
  return folder.write("world.jsonl", lines);
}

NamedPath pair_model(bool masked_diffusion) {
  return masked_diffusion ? NamedPath{"diffusion", bundled("planted-diffusion")}
                          : NamedPath{"autoregressive", bundled("planted-autoregressive")};
}

NamedPath pair_model_with_mask(bool masked_diffusion, const std::string& mask, const TempFolder& scratch) {
  const NamedPath pair = pair_model(masked_diffusion);
  const fs::path folder = scratch / (pair.name + "-" + mask);
  fs::create_directory(folder);
  for (const char* file : {"model.safetensors", "tokenizer.json", "tokenizer_config.json"})
    fs::create_symlink(fs::canonical(pair.path / file), folder / file);
  Json config = read_json_file(pair.path / "config.json");
  config["attention_mask_kind"] = mask;
  write_file_atomically(folder / "config.json", to_text(config));
  return {pair.name, folder};
}

run::EvaluationSpec pair_spec(const fs::path& data, std::vector<run::Condition> conditions) {
  run::EvaluationSpec spec;
  spec.models = {pair_model(true), pair_model(false)};
  spec.data = {{"world", data}};
  spec.conditions = std::move(conditions);
  spec.prompt_template = bundled("planted.prompt").string();
  spec.decode.max_new_tokens = 8;
  spec.decode.steps = 2;
  return spec;
}

run::Condition closed_book() {
  run::Condition condition;
  condition.name = "closed-book";
  condition.closed_book = true;
  return condition;
}

run::EvaluationResult run(const run::EvaluationSpec& spec, const fs::path& folder, bool resume,
                          std::vector<std::string>* notes) {
  run::EvaluationProgress progress;
  progress.begin = [](std::size_t) {};
  progress.step = [] {};
  progress.note = [&](const std::string& text) {
    if (notes != nullptr) notes->push_back(text);
  };
  return run::run_evaluation(spec, folder, resume, progress);
}

void run_and_die(const run::EvaluationSpec& spec, const fs::path& folder, bool resume, std::size_t answers) {
  std::size_t found = 0;
  run::EvaluationProgress progress;
  progress.begin = [&](std::size_t) {
    if (answers == 0) throw Killed();
  };
  progress.step = [&] {
    if (++found == answers) throw Killed();
  };
  progress.note = [](const std::string&) {};
  EXPECT_THROW(run::run_evaluation(spec, folder, resume, progress), Killed) << answers;
}

void summarise_run(const fs::path& folder) {
  run::write_summary(
      run::summarise(run::read_scores(folder), {.replicates = 100, .confidence = 0.95, .seed = 1}), folder);
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

double exact_match(const run::ScoreBook& book, const std::string& model, const std::string& condition) {
  const auto* cell = book.find(model, "world", condition);
  if (cell == nullptr || cell->answers.empty()) return -1;
  double sum = 0;
  for (const auto& answer : cell->answers) sum += answer.scores.exact_match;
  return sum / static_cast<double>(cell->answers.size());
}

}  // namespace buoy::testing
