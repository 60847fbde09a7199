#include "buoy/run/identity.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/sha256.h"
#include "buoy/base/utf8.h"
#include "buoy/base/version.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/checkpoint/weights_identity.h"
#include "buoy/decode/decoding_rule.h"
#include "buoy/model/memory.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/run/change/changes.h"
#include "buoy/tensor/thread_pool.h"
#include "buoy/trace/reader.h"

namespace buoy::run {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> tokenizer_sum(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "vocab.json"}) {
    if (path_exists(folder / name)) return sha256_of_file(folder / name);
  }
  return std::nullopt;
}

std::string sum_if_there(const fs::path& file) {
  return path_exists(file) ? sha256_of_file(file) : "";
}

std::string sha256_of_text(const std::string& text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

Json prompt_sum(const std::string& name) {
  const auto prompt = questions::PromptTemplate::load(name);
  return {{"name", std::filesystem::path(name).filename().string()},
          {"sha256", sha256_of_text(prompt.source())}};
}

Json describe(const questions::FieldNames& f) {
  return {{"id", f.id},
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
}

Json describe(const ChatChoice& chat, const char* use) {
  Json out = {
      {"use", use}, {"system", chat.system}, {"style", chat.style}, {"no_thinking", chat.no_thinking}};
  if (!chat.date.empty()) out["date"] = chat.date;
  return out;
}

// Without its folder: the prompts' sum tells one template from another, and a study goes on wherever it is
// started from.
std::string name_of_template(const std::string& name_or_file) {
  return std::filesystem::path(name_or_file).filename().string();
}

// The default of a model that is read in two ways. Next-token models that may be asked for another one keep
// the identity they always had.
std::optional<std::string> stored_default_rule(Family family) {
  return has_two_readings(family) ? decode::default_rule(family) : std::nullopt;
}

template <typename Value>
const Value& plain(const Value& value) {
  return value;
}
template <typename Value>
const Value& plain(const std::optional<Value>& value) {
  return *value;
}

}  // namespace

std::string describe_machine() {
  utsname system{};
  ::uname(&system);
  return fmt::format("{} {}, {}", system.sysname, system.machine,
                     counted(static_cast<std::uint64_t>(available_threads()), "thread"));
}

Json describe_model_files(const fs::path& folder) {
  const Checkpoint checkpoint = Checkpoint::open(folder);
  const Family family = checkpoint.config().family;
  Json out = {{"family", name_of(family)},
              {"masked_diffusion", is_masked_diffusion(family)},
              {"config_sha256", sha256_of_file(folder / "config.json")},
              {"weights_sha256", weights_identity(checkpoint)},
              {"tokenizer_sha256", tokenizer_sum(folder).value_or("")},
              {"tokenizer_config_sha256", sum_if_there(folder / "tokenizer_config.json")},
              {"chat_template_sha256", sum_if_there(folder / "chat_template.jinja")}};
  if (const auto rule = stored_default_rule(family)) out["default_rule"] = *rule;
  if (const auto snapshot = hub_snapshot_of(folder)) out["commit"] = snapshot->commit;
  return out;
}

void require_trace_of(const fs::path& trace, const fs::path& model_folder) {
  const auto reader = trace::TraceReader::open(trace);
  const auto& traced = reader.manifest().model;
  if (const auto changes = changes_of(reader.manifest()); !changes.empty())
    throw_input_error(
        {trace.string(), "a trace of the model as it is", "one with changes: " + changes.front()});
  const Checkpoint checkpoint = Checkpoint::open(model_folder);
  const ModelConfig& c = checkpoint.config();
  // A manifest may claim any sum; what is indexed by layer and head must fit the model itself.
  const bool same_sizes = traced.layers == c.layers && traced.heads == c.heads &&
                          traced.kv_heads == c.kv_heads && traced.head_dim == c.head_dim &&
                          traced.vocabulary == c.vocabulary;
  if (same_sizes && traced.weights_sha256 == weights_identity(checkpoint)) return;
  throw_input_error({trace.string(), fmt::format("a trace of {}", model_folder.string()),
                     fmt::format("one of another model ({})", traced.name)});
}

Json describe_decoding(const DecodeOptions& options) {
  Json out;
  for (const auto& option : decode::kDecodeOptions) {
    if (option.identity == decode::Identity::kApart || !decode::is_given(option, options)) continue;
    std::visit([&](const auto member) { out[std::string(option.key)] = plain(options.*member); },
               option.field);
  }
  return out;
}

Json describe_observed(const Request& request, Device device, const std::string& prompts_sum) {
  Json out = {{"observe", request.plan().names()},
              {"layers", request.layers},
              {"steps", request.steps_observed},
              {"groups", request.groups.empty() ? "state" : request.groups},
              {"final_row", request.final_row},
              {"template", name_of_template(request.prompt_template)},
              {"passages", request.arrangement.passages},
              {"gold_position", request.arrangement.gold_position},
              {"chat", request.chat.use},
              {"prompts_sha256", prompts_sum}};
  if (device == Device::kCuda) out["device"] = "cuda";
  if (request.plan().has(observe::kPredictions)) out["predicted_tokens"] = request.predicted_tokens;
  if (request.changes.any()) out["changes"] = request.changes.texts;
  if (request.keep == trace::Level::kCompact) out["compact_samples"] = request.compact_samples;
  return out;
}

std::string asked_as(const std::string& field) {
  static const std::map<std::string_view, std::string> names = {
      {"level", "`keep`"},
      {"planned", "`data` or `limit`"},
      {"storage", "`float16`"},
      {"tokenizer_sha256", "`model`"},
      {"analyses.names", "`analyze` or `observe`"},
      {"probe.prompts_sha256", "`data`, `prompt` or `template`"},
      {"probe.steps", "`steps_observed`"},
      {"probe.final_row", "`no_final`"},
      {"probe.changes", fmt::format("{}, {}, {}, {}, {} or {}", kHeadsField, kKeysField, kTopField, kMlpField,
                                    kSteerField, kPatchField)}};
  const std::string whole = field.substr(0, field.find('['));  // of a list, not of its element
  if (const auto found = names.find(whole); found != names.end())
    return fmt::format("{} ({})", found->second, field);
  if (whole.starts_with("model.")) return fmt::format("`model` ({})", field);
  for (const std::string_view part : {"decoding.", "probe.", "analyses.settings."}) {
    if (whole.starts_with(part)) return field_name(std::string_view(whole).substr(part.size()));
  }
  return whole == "seed" ? field_name(whole) : field;
}

Json describe_observed(const EvaluationSpec& spec, const Condition& condition) {
  return {{"observe", spec.observe}, {"groups", spec.groups}, {"condition", describe(condition)}};
}

Json describe(const Condition& c) {
  Json out = {{"name", c.name}};
  if (c.closed_book) out["closed_book"] = true;
  if (c.passages >= 0) out["passages"] = c.passages;
  if (c.gold_position > 0) out["gold_position"] = c.gold_position;
  if (c.noise) out["noise"] = {{"count", *c.noise}, {"kind", questions::name_of(c.noise_kind)}};
  if (c.evidence_parts > 1) out["evidence_parts"] = c.evidence_parts;
  if (c.gold_by_answer) out["gold_by_answer"] = true;
  const auto add = [&](const char* key, const auto& value) {
    if (value) out[key] = *value;
  };
  add("prompt", c.prompt);
  add("slots", c.slots);
  add("steps", c.steps);
  add("order", c.order);
  add("seed", c.seed);
  for (const auto& [model, heads] : c.heads_off) out["heads_off"][model] = describe(heads);
  if (c.hidden) out["hidden_columns"] = describe(*c.hidden);
  if (c.top) out["hidden_keys"] = c.top_text;
  for (const auto& [model, trace] : c.column_traces)
    out["column_traces"][model] = sha256_of_file(trace / "manifest.json");
  if (!c.axis.empty()) out["sweep"] = {{"axis", c.axis}, {"value", c.value}};
  return out;
}

Json describe_evaluation(const EvaluationSpec& spec, const std::vector<DataFacts>& data) {
  Json out = {{"format", "buoy evaluation 1"}};
  for (const auto& model : spec.models) out["models"][model.name] = describe_model_files(model.path);
  for (std::size_t i = 0; i < spec.data.size(); ++i)
    out["data"][spec.data[i].name] = {{"sha256", data[i].sha256}, {"items", data[i].items}};
  out["fields"] = describe(spec.read.fields);
  out["conditions"] = Json::array();
  for (const auto& condition : spec.conditions) {
    Json one = describe(condition);
    if (condition.prompt) one["prompt"] = prompt_sum(*condition.prompt);
    out["conditions"].push_back(one);
  }
  const std::string prompt = spec.prompt_template.empty() ? "shared-passages" : spec.prompt_template;
  out["prompt"] = prompt_sum(prompt);
  out["closed_book_prompt"] =
      prompt_sum(spec.closed_book_prompt.empty() ? closed_book_twin(prompt) : spec.closed_book_prompt);
  out["chat"] = describe(spec.chat, spec.chat_use == ChatUse::kAlways  ? "always"
                                    : spec.chat_use == ChatUse::kNever ? "never"
                                                                       : "where the folder has a template");
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

Json describe_score(const ScoreRequest& request, const model::Model& model, const std::string& data_sha256,
                    const std::string& command) {
  Json out = {{"format", "buoy score 1"},
              {"created_by", fmt::format("buoy {}", version())},
              {"command", command},
              {"model", describe_model_files(model.checkpoint().folder())},
              {"data", {{"sha256", data_sha256}, {"items", request.items.size()}}},
              {"fields", describe(request.read.fields)},
              {"passages", request.arrangement.passages},
              {"gold_position", request.arrangement.gold_position},
              {"chat", describe(request.chat, request.chat.use ? "always" : "never")},
              {"form", name_of_form(model.config(), request.score)},
              {"slots", request.score.slots},
              {"leave_out", request.leave_out},
              {"texts", request.texts},
              {"device", request.device == Device::kCuda ? "cuda" : "cpu"}};
  const bool shared = std::any_of(request.items.begin(), request.items.end(),
                                  [](const auto& item) { return !item.prompt && !item.passages.empty(); });
  if (!request.prompt_template.empty() || shared)
    out["prompt"] =
        prompt_sum(shared && request.prompt_template.empty() ? "shared-passages" : request.prompt_template);
  out["decoding"] = describe_decoding(request.score.decode);
  out["decoding"].erase("max_new_tokens");  // nothing is generated
  out["seed"] = request.score.decode.seed;
  return out;
}

trace::Manifest describe_run(const model::Model& model, const DecodeOptions& decoding,
                             const std::string& command) {
  const ModelConfig& c = model.config();
  const fs::path& folder = model.checkpoint().folder();
  trace::Manifest manifest;
  manifest.created_by = fmt::format("buoy {}", version());
  manifest.command = command;
  manifest.machine = describe_machine();
  const auto snapshot = hub_snapshot_of(folder);
  const std::string config_sum = sha256_of_file(folder / "config.json");
  const std::string untrained = model.initialisation() ? buoy::describe(*model.initialisation()) : "";
  const std::string seed =
      model.initialisation() ? fmt::format(", untrained (seed {})", model.initialisation()->seed) : "";
  manifest.model = {.name = replace_invalid_utf8(model_name(folder)) + seed,
                    .family = std::string(name_of(c.family)),
                    .architecture = c.architecture,
                    .stored_dtype = model.stored_types(),
                    .layers = c.layers,
                    .heads = c.heads,
                    .kv_heads = c.kv_heads,
                    .head_dim = c.head_dim,
                    .hidden = c.hidden,
                    .vocabulary = c.vocabulary,
                    .parameters = static_cast<std::int64_t>(model::parameters_of(c)),
                    .commit = snapshot ? snapshot->commit : "",
                    .untrained = untrained,
                    .config_sha256 = config_sum,
                    .weights_sha256 = untrained.empty() ? weights_identity(model.checkpoint())
                                                        : sha256_of_text(untrained + "\n" + config_sum)};
  manifest.tokenizer_sha256 = tokenizer_sum(folder);
  // A default that decides how the model is read is part of what was run.
  DecodeOptions decided = decoding;
  if (!decided.decoding_rule) decided.decoding_rule = stored_default_rule(c.family);
  manifest.decoding = dump_json(describe_decoding(decided));
  manifest.seed = decoding.seed;
  return manifest;
}

}  // namespace buoy::run
