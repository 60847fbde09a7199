#include "buoy/study/networks/network_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "buoy/base/counted.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/sha256.h"

namespace buoy::study {
namespace {

std::string text_in(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : "";
}

}  // namespace

std::string questions_of(const trace::Manifest& manifest) {
  const Json probe = Json::parse(manifest.probe);
  const Json asked = {{"ids", manifest.sample_ids},
                      {"prompts", text_in(probe, "prompts_sha256")},
                      {"decoding", Json::parse(manifest.decoding)},
                      {"seed", manifest.seed}};
  return sha256_hex(dump_json(asked));
}

std::string data_of(const trace::Manifest& manifest) {
  return fmt::format("{}, {}", counted(manifest.sample_ids.size(), "question"),
                     sha256_hex(dump_json(Json(manifest.sample_ids))).substr(0, 8));
}

std::map<std::string, ModelOfRun> models_of_run(const std::filesystem::path& folder) {
  const Json run = read_json_file(folder / "run.json");
  std::map<std::string, ModelOfRun> out;
  Json asked;
  for (const char* key : {"data", "fields", "conditions", "prompt", "closed_book_prompt", "chat", "answers",
                          "decoding", "seed"}) {
    if (run.contains(key)) asked[key] = run[key];
  }
  // What is told of every model by itself: heads and columns are each model's own.
  if (asked.contains("conditions") && asked["conditions"].is_array()) {
    for (Json& condition : asked["conditions"]) {
      if (!condition.is_object()) continue;
      for (const char* key : {"heads_off", "column_traces"}) condition.erase(key);
    }
  }
  if (!run.contains("models") || !run["models"].is_object()) return out;
  const Json none, &own = run.contains("decoding_of_model") ? run["decoding_of_model"] : none;
  for (const auto& [name, model] : run["models"].items()) {
    if (own.is_object() && own.contains(name)) asked["decoding"] = own[name];
    out[name] = {sha256_hex(dump_json(asked)), text_in(model, "weights_sha256")};
  }
  return out;
}

}  // namespace buoy::study
