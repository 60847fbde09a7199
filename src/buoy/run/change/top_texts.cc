// What is said of keys that receive most, as options have it.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/run/change/top_keys.h"

namespace buoy::run {
namespace {

constexpr std::int64_t kMostKeys = 1'000'000;
constexpr double kLargestTopFactor = 1e6;
constexpr char kTopForm[] =
    "K[@LAYERS or @LAYER.HEAD,...][/STEPS][=FACTOR], as in 5, 1@16-31 or 10@3.1,4.0/1-8=0.1";
constexpr char kTopOfForm[] = "step-before, rule:NAME or trace:FOLDER";
constexpr char kControlForm[] = "random or mass";

[[noreturn]] void refuse_text(const char* field, const char* form, const std::string& text) {
  throw_usage_error({field, form, '"' + text + '"'});
}

template <typename T>
bool is_number(const std::string& text, T& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Cuts off what follows `mark`; "" when there is none, refused when nothing follows it.
std::string cut_after(std::string& text, char mark, const std::string& whole) {
  const auto at = text.find(mark);
  if (at == std::string::npos) return {};
  const std::string rest = text.substr(at + 1);
  if (rest.empty()) refuse_text(kTopField, kTopForm, whole);
  text.resize(at);
  return rest;
}

std::vector<HeadId> read_heads(const std::string& list, const std::string& whole) {
  std::vector<HeadId> out;
  for (const auto& item : observe::split_list(list)) {
    const auto dot = item.find('.');
    HeadId id;
    if (dot == std::string::npos || !is_number(item.substr(0, dot), id.layer) ||
        !is_number(item.substr(dot + 1), id.head))
      refuse_text(kTopField, kTopForm, whole);
    out.push_back(id);
  }
  return out;
}

analysis::Rule rule_of(const std::string& name) {
  std::string known;
  for (const auto rule : analysis::kRules) {
    const auto one = analysis::rule_name(rule, {});
    if (one == name) return rule;
    known += (known.empty() ? "" : ", ") + one;
  }
  throw_usage_error({kTopOfField, "a rule of " + known, '"' + name + '"'});
}

void read_top_of(const std::string& text, TopChange& out) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon),
                    rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (text.empty() || text == "step-before") {
    out.of = TopOf::kStepBefore;
  } else if (kind == "rule" && !rest.empty()) {
    out.of = TopOf::kRule;
    out.rule = rule_of(rest);
  } else if (kind == "trace" && !rest.empty()) {
    out.of = TopOf::kTrace;
    out.trace = std::make_shared<const TopTrace>(rest);
  } else {
    refuse_text(kTopOfField, kTopOfForm, text);
  }
}

}  // namespace

TopControl top_control_of(const std::string& name) {
  if (name.empty()) return TopControl::kNone;
  if (name == "random") return TopControl::kRandom;
  if (name == "mass") return TopControl::kMass;
  refuse_text(kControlField, kControlForm, name);
}

TopChange parse_top_change(const TopTexts& texts) {
  if (texts.keys.empty())
    throw_usage_error({texts.of.empty() ? kControlField : kTopOfField, "`hide_top`, how many keys", "none"});
  TopChange out;
  std::string text = texts.keys;
  if (const auto factor = cut_after(text, '=', texts.keys); !factor.empty()) {
    if (!is_number(factor, out.factor) || !std::isfinite(out.factor))
      refuse_text(kTopField, kTopForm, texts.keys);
    if (out.factor < 0 || out.factor > kLargestTopFactor)
      throw_usage_error({kTopField, fmt::format("a factor from 0 to {:g}", kLargestTopFactor),
                         fmt::format("{:g} in \"{}\"", out.factor, texts.keys)});
  }
  if (const auto steps = cut_after(text, '/', texts.keys); !steps.empty()) {
    out.steps = {steps, kTopField};
    out.of_single_steps = true;
  }
  if (const auto where = cut_after(text, '@', texts.keys); !where.empty()) {
    if (where.find('.') != std::string::npos) {
      out.heads = read_heads(where, texts.keys);
    } else {
      out.layers = {where, kTopField};
    }
  }
  if (!is_number(text, out.keys) || out.keys < 0 || out.keys > kMostKeys)
    refuse_text(kTopField, kTopForm, texts.keys);
  read_top_of(texts.of, out);
  out.control = top_control_of(texts.control);
  return out;
}

std::string stored_text(const TopTexts& texts, const TopChange& change) {
  const std::string of = change.trace != nullptr ? "trace " + change.trace->sum()
                         : texts.of.empty()      ? "step-before"
                                                 : texts.of;
  return fmt::format("top {} of {}{}{}", texts.keys, of, texts.control.empty() ? "" : ", in their place ",
                     texts.control);
}

}  // namespace buoy::run
