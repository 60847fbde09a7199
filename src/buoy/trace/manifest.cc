#include "buoy/trace/manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/sha256.h"
#include "buoy/trace/manifest_json.h"
#include "buoy/trace/sample.h"

namespace buoy::trace {
namespace {

void check_sum(const std::string& sum, const std::string& field) {
  if (is_sha256_hex(sum)) return;
  throw_usage_error({"manifest: " + field, "64 lower-case hexadecimal digits", fmt::format("\"{}\"", sum)});
}

void check_object(const std::string& text, const std::string& field) {
  const Json json = parse_json(text, "manifest: " + field);
  if (!json.is_object()) throw_usage_error({"manifest: " + field, "a JSON object", describe_json(json)});
}

std::string shorten(const Json& json) {
  const std::string text = dump_json(json);
  if (text.size() <= 100) return text;
  return json.is_array() ? fmt::format("a list of {}", json.size()) : describe_json(json);
}

// Fails at the first leaf that differs: "decoding.steps".
void require_equal(const Json& stored, const Json& run, const std::string& file, const std::string& field) {
  if (stored == run) return;
  if (stored.is_object() && run.is_object()) {
    const std::string before = field.empty() ? "" : field + ".";
    for (const auto& [key, value] : stored.items()) {
      const auto other = run.find(key);
      if (other == run.end())
        throw AnotherRun(file, before + key, shorten(value) + " as in the trace", "nothing");
      require_equal(value, *other, file, before + key);
    }
    for (const auto& [key, value] : run.items()) {
      if (!stored.contains(key))
        throw AnotherRun(file, before + key, "nothing, as in the trace", shorten(value));
    }
  }
  if (stored.is_array() && run.is_array() && stored.size() == run.size()) {
    for (size_t i = 0; i < stored.size(); ++i) {
      require_equal(stored[i], run[i], file, fmt::format("{}[{}]", field, i));
    }
  }
  throw AnotherRun(file, field, shorten(stored) + " as in the trace", shorten(run));
}

Json identity(const Manifest& manifest) {
  Json json = parse_json(format_manifest(manifest), "manifest");
  for (const char* key : kForPeople) json.erase(key);
  json.erase("checksum");
  for (const char* key : kModelForPeople) json["model"].erase(key);
  return json;
}

}  // namespace

bool KeptAnalyses::has(std::string_view name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> observed_names(const Manifest& manifest) {
  std::vector<std::string> names;
  const Json probe = parse_json(manifest.probe, "manifest: probe");
  const auto observe = probe.find("observe");
  if (observe == probe.end() || !observe->is_array()) return names;
  for (const Json& name : *observe) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

void check_manifest(const Manifest& manifest) {
  if (const auto wrong = find_mismatch(manifest.model))
    throw_usage_error({"manifest: model." + wrong->where, wrong->expected, wrong->found});
  check_sum(manifest.model.config_sha256, "model.config_sha256");
  check_sum(manifest.model.weights_sha256, "model.weights_sha256");
  if (manifest.tokenizer_sha256) check_sum(*manifest.tokenizer_sha256, "tokenizer_sha256");
  check_object(manifest.decoding, "decoding");
  check_object(manifest.probe, "probe");
  std::set<std::string> seen;
  for (const std::string& id : manifest.sample_ids) {
    check_sample_id(id);
    if (!seen.insert(id).second) throw_usage_error({"manifest: samples", "each id once", id + " twice"});
  }
}

AnotherRun::AnotherRun(const std::string& file, std::string field, std::string expected, std::string found)
    : InputError(describe(Mismatch{fmt::format("{}: {}", file, field), expected, found})),
      file_(file),
      field_(std::move(field)),
      expected_(std::move(expected)),
      found_(std::move(found)) {}

AnotherRun AnotherRun::called(const std::string& name) const {
  return {file_, name, expected_, found_};
}

void require_same_run(const Manifest& stored, const Manifest& run, const std::string& where) {
  const Json a = identity(stored), b = identity(run);
  // The model first: when it is another one, most other fields differ as well.
  require_equal(a.at("model"), b.at("model"), where, "model");
  // Then the level, with which version and analyses go.
  if (stored.level != run.level)
    throw AnotherRun(where, "level", fmt::format("{} as in the trace", name_of(stored.level)),
                     std::string(name_of(run.level)));
  require_equal(a, b, where, "");
}

}  // namespace buoy::trace
