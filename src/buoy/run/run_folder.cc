#include "buoy/run/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/sha256.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/run/identity.h"
#include "buoy/trace/folder.h"

namespace buoy::run {
namespace {

constexpr char kDescription[] = "run.json";
constexpr char kRetrieved[] = "retrieved";  // passages found before the run begins

Json prompt_sum(const std::string& name) {
  const auto prompt = questions::PromptTemplate::load(name);
  return {{"name", std::filesystem::path(name).filename().string()},
          {"sha256", sha256_hex(std::as_bytes(std::span(prompt.source())))}};
}

struct Difference {
  std::string path;  // of keys
  Json stored, asked;
};

// Where two descriptions first differ.
std::optional<Difference> first_difference(const Json& stored, const Json& asked, const std::string& path) {
  if (!stored.is_object() || !asked.is_object())
    return stored == asked ? std::nullopt : std::optional(Difference{path, stored, asked});
  const auto inner = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, value] : stored.items()) {
    if (!asked.contains(key)) return Difference{inner(key), value, nullptr};
    if (const auto found = first_difference(value, asked[key], inner(key))) return found;
  }
  for (const auto& [key, value] : asked.items()) {
    if (!stored.contains(key)) return Difference{inner(key), nullptr, value};
  }
  return std::nullopt;
}

// The same weights are the same model, wherever they lie.
Json without_commits(Json description) {
  if (!description.is_object() || !description.contains("models")) return description;
  for (Json& model : description["models"]) {
    if (model.is_object()) model.erase("commit");
  }
  return description;
}

// Refuses a folder with another run or with anything else in it.
void check_run_folder(const std::filesystem::path& folder, const Json& description, bool resume) {
  const auto file = folder / kDescription;
  if (path_exists(file)) {
    const Json stored = read_json_file(file);
    if (const auto difference = first_difference(without_commits(stored), without_commits(description), "")) {
      const std::string where = difference->path.empty() ? "" : ": " + difference->path;
      throw_input_error(
          {file.string() + where, "the same as in this run (another `out`, or remove the folder)",
           fmt::format("{} there, {} now", dump_json(difference->stored), dump_json(difference->asked))});
    }
    if (!resume)
      throw_usage_error(
          {folder.string(), "an empty folder, or `resume` to go on with the run in it", "a run"});
    return;
  }
  if (!path_exists(folder) || !is_folder(folder)) return;
  for (const auto& path : trace::list_folder(folder)) {
    if (path.filename() != kRetrieved && !trace::is_partial_file(path) && !is_begun_and_empty(path))
      throw_input_error({folder.string(), "an empty folder or a run of buoy eval", path.filename().string()});
  }
}

}  // namespace

DataFacts scan_data(const NamedPath& data, const questions::ReadOptions& options) {
  DataFacts facts;
  questions::ItemReader reader(data.path, options);
  while (const auto item = reader.next()) {
    ++facts.items;
    facts.with_passages += item->passages.empty() ? 0 : 1;
  }
  facts.sha256 = sha256_of_file(data.path);
  return facts;
}

Json describe_evaluation(const EvaluationSpec& spec, const std::vector<DataFacts>& data) {
  Json out = {{"format", "buoy evaluation 1"}};
  for (const auto& model : spec.models) out["models"][model.name] = describe_model_files(model.path);
  for (std::size_t i = 0; i < spec.data.size(); ++i)
    out["data"][spec.data[i].name] = {{"sha256", data[i].sha256}, {"items", data[i].items}};
  const auto& f = spec.read.fields;
  out["fields"] = {{"id", f.id},
                   {"question", f.question},
                   {"answers", f.answers},
                   {"answer_text", f.answer_text},
                   {"passages", f.passages},
                   {"title", f.title},
                   {"text", f.text},
                   {"gold", f.gold},
                   {"has_answer", f.has_answer},
                   {"prompt", f.prompt},
                   {"labels", f.labels}};
  out["conditions"] = Json::array();
  for (const auto& condition : spec.conditions) {
    Json one = describe(condition);
    if (condition.prompt) one["prompt"] = prompt_sum(*condition.prompt);
    out["conditions"].push_back(one);
  }
  const std::string prompt = spec.prompt.empty() ? "shared-passages" : spec.prompt;
  out["prompt"] = prompt_sum(prompt);
  out["closed_book_prompt"] =
      prompt_sum(spec.closed_book_prompt.empty() ? closed_book_twin(prompt) : spec.closed_book_prompt);
  out["chat"] = {{"use", spec.chat_use == ChatUse::kAlways  ? "always"
                         : spec.chat_use == ChatUse::kNever ? "never"
                                                            : "where the folder has a template"},
                 {"system", spec.chat.system},
                 {"style", spec.chat.style},
                 {"no_thinking", spec.chat.no_thinking}};
  if (!spec.chat.date.empty()) out["chat"]["date"] = spec.chat.date;
  out["answers"] = {{"keep_text_after_end", spec.keep_text_after_end},
                    {"first_line_only", spec.first_line_only},
                    {"normalisation", questions::name_of(spec.normalisation)}};
  out["decoding"] = describe_decoding(spec.decode);
  for (const auto& [model, decode] : spec.decode_of_model)
    out["decoding_of_model"][model] = describe_decoding(decode);
  out["seed"] = spec.decode.seed;
  out["device"] = spec.device == Device::kCuda ? "cuda" : "cpu";
  out["observe"] = spec.observe;
  return out;
}

AnswerFile open_run_folder(const std::filesystem::path& folder, const Json& description, bool resume) {
  check_run_folder(folder, description, resume);  // before anything is touched
  make_folder(folder);
  AnswerFile answers(folder);
  check_run_folder(folder, description, resume);  // again: only now nobody else writes
  trace::remove_partial_files(folder);
  const auto file = folder / kDescription;
  if (!path_exists(file)) write_file_atomically(file, dump_json(description, 2) + '\n');
  return answers;
}

}  // namespace buoy::run
