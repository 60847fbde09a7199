#include "buoy/decode/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/decode/decoding_rule.h"

namespace buoy::decode {
namespace {

std::string describe_loops(Loops loops) {
  std::string out;
  const auto add = [&](Loops one, const char* name) {
    if ((loops & one) != 0) out += (out.empty() ? "" : " and ") + std::string(name);
  };
  if (loops == kAsksForRule) return "A2D, LLaDA2, Nemotron-Labs-Diffusion and Qwen2";
  add(kLlada, "LLaDA"), add(kDream, "Dream"), add(kAutoregressive, "autoregressive models");
  add(kBd3lm, "A2D with the rule bd3lm"), add(kSdar, "SDAR"), add(kFastDllm, "Fast-dLLM v2");
  add(kNemotron, "Nemotron-Labs-Diffusion with the rule diffusion"), add(kRnd1, "RND1");
  add(kLlada2, "LLaDA2 with the rule llada2"), add(kLlada21, "LLaDA2 with the rule llada21");
  add(kOpenDcoder, "Qwen2 with the rule open_dcoder");
  return out;
}

std::string describe_bounds(const Bounds& b) {
  const bool low = std::isfinite(b.least), high = std::isfinite(b.most);
  if (!low && !high) return "a finite number";
  if (b.above_least && b.below_most) return fmt::format("between {} and {}", b.least, b.most);
  const std::string least = b.above_least  ? fmt::format("more than {}", b.least)
                            : b.least == 0 ? "0 or more"
                                           : fmt::format("at least {}", b.least);
  const std::string most = fmt::format("at most {}", static_cast<std::int64_t>(b.most));
  return !high ? least : !low ? most : least + ", " + most;
}

bool holds(const Bounds& b, double value) {
  return std::isfinite(value) && (b.above_least ? value > b.least : value >= b.least) &&
         (b.below_most ? value < b.most : value <= b.most);
}

void check_number(const DecodeOption& option, double value) {
  if (!std::isfinite(value))
    throw_usage_error({field_name(option.key), "a finite number", fmt::format("{}", value)});
  if (!holds(option.bounds, value))
    throw_usage_error({field_name(option.key), describe_bounds(option.bounds), fmt::format("{}", value)});
}

// Calls look(value) for every number that the option holds.
template <typename Look>
struct EachNumber {
  const Look& look;

  void operator()(bool) const {}
  void operator()(const std::string&) const {}
  void operator()(const std::vector<std::int32_t>& values) const {
    for (const auto value : values) look(static_cast<double>(value));
  }
  template <typename Value>
  void operator()(const std::optional<Value>& value) const {
    if (value) (*this)(*value);
  }
  template <typename Value>
  void operator()(const Value& value) const {
    look(static_cast<double>(value));
  }
};

template <typename Look>
void for_each_number(const DecodeOption& option, const DecodeOptions& options, const Look& look) {
  std::visit([&](const auto member) { EachNumber<Look>{look}(options.*member); }, option.field);
}

struct HasValue {
  bool operator()(bool value) const { return value; }
  bool operator()(const std::vector<std::int32_t>& values) const { return !values.empty(); }
  template <typename Value>
  bool operator()(const std::optional<Value>& value) const {
    return value.has_value();
  }
  template <typename Value>
  bool operator()(const Value&) const {
    return true;
  }
};

}  // namespace

const DecodeOption& find_option(std::string_view key) {
  const auto* found = std::find_if(kDecodeOptions.begin(), kDecodeOptions.end(),
                                   [&](const DecodeOption& option) { return option.key == key; });
  BUOY_CHECK(found != kDecodeOptions.end());
  return *found;
}

Loops loops_of(Family family, const DecodeOptions& options) {
  if (const auto rules = decoding_rules(family); !rules.empty()) {
    const auto asked = options.decoding_rule ? options.decoding_rule : default_rule(family);
    Loops all = 0;
    for (const auto& rule : rules) {
      if (asked == rule.name) return kAsksForRule | rule.loop;
      all |= rule.loop;
    }
    return kAsksForRule | all;
  }
  switch (family) {
    case Family::kLlada:
    case Family::kLladaMoe:
      return kLlada;
    case Family::kDream:
      return kDream;
    case Family::kRnd1:
      return kRnd1;
    case Family::kSdar:
    case Family::kSdarMoe:
      return kSdar;
    case Family::kFastDllm:
      return kFastDllm;
    default:
      return kAutoregressive;
  }
}

bool wants_dllm_schedule(const DecodeOptions& options) {
  const std::string name = options.schedule.value_or("quota");
  if (name != "quota" && name != "dllm")
    throw_usage_error({field_name("schedule"), "one of quota, dllm", '"' + name + '"'});
  return name == "dllm";
}

bool is_given(const DecodeOption& option, const DecodeOptions& options) {
  return std::visit([&](const auto member) { return HasValue{}(options.*member); }, option.field);
}

void copy_option(const DecodeOption& option, const DecodeOptions& from, DecodeOptions& to) {
  std::visit([&](const auto member) { to.*member = from.*member; }, option.field);
}

DecodeOptions fitting(Family family, DecodeOptions options) {
  const auto rules = decoding_rules(family);
  if (std::none_of(rules.begin(), rules.end(),
                   [&](const DecodingRule& rule) { return options.decoding_rule == rule.name; }))
    options.decoding_rule.reset();  // of another model
  const Loops loops = loops_of(family, options);
  for (const auto& option : kDecodeOptions) {
    if ((option.loops & loops) == 0) copy_option(option, DecodeOptions{}, options);
  }
  return options;
}

void check_options(const ModelConfig& config, const DecodeOptions& options) {
  for (const auto& option : kDecodeOptions) {
    if ((option.loops & loops_of(config.family, options)) == 0 && is_given(option, options))
      throw_usage_error({field_name(option.key),
                         fmt::format("a model it belongs to ({})", describe_loops(option.loops)),
                         std::string(name_of(config.family))});
  }
  for (const auto& option : kDecodeOptions) {
    for_each_number(option, options, [&](double value) {
      if (!option.bounds.token) return check_number(option, value);
      if (!(value >= 0 && value < static_cast<double>(config.vocabulary)))
        throw_usage_error({field_name(option.key), fmt::format("an id from 0 to {}", config.vocabulary - 1),
                           fmt::format("{}", value)});
    });
  }
}

void check_bounds(std::string_view key, double value) {
  check_number(find_option(key), value);
}

}  // namespace buoy::decode
