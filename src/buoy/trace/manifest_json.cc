#include "buoy/trace/manifest_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/sha256.h"
#include "buoy/base/utf8.h"
#include "buoy/trace/level.h"
#include "buoy/trace/sample.h"

namespace buoy::trace {
namespace {

using OrderedJson = nlohmann::ordered_json;  // a manifest is read by people: format and version first

OrderedJson to_json(const ModelCard& model) {
  OrderedJson json = {{"name", replace_invalid_utf8(model.name)}};
  if (!model.commit.empty()) json["commit"] = model.commit;
  if (!model.untrained.empty()) json["untrained"] = model.untrained;
  json.update({{"family", model.family},
               {"architecture", model.architecture},
               {"stored_dtype", model.stored_dtype},
               {"layers", model.layers},
               {"heads", model.heads},
               {"kv_heads", model.kv_heads},
               {"head_dim", model.head_dim},
               {"hidden", model.hidden},
               {"vocabulary", model.vocabulary}});
  if (model.parameters > 0) json["parameters"] = model.parameters;
  json.update({{"config_sha256", model.config_sha256}, {"weights_sha256", model.weights_sha256}});
  return json;
}

OrderedJson to_json(const SampleEntry& entry) {
  if (entry.status == Status::kFailed) {
    return {{"id", entry.id}, {"status", "failed"}, {"error", replace_invalid_utf8(entry.error)}};
  }
  OrderedJson json = {{"id", entry.id}, {"status", "done"}, {"file", entry.file}, {"bytes", entry.bytes}};
  if (entry.tree_sha256.empty()) {
    json["checksum"] = entry.checksum;
  } else {
    json["tree_sha256"] = entry.tree_sha256;
  }
  return json;
}

OrderedJson to_json(const Manifest& manifest, bool complete) {
  OrderedJson json = {{"format", kFormatName},
                      {"version", version_of(manifest.level, manifest.blocks)},
                      {"complete", complete}};
  if (manifest.level != Level::kFull) json["level"] = name_of(manifest.level);
  json["created_by"] = manifest.created_by;
  json["command"] = replace_invalid_utf8(manifest.command);
  json["machine"] = replace_invalid_utf8(manifest.machine);
  json["model"] = to_json(manifest.model);
  json["tokenizer_sha256"] = manifest.tokenizer_sha256 ? OrderedJson(*manifest.tokenizer_sha256) : nullptr;
  json["decoding"] = parse_json(manifest.decoding, "manifest: decoding");
  json["probe"] = parse_json(manifest.probe, "manifest: probe");
  if (manifest.level != Level::kFull)
    json["analyses"] = {{"names", manifest.analyses.names}, {"settings", manifest.analyses.settings}};
  json["storage"] = name_of(manifest.storage);
  json["seed"] = manifest.seed;
  return json;
}

// Of every field but those for people, as sorted JSON without blanks.
std::string sum_of(Json json) {
  for (const char* key : kForPeople) json.erase(key);
  json.erase("checksum");
  for (const char* key : kModelForPeople) json["model"].erase(key);
  return sha256_hex(dump_json(json));
}

std::string with_sum(OrderedJson json) {
  json["checksum"] = sum_of(parse_json(dump_json(json), "manifest"));
  return dump_json(json, 2) + "\n";
}

std::string required_sum(const JsonObject& object, const std::string& key) {
  std::string sum = object.required_text(key);
  if (!is_sha256_hex(sum)) object.fail(key, "64 lower-case hexadecimal digits");
  return sum;
}

std::uint64_t required_unsigned(const JsonObject& object, const std::string& key) {
  const Json* value = object.find(key);
  if (value == nullptr || !value->is_number_unsigned()) object.fail(key, "an integer of at least 0");
  return value->get<std::uint64_t>();
}

JsonObject required_object(const JsonObject& object, const std::string& key) {
  const auto found = object.object(key);
  if (!found) object.fail(key, "an object");
  return *found;
}

const Json& required_list(const JsonObject& object, const std::string& key) {
  const Json* list = object.find(key);
  if (list == nullptr || !list->is_array()) object.fail(key, "a list");
  return *list;
}

ModelCard parse_model(const JsonObject& object) {
  ModelCard model;
  model.name = object.required_text("name");
  model.commit = object.text("commit").value_or("");
  if (model.commit.find_first_not_of("0123456789abcdef") != std::string::npos)
    object.fail("commit", "lower-case hexadecimal digits");
  model.untrained = object.text("untrained").value_or("");
  model.family = object.required_text("family");
  model.architecture = object.required_text("architecture");
  model.stored_dtype = object.required_text("stored_dtype");
  for (const auto& [name, size, most] : kSizeLimits) model.*size = object.required_integer(name, {1, most});
  if (const auto wrong = find_mismatch(model))
    throw_input_error({fmt::format("{}: {}", object.name(), wrong->where), wrong->expected, wrong->found});
  if (object.find("parameters") != nullptr)
    model.parameters = object.required_integer("parameters", {1, INT64_MAX});
  model.config_sha256 = required_sum(object, "config_sha256");
  model.weights_sha256 = required_sum(object, "weights_sha256");
  return model;
}

std::int64_t checked_version(const JsonObject& object) {
  if (object.text("format") != kFormatName) object.fail("format", fmt::format("\"{}\"", kFormatName));
  const std::int64_t version = object.required_integer("version");
  if (version > kNewestVersion) {
    throw_input_error(
        {object.name() + ": version",
         fmt::format("at most {} (this Buoy reads versions 1 to {})", kNewestVersion, kNewestVersion),
         fmt::format("{} (the trace is version {})", version, version)});
  }
  if (version < 1) object.fail("version", "1 or more");
  return version;
}

// Traces have it since version 3; those of level full never have. Version 4 has either.
Level parse_level(const JsonObject& object, std::int64_t version) {
  const auto name = object.text("level");
  if (version < kLevelVersion) {
    if (object.has("level")) object.fail("level", fmt::format("none in version {}", version));
    return Level::kFull;
  }
  if (version == kBlocksVersion && !object.has("level")) return Level::kFull;
  for (const Level level : kLevels) {
    if (name && level != Level::kFull && *name == name_of(level)) return level;
  }
  object.fail("level", "\"tables\" or \"compact\"");
}

KeptAnalyses parse_analyses(const JsonObject& object) {
  KeptAnalyses analyses;
  for (const Json& name : required_list(object, "names")) {
    if (!name.is_string()) object.fail("names", "a list of texts");
    analyses.names.push_back(name.get<std::string>());
  }
  const Json* settings = object.find("settings");
  if (settings == nullptr || !settings->is_object()) object.fail("settings", "an object of numbers");
  for (const auto& [name, value] : settings->items()) {
    if (!value.is_number()) object.fail("settings", "an object of numbers");
    analyses.settings[name] = value.get<double>();
  }
  return analyses;
}

std::string checked_id(const Json& json, const std::string& where) {
  if (!json.is_string() || !is_sample_id(json.get_ref<const std::string&>())) {
    throw_input_error({where, "a sample id (A-Z a-z 0-9 . _ -)", describe_json(json)});
  }
  return json.get<std::string>();
}

}  // namespace

std::string format_manifest(const Manifest& manifest) {
  OrderedJson json = to_json(manifest, false);
  json["planned"] = manifest.sample_ids;
  return with_sum(std::move(json));
}

std::string format_manifest(const Manifest& manifest, const std::vector<SampleEntry>& entries) {
  OrderedJson json = to_json(manifest, true);
  json["samples"] = OrderedJson::array();
  for (const SampleEntry& entry : entries) json["samples"].push_back(to_json(entry));
  return with_sum(std::move(json));
}

std::string format_entry(const SampleEntry& entry) {
  return dump_json(to_json(entry));
}

SampleEntry parse_entry(const Json& json, const std::string& name) {
  const JsonObject object(json, name);
  SampleEntry entry;
  const Json* id = object.find("id");
  entry.id = checked_id(id == nullptr ? Json() : *id, name + ": id");
  const std::string status = object.required_text("status");
  if (status == "failed") {
    entry.status = Status::kFailed;
    entry.error = object.required_text("error");
    return entry;
  }
  if (status != "done") object.fail("status", "\"done\" or \"failed\"");
  entry.file = object.required_text("file");
  // Nothing else is ever opened, whatever a manifest from elsewhere asks for.
  const std::string expected = sample_file(entry.id).generic_string();
  if (entry.file != expected) object.fail("file", fmt::format("\"{}\"", expected));
  entry.bytes = required_unsigned(object, "bytes");
  if (object.has("tree_sha256")) {
    if (object.has("checksum")) object.fail("checksum", "nothing beside tree_sha256");
    entry.tree_sha256 = required_sum(object, "tree_sha256");
  } else {
    entry.checksum = required_sum(object, "checksum");
  }
  return entry;
}

ParsedManifest parse_manifest(const std::string& text, const std::string& name, Integrity integrity) {
  const Json json = parse_json(text, name);
  const JsonObject object(json, name);
  ParsedManifest parsed;
  parsed.version = checked_version(object);
  const auto complete = object.boolean("complete");
  if (!complete) object.fail("complete", "true or false");
  parsed.complete = *complete;

  Manifest& manifest = parsed.manifest;
  manifest.created_by = object.required_text("created_by");
  manifest.command = object.required_text("command");
  manifest.machine = object.required_text("machine");
  manifest.model = parse_model(required_object(object, "model"));
  if (object.has("tokenizer_sha256")) manifest.tokenizer_sha256 = required_sum(object, "tokenizer_sha256");
  required_object(object, "decoding");
  manifest.decoding = json.at("decoding").dump();
  required_object(object, "probe");
  manifest.probe = json.at("probe").dump();
  const std::string storage = object.required_text("storage");
  if (storage != "F32" && storage != "F16") object.fail("storage", "\"F32\" or \"F16\"");
  manifest.storage = storage == "F16" ? Storage::kF16 : Storage::kF32;
  manifest.seed = required_unsigned(object, "seed");
  manifest.level = parse_level(object, parsed.version);
  manifest.blocks = parsed.version == kBlocksVersion;
  if (manifest.level != Level::kFull) manifest.analyses = parse_analyses(required_object(object, "analyses"));

  const std::string list = parsed.complete ? "samples" : "planned";
  std::set<std::string> seen;
  for (const Json& item : required_list(object, list)) {
    const std::string where = fmt::format("{}: {}[{}]", name, list, manifest.sample_ids.size());
    if (parsed.complete) parsed.entries.push_back(parse_entry(item, where));
    manifest.sample_ids.push_back(parsed.complete ? parsed.entries.back().id : checked_id(item, where));
    if (!seen.insert(manifest.sample_ids.back()).second) {
      throw_input_error({where, "each id once", manifest.sample_ids.back() + " again"});
    }
  }
  if (integrity == Integrity::kChecksum && object.has("checksum")) {
    const std::string stored = required_sum(object, "checksum"), found = sum_of(json);
    if (stored != found)
      throw_input_error({name + ": checksum", stored + " of its fields",
                         found + " (a field was changed; `trust` reads it all the same)"});
  }
  return parsed;
}

}  // namespace buoy::trace
