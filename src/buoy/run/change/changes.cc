#include "buoy/run/change/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/decode/decoding_rule.h"

namespace buoy::run {
namespace {

constexpr double kLargestFactor = 1e6;
constexpr char kHeadsForm[] = "LAYER.HEAD,...[/STEPS]=FACTOR, as in 3.1,4.0=0 or 3.1/0-3=0";
constexpr char kMlpForm[] = "LAYERS[/STEPS]=FACTOR, as in 3,4=0 or 8-15/0-3=0.5";
constexpr char kKeysForm[] = "WHERE[@LAYERS][/STEPS]=FACTOR, as in 0=0.1, 0,5-8@16-31=0 or query/0-3=0";

template <typename T>
bool read_number(const std::string& text, T& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size();
}

// What stands before the last "=", and the factor after it.
struct Split {
  std::string before;
  double factor = 0;
};
Split split_factor(const std::string& text, const char* option, const char* form) {
  const auto equals = text.rfind('=');
  Split out;
  if (equals == std::string::npos || equals == 0 || !read_number(text.substr(equals + 1), out.factor) ||
      !std::isfinite(out.factor))
    throw_usage_error({option, form, '"' + text + '"'});
  if (out.factor < 0 || out.factor > kLargestFactor)
    throw_usage_error({option, fmt::format("a factor from 0 to {:g}", kLargestFactor),
                       fmt::format("{:g} in \"{}\"", out.factor, text)});
  out.before = text.substr(0, equals);
  return out;
}

// Cuts off what follows `mark`; whether there was one.
bool cut(std::string& text, char mark, std::string& rest) {
  const auto at = text.rfind(mark);
  if (at == std::string::npos) return false;
  rest = text.substr(at + 1);
  text.resize(at);
  return true;
}

void add_heads(const std::string& text, Changes& out) {
  auto [list, factor] = split_factor(text, kHeadsField, kHeadsForm);
  HeadChange change;
  change.factor = factor;
  std::string steps;
  if (cut(list, '/', steps)) {
    if (steps.empty()) throw_usage_error({kHeadsField, kHeadsForm, '"' + text + '"'});
    change.steps = {steps, kHeadsField};
    change.of_single_steps = true;
  }
  std::vector<HeadId> heads;  // of this text: one that is named twice is changed once
  for (const auto& item : observe::split_list(list)) {
    const auto dot = item.find('.');
    HeadId id;
    if (dot == std::string::npos || !read_number(item.substr(0, dot), id.layer) ||
        !read_number(item.substr(dot + 1), id.head))
      throw_usage_error({kHeadsField, kHeadsForm, '"' + item + '"'});
    if (std::find(heads.begin(), heads.end(), id) != heads.end()) continue;
    heads.push_back(id);
    change.id = id;
    out.heads.push_back(change);
  }
}

void add_keys(const std::string& text, Changes& out) {
  auto [where, factor] = split_factor(text, kKeysField, kKeysForm);
  KeyChange change;
  change.factor = factor;
  std::string list;
  if (cut(where, '/', list)) {
    if (list.empty()) throw_usage_error({kKeysField, kKeysForm, '"' + text + '"'});
    change.steps = {list, kKeysField};
    change.of_single_steps = true;
  }
  if (cut(where, '@', list)) {
    if (list.empty()) throw_usage_error({kKeysField, kKeysForm, '"' + text + '"'});
    change.layers = {list, kKeysField};
  }
  if (where.empty()) throw_usage_error({kKeysField, kKeysForm, '"' + text + '"'});
  change.where = where;
  if (where.find_first_not_of("0123456789,-") == std::string::npos) {
    change.positions = observe::NumberSet(where, kKeysField).listed();
    std::sort(change.positions.begin(), change.positions.end());
    const auto twice = std::unique(change.positions.begin(), change.positions.end());
    change.positions.erase(twice, change.positions.end());
  }
  out.keys.push_back(std::move(change));
}

void add_mlps(const std::string& text, Changes& out) {
  auto [layers, factor] = split_factor(text, kMlpField, kMlpForm);
  MlpChange change;
  change.factor = factor;
  std::string steps;
  if (cut(layers, '/', steps)) {
    if (steps.empty()) throw_usage_error({kMlpField, kMlpForm, '"' + text + '"'});
    change.steps = {steps, kMlpField};
    change.of_single_steps = true;
  }
  if (layers.empty()) throw_usage_error({kMlpField, kMlpForm, '"' + text + '"'});
  change.layers = {layers, kMlpField};
  out.mlps.push_back(std::move(change));
}

void add_residual(const std::string& text, bool replace, Changes& out) {
  out.residual.push_back(parse_residual_vectors(text, replace));
  out.texts.push_back(stored_text(text, out.residual.back()));
}

}  // namespace

Changes parse_changes(const ChangeTexts& texts) {
  Changes out;
  for (const auto& text : texts.heads) {
    add_heads(text, out);
    out.texts.push_back("heads " + text);
  }
  for (const auto& text : texts.keys) {
    add_keys(text, out);
    out.texts.push_back("keys " + text);
  }
  for (const auto& text : texts.mlps) {
    add_mlps(text, out);
    out.texts.push_back("mlp " + text);
  }
  for (const auto& text : texts.steer) add_residual(text, false, out);
  for (const auto& text : texts.patch) add_residual(text, true, out);
  if (texts.top.any()) {
    out.top = parse_top_change(texts.top);
    out.texts.push_back(stored_text(texts.top, *out.top));
  }
  return out;
}

void check_changes(const Changes& changes, const ModelConfig& config, const decode::DecodeOptions& decode) {
  check_changes_of(changes, config, decode::decodes_masks(config, decode));
}

void check_changes_of(const Changes& changes, const ModelConfig& config, bool has_steps) {
  for (const auto& change : changes.heads) {
    const auto& id = change.id;
    if (change.of_single_steps && !has_steps)
      throw_usage_error({kHeadsField, "no steps: an autoregressive row is the same at every step",
                         fmt::format("{}.{}/...", id.layer, id.head)});
    if (id.layer < 0 || id.layer >= config.layers || id.head < 0 || id.head >= config.heads) {
      throw_usage_error({kHeadsField,
                         fmt::format("layers 0 to {} and heads 0 to {}", config.layers - 1, config.heads - 1),
                         fmt::format("{}.{}", id.layer, id.head)});
    }
  }
  for (const auto& change : changes.keys) {
    change.layers.below(config.layers, "layers");  // refuses others
    if (change.of_single_steps && !has_steps)
      throw_usage_error(
          {kKeysField, "no steps: an autoregressive row is the same at every step", change.where + "/..."});
  }
  for (const auto& change : changes.mlps) {
    change.layers.below(config.layers, "layers");
    if (change.of_single_steps && !has_steps)
      throw_usage_error({kMlpField, "no steps: an autoregressive row is the same at every step", "steps"});
  }
  if (changes.top) check_top_change(*changes.top, config);
  for (const auto& vectors : changes.residual) check_residual_vectors(vectors, config, has_steps);
}

std::vector<std::string> changes_of(const trace::Manifest& manifest) {
  const Json probe = Json::parse(manifest.probe, nullptr, false);
  std::vector<std::string> out;
  if (!probe.is_object() || !probe.contains("changes")) return out;
  for (const auto& text : probe["changes"])
    out.push_back(text.is_string() ? text.get<std::string>() : text.dump());
  return out;
}

}  // namespace buoy::run
