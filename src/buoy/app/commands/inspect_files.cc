#include "buoy/app/commands/inspect_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "buoy/app/commands/inspection_sheet.h"
#include "buoy/base/container/safetensors.h"
#include "buoy/base/container/zip_listing.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/file/locked_file.h"
#include "buoy/base/file/mapped_file.h"
#include "buoy/base/progress.h"
#include "buoy/checkpoint/config.h"
#include "buoy/checkpoint/shard_index.h"
#include "buoy/decode/decoding_rule.h"
#include "buoy/questions/data/data_summary.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/retrieve/index.h"
#include "buoy/run/answer_file.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/study/study.h"
#include "buoy/text/tokenizer/tokenizer.h"
#include "buoy/trace/folder.h"

namespace buoy::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLongestJson = std::uintmax_t{1} << 28;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& path : trace::list_folder(folder)) names.push_back(path.filename().string());
  return names;
}

// The keys of an object of objects, as names: models, data.
std::string keys_of(const Json& json, const char* key) {
  std::vector<std::string> keys;
  if (json.contains(key) && json[key].is_object()) {
    for (const auto& [name, value] : json[key].items()) keys.push_back(name);
  }
  return keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "));
}

void count_answers(const fs::path& folder, InspectionSheet& sheet) {
  std::size_t answered = 0, failed = 0;
  run::read_answers(folder, [&](run::AnswerRecord&& record) { ++(record.failed() ? failed : answered); });
  sheet.add("answers", fmt::format("{} answered, {} failed", answered, failed));
}

Json table_json(const fs::path& file) {
  return read_json_file(file, kLongestJson);
}

// Between which the config does not decide.
std::string decoding_rules_of(Family family) {
  std::vector<std::string_view> names;
  for (const auto& rule : decode::decoding_rules(family)) names.push_back(rule.name);
  return may_decode_blocks(family) ? fmt::format("{}", fmt::join(names, " or ")) : "";
}

}  // namespace

bool is_evaluation(const fs::path& folder) {
  const auto run = folder / "run.json";
  return path_exists(run) && read_head(run).find("buoy evaluation") != std::string::npos;
}

bool holds_ending(const fs::path& folder, const std::string& ending) {
  const auto names = names_in(folder);
  return std::any_of(names.begin(), names.end(), [&](const auto& name) { return name.ends_with(ending); });
}

bool holds_model(const fs::path& folder) {
  return path_exists(folder / "config.json") || path_exists(folder / "tokenizer.json") ||
         holds_ending(folder, ".safetensors");
}

bool is_table(const Inspected& f) {
  if (f.named(".json"))
    return (f.says("\"columns\"") && f.says("\"title\"")) ||
           (f.name() == "summary.json" && f.says("\"tables\""));
  auto json = f.path;
  return f.named(".csv") && path_exists(json.replace_extension(".json")) && is_table(Inspected(json));
}

void inspect_evaluation(const fs::path& folder, bool json) {
  const Json run = read_json_file(folder / "run.json", kLongestJson);
  const JsonObject object(run, (folder / "run.json").string());
  InspectionSheet sheet("run of buoy eval");
  sheet.add("format", object.required_text("format"));
  sheet.add("models", keys_of(run, "models"));
  const Json models = run.value("models", Json::object());
  for (const auto& [name, model] : models.items()) {
    if (model.is_object() && model.contains("commit") && model["commit"].is_string())
      sheet.add("commit", fmt::format("{} {}", name, model["commit"].get<std::string>()));
  }
  sheet.add("data", keys_of(run, "data"));
  const Json* conditions = object.find("conditions");
  sheet.add("conditions", fmt::format("{}", conditions == nullptr ? 0 : conditions->size()));
  if (path_exists(folder / run::kAnswersFile)) {
    sheet.add("state", "complete");
    count_answers(folder, sheet);
  } else {
    const auto partial = folder / "answers.partial.jsonl";
    const std::string text = path_exists(partial) ? read_file(partial) : "";
    const auto answers = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    const std::string so_far = counted(answers, "answer") + " so far";
    const auto of_parts = shard::command_that_goes_on(folder);
    if (LockedFile::is_locked(partial)) {
      sheet.add("state", "under way: " + so_far);
    } else if (of_parts && !path_exists(partial)) {
      sheet.add("state", "in parts that are not joined: " + *of_parts);
    } else {
      sheet.add("state", fmt::format("stopped: {}; {} goes on", so_far,
                                     of_parts.value_or("the same buoy eval with --resume")));
    }
  }
  sheet.print(json);
}

void inspect_answers(const fs::path& file, bool json) {
  InspectionSheet sheet("answers of buoy eval");
  count_answers(file.parent_path(), sheet);
  sheet.print(json);
}

void inspect_table(const Inspected& f, bool json) {
  auto path = f.path;
  const Json stored = table_json(path.replace_extension(".json"));
  InspectionSheet sheet(stored.contains("tables") ? "tables of buoy eval" : "table");
  const auto add = [&](const Json& table) {
    const JsonObject object(table, path.string());
    const Json *columns = object.find("columns"), *rows = object.find("rows");
    if (columns == nullptr || !columns->is_array()) object.fail("columns", "a list");
    if (rows == nullptr || !rows->is_array()) object.fail("rows", "a list");
    sheet.add("table", fmt::format("{}: {}, {}", object.required_text("name"), counted(rows->size(), "row"),
                                   object.required_text("title")));
    if (stored.contains("tables")) return;
    for (const Json& column : *columns) {
      const JsonObject one(column, path.string() + ": columns");
      sheet.add("column", fmt::format("{:<24} {}", one.required_text("name"), one.required_text("meaning")));
    }
  };
  if (stored.contains("tables")) {
    for (const Json& table : stored["tables"]) add(table);
  } else {
    add(stored);
  }
  sheet.print(json);
}

void inspect_weights(const fs::path& file, bool json) {
  const MappedFile mapped(file);
  const SafetensorsFile contents = parse_safetensors(mapped.bytes(), file.string());
  std::set<std::string> types;
  std::uint64_t parameters = 0;
  for (const auto& [name, entry] : contents.tensors) {
    types.insert(entry.dtype);
    parameters += entry.data.size() / safetensors_element_size(entry.dtype);
  }
  InspectionSheet sheet("weights (safetensors)");
  sheet.add("tensors", fmt::format("{} of {} numbers, {}, {}", contents.tensors.size(), parameters,
                                   fmt::join(types, ", "), describe_bytes(mapped.bytes().size())));
  sheet.add("model", "inspect the folder: config.json says what these are");
  sheet.print(json);
}

void inspect_shard_index(const fs::path& file, bool json) {
  const auto weight_map = read_shard_index(file);
  std::set<std::string> shards, missing;
  for (const auto& [tensor, shard] : weight_map) shards.insert(shard);
  const auto folder = fs::absolute(file).parent_path();
  for (const auto& shard : shards) {
    if (!path_exists(folder / shard)) missing.insert(shard);
  }
  InspectionSheet sheet("index of weights");
  sheet.add("tensors", fmt::format("{} in {}", weight_map.size(), counted(shards.size(), "file")));
  sheet.add("missing", missing.empty() ? "nothing" : fmt::format("{}", fmt::join(missing, ", ")));
  sheet.print(json);
}

void inspect_config(const fs::path& file, bool json) {
  const ModelConfig c = parse_config(read_json_file(file, kLongestJson), file.string());
  InspectionSheet sheet("configuration of a model");
  sheet.add("family", fmt::format("{} ({}), {}, {} attention", name_of(c.family), c.architecture,
                                  is_masked_diffusion(c.family) ? "masked diffusion" : "autoregressive",
                                  name_of(mask_of(c))));
  sheet.add("shape", fmt::format("{} layers, width {}, {} heads of {} ({} for keys and values), MLP {}",
                                 c.layers, c.hidden, c.heads, c.head_dim, c.kv_heads, c.mlp_hidden));
  if (c.block_length) sheet.add("blocks", fmt::format("{} positions", *c.block_length));
  if (const std::string rules = decoding_rules_of(c.family); !rules.empty())
    sheet.add("rule", rules + ": the config does not say");
  sheet.add("vocabulary", fmt::format("{} rows", c.vocabulary));
  sheet.add("context", fmt::format("{} tokens", c.context));
  sheet.print(json);
}

void inspect_tokenizer(const fs::path& file, bool json) {
  const auto tokenizer = text::Tokenizer::from_json(read_file(file), file.string());
  InspectionSheet sheet("tokenizer");
  sheet.add("method", std::string(tokenizer.kind()));
  sheet.add("ids", fmt::format("below {}", tokenizer.id_limit()));
  sheet.print(json);
}

void inspect_passages(const fs::path& file, bool json) {
  const auto index = retrieve::Index::open(file);
  const auto& d = index.description();
  InspectionSheet sheet("index of passages");
  sheet.add("passages",
            fmt::format("{} of {}", d.passages, counted(static_cast<std::size_t>(d.documents), "document")));
  sheet.add("words", d.tokenizer);
  for (const auto& source : d.sources)
    sheet.add("source", fmt::format("{}, {}, {} documents", source.name, describe_bytes(source.bytes),
                                    source.documents));
  sheet.print(json);
}

void inspect_npz(const fs::path& file, bool json) {
  const MappedFile mapped(file);
  const auto names = zip_names(mapped.bytes(), file.string());
  InspectionSheet sheet("arrays for numpy (numpy.load)");
  for (const auto& name : names)
    sheet.add("array", name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name);
  sheet.print(json);
}

void inspect_study(const fs::path& file, bool json) {
  const auto study = study::read_study(file);
  InspectionSheet sheet("study");
  sheet.add("title", study.title);
  std::vector<std::string> models;
  for (const auto& model : study.models) models.push_back(model.name);
  sheet.add("models", fmt::format("{}", fmt::join(models, ", ")));
  sheet.add("parts", fmt::format("{}, {}, {}", counted(study.data.size(), "data set"),
                                 counted(study.traces.size(), "trace"),
                                 counted(study.evaluations.size(), "evaluation")));
  sheet.add("results in", study.out.string());
  sheet.add("run it with", fmt::format("buoy study {}", file.string()));
  sheet.print(json);
}

void inspect_prompt(const fs::path& file, bool json) {
  const auto prompt = questions::PromptTemplate::parse(read_file(file, 1 << 24), file.string());
  InspectionSheet sheet("prompt template");
  sheet.add("passages", prompt.uses_passages() ? "used" : "not used (closed book)");
  sheet.add("length", fmt::format("{} bytes", prompt.source().size()));
  sheet.print(json);
}

void inspect_questions(const fs::path& file, const InspectCall& call) {
  InspectionSheet sheet("questions");
  for (const auto& [name, value] : questions::summary_lines(
           questions::summarise_data(file, {.fields = call.fields, .require_answers = false})))
    sheet.add(name, value);
  sheet.print(call.json);
}

void inspect_part(const fs::path& file, const std::string& kind, bool json) {
  InspectionSheet sheet(kind);
  sheet.add("folder",
            fmt::format("inspect {}", fs::absolute(file).lexically_normal().parent_path().string()));
  sheet.print(json);
}

void inspect_parts(const fs::path& folder, const std::string& kind, bool json) {
  InspectionSheet sheet(kind);
  for (const auto& path : trace::list_folder(folder)) {
    const std::string name = path.filename().string();
    if (name.starts_with('.')) continue;
    sheet.add(is_folder(path) ? "folder" : "file",
              is_folder(path)
                  ? fmt::format("{}, {}", name, counted(names_in(path).size(), "entry", "entries"))
                  : name);
  }
  sheet.print(json);
}

std::string describe_folder(const fs::path& folder) {
  auto names = names_in(folder);
  if (names.empty()) return "an empty folder";
  const std::size_t count = names.size();
  if (count > 5) names.resize(5);
  return fmt::format("{}: {}{}", count == 1 ? "1 entry" : fmt::format("{} entries", count),
                     fmt::join(names, ", "), count > 5 ? ", ..." : "");
}

}  // namespace buoy::app
