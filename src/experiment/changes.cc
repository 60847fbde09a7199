#include "experiment/changes.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/error.h"

namespace buoy::experiment {
namespace {

constexpr char kHeadsOption[] = "--scale-heads", kKeysOption[] = "--scale-keys";
constexpr char kHeadsForm[] = "LAYER.HEAD,...=FACTOR, as in 3.1,4.0=0";
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
  if (out.factor < 0)
    throw_usage_error({option, "a factor from 0 on", fmt::format("{:g} in \"{}\"", out.factor, text)});
  out.before = text.substr(0, equals);
  return out;
}

void add_heads(const std::string& text, Changes& out) {
  const auto [list, factor] = split_factor(text, kHeadsOption, kHeadsForm);
  for (const auto& item : observe::split_list(list)) {
    const auto dot = item.find('.');
    HeadId id;
    if (dot == std::string::npos || !read_number(item.substr(0, dot), id.layer) ||
        !read_number(item.substr(dot + 1), id.head))
      throw_usage_error({kHeadsOption, kHeadsForm, '"' + item + '"'});
    out.heads.push_back({id, factor});
  }
}

// Cuts off what follows `mark`; whether there was one.
bool cut(std::string& text, char mark, std::string& rest) {
  const auto at = text.rfind(mark);
  if (at == std::string::npos) return false;
  rest = text.substr(at + 1);
  text.resize(at);
  return true;
}

void add_keys(const std::string& text, Changes& out) {
  auto [where, factor] = split_factor(text, kKeysOption, kKeysForm);
  KeyChange change;
  change.factor = factor;
  std::string list;
  if (cut(where, '/', list)) {
    if (list.empty()) throw_usage_error({kKeysOption, kKeysForm, '"' + text + '"'});
    change.steps = {list, kKeysOption};
    change.of_single_steps = true;
  }
  if (cut(where, '@', list)) {
    if (list.empty()) throw_usage_error({kKeysOption, kKeysForm, '"' + text + '"'});
    change.layers = {list, kKeysOption};
  }
  if (where.empty()) throw_usage_error({kKeysOption, kKeysForm, '"' + text + '"'});
  change.where = where;
  out.keys.push_back(std::move(change));
}

bool names_positions(const std::string& where) {
  return where.find_first_not_of("0123456789,-") == std::string::npos;
}

std::vector<std::int64_t> positions_of(const std::string& where, const observe::Regions& regions) {
  if (names_positions(where)) return observe::NumberSet(where, kKeysOption).listed();
  for (std::size_t r = 0; r < regions.names.size(); ++r) {
    if (regions.names[r] != where) continue;
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < regions.of_token.size(); ++i) {
      if (regions.of_token[i] == r) out.push_back(static_cast<std::int64_t>(i));
    }
    return out;
  }
  throw_usage_error({kKeysOption,
                     regions.names.empty() ? "positions, as in 0,5-8 (this prompt has no regions)"
                                           : fmt::format("positions, or one of the prompt's regions {}",
                                                         fmt::join(regions.names, ", ")),
                     '"' + where + '"'});
}

}  // namespace

Changes parse_changes(const std::vector<std::string>& heads, const std::vector<std::string>& keys) {
  Changes out;
  for (const auto& text : heads) {
    add_heads(text, out);
    out.texts.push_back("heads " + text);
  }
  for (const auto& text : keys) {
    add_keys(text, out);
    out.texts.push_back("keys " + text);
  }
  return out;
}

ChangingProbe::ChangingProbe(const Changes& changes, const ModelConfig& config,
                             const observe::Regions& regions, probe::Probe* observer)
    : heads_(config.heads),
      scale_(static_cast<std::size_t>(config.layers * config.heads), 1.0f),
      scaled_(static_cast<std::size_t>(config.layers), false),
      bias_(static_cast<std::size_t>(config.layers)),
      observer_(observer) {
  for (const auto& [id, factor] : changes.heads) {
    if (id.layer < 0 || id.layer >= config.layers || id.head < 0 || id.head >= config.heads) {
      throw_usage_error({kHeadsOption,
                         fmt::format("layers 0 to {} and heads 0 to {}", config.layers - 1, config.heads - 1),
                         fmt::format("{}.{}", id.layer, id.head)});
    }
    scale_[static_cast<std::size_t>(id.layer * heads_ + id.head)] *= static_cast<float>(factor);
    scaled_[static_cast<std::size_t>(id.layer)] = true;
  }
  for (const auto& change : changes.keys) {
    change.layers.below(config.layers);  // refuses others
    if (change.of_single_steps && !is_masked_diffusion(config.family))
      throw_usage_error(
          {kKeysOption, "no steps: an autoregressive row is the same at every step", change.where + "/..."});
    keys_.push_back(
        {&change, positions_of(change.where, regions), static_cast<float>(std::log(change.factor))});
  }
}

probe::LayerRequest ChangingProbe::request(const probe::Address& address, const probe::LayerExtent& extent) {
  return observer_ != nullptr ? observer_->request(address, extent) : probe::LayerRequest{};
}

void ChangingProbe::take(const probe::Address& address, probe::LayerRecord&& record) {
  if (observer_ != nullptr) observer_->take(address, std::move(record));
}

probe::Intervention ChangingProbe::intervention(const probe::Address& address,
                                                const probe::LayerExtent& extent) {
  const auto layer = static_cast<std::size_t>(address.layer);
  probe::Intervention out;
  if (scaled_[layer])
    out.head_scale = std::span<const float>(scale_).subspan(layer * static_cast<std::size_t>(heads_),
                                                            static_cast<std::size_t>(heads_));
  auto& bias = bias_[layer];
  bool any = false;
  for (const auto& [change, positions, log_factor] : keys_) {
    if (!change->layers.contains(address.layer) || !change->steps.contains(address.step)) continue;
    if (!any) bias.assign(static_cast<std::size_t>(extent.key_rows), 0.0f);
    any = true;
    for (const auto position : positions) {
      if (position < extent.key_rows) bias[static_cast<std::size_t>(position)] += log_factor;
    }
  }
  if (any) out.key_bias = bias;
  return out;
}

}  // namespace buoy::experiment
