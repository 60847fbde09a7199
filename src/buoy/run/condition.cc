#include "buoy/run/condition.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "buoy/base/error.h"
#include "buoy/observe/number_set.h"

namespace buoy::run {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kTokenCount = std::numeric_limits<std::int32_t>::max();

struct Axis {
  const char* name;
  const char* about;
  std::int64_t least, most;  // of its numbers; no numbers: texts
  std::function<void(Condition&, std::int64_t)> set_number;
  std::function<void(Condition&, const std::string&)> set_text;
};

const std::vector<Axis>& axes() {
  using C = Condition;
  static const std::vector<Axis> all = {
      {"passages",
       "passages in the prompt; 0: closed book",
       0,
       kAnyNumber,
       [](C& c, std::int64_t n) {
         c.passages = n;
         c.closed_book = n == 0;
         if (c.closed_book) c.gold_position = 0;
       },
       {}},
      {"gold-position",
       "place of the gold passage, from 1 (with `passages` N: among N)",
       1,
       kAnyNumber,
       [](C& c, std::int64_t n) { c.gold_position = n; },
       {}},
      {"noise",
       "noise passages beside the gold one (`noise_kind`)",
       0,
       kAnyNumber,
       [](C& c, std::int64_t n) { c.noise = static_cast<std::size_t>(n); },
       {}},
      {"noise-kind",
       "random, retrieved, contradiction, shuffled, repeated (`noise` passages of it)",
       0,
       0,
       {},
       [](C& c, const std::string& v) { c.noise_kind = questions::noise_from_name(v); }},
      {"evidence",
       "passages that the gold one is split into",
       1,
       kAnyNumber,
       [](C& c, std::int64_t n) { c.evidence_parts = n, c.keep_gold = true; },
       {}},
      {"slots",
       "generated tokens",
       1,
       kTokenCount,
       [](C& c, std::int64_t n) { c.slots = static_cast<std::int32_t>(n); },
       {}},
      {"steps",
       "denoising steps (masked diffusion)",
       1,
       kTokenCount,
       [](C& c, std::int64_t n) { c.steps = static_cast<std::int32_t>(n); },
       {}},
      {"order",
       "order of unmasking, as `algorithm` (masked diffusion)",
       0,
       0,
       {},
       [](C& c, const std::string& v) { c.order = v; }},
      {"prompt", "prompt templates", 0, 0, {}, [](C& c, const std::string& v) { c.prompt = v; }},
      {"seed",
       "seeds of the decoding",
       0,
       kAnyNumber,
       [](C& c, std::int64_t n) { c.seed = static_cast<std::uint64_t>(n); },
       {}},
  };
  return all;
}

const Axis& find_axis(const std::string& name) {
  std::string known;
  for (const auto& axis : axes()) {
    if (name == axis.name) return axis;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", axis.name);
  }
  known += fmt::format(", {}, {}", kHiddenKeysAxis, kHeadsOffAxis);
  throw_usage_error({"`sweep`", "one of " + known, '"' + name + '"'});
}

Condition at_value(Condition condition, std::string axis, std::string value) {
  condition.name = axis + "=" + value;
  condition.axis = std::move(axis);
  condition.value = std::move(value);
  return condition;
}

}  // namespace

bool applies(const Condition& condition, bool masked_diffusion) {
  return masked_diffusion || (condition.axis != "steps" && condition.axis != "order");
}

DecodeOptions decoding_of(const Condition& condition, DecodeOptions decoding) {
  if (condition.slots) decoding.max_new_tokens = *condition.slots;
  if (condition.steps) decoding.steps = *condition.steps;
  if (condition.order) decoding.algorithm = *condition.order;
  if (condition.seed) decoding.seed = *condition.seed;
  return decoding;
}

std::vector<Condition> sweep(const std::string& text, const Condition& base) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw_usage_error({"`sweep`", "AXIS=VALUES, as in gold-position=1-10", '"' + text + '"'});
  const Axis& axis = find_axis(text.substr(0, equals));
  const std::string values = text.substr(equals + 1);
  const std::string option = "`sweep` " + std::string(axis.name);
  const bool numbers = axis.set_number != nullptr;
  std::vector<std::pair<std::string, std::int64_t>> list;
  if (numbers) {
    for (const auto number : observe::NumberSet(values, option).listed())
      list.emplace_back(std::to_string(number), number);
  } else {
    for (const auto& value : observe::split_list(values)) list.emplace_back(value, 0);
  }
  if (list.empty()) throw_usage_error({option, "at least one value", "none"});
  std::vector<Condition> conditions;
  std::set<std::string> seen;
  for (const auto& [value, number] : list) {
    if (!seen.insert(value).second) throw_usage_error({option, "each value once", '"' + value + "\" twice"});
    Condition condition = at_value(base, axis.name, value);
    if (numbers) {
      if (number < axis.least)
        throw_usage_error({option, fmt::format("numbers from {} on", axis.least), value});
      if (number > axis.most) throw_usage_error({option, fmt::format("numbers up to {}", axis.most), value});
      axis.set_number(condition, number);
    } else {
      axis.set_text(condition, value);
    }
    check_arrangement(condition);
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

std::vector<Condition> head_conditions(const HeadStudy& study, const Condition& base) {
  if (!(study.share > 0 && study.share < 1))
    throw_usage_error(
        {"share of heads to switch off", "more than 0, less than 1", fmt::format("{}", study.share)});
  const auto named = [&](const std::string& value) { return at_value(base, "heads", value); };
  std::vector<Condition> conditions = {named("all"), named("no-retrieval")};
  for (std::int64_t i = 1; i <= study.controls; ++i) conditions.push_back(named(fmt::format("random-{}", i)));
  for (const auto& [model, trace] : study.traces) {
    const auto ranked = heads_by_retrieval(trace);
    const auto count = static_cast<std::size_t>(std::ceil(study.share * static_cast<double>(ranked.size())));
    conditions[1].heads_off[model].assign(ranked.begin(),
                                          ranked.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::int64_t i = 1; i <= study.controls; ++i)
      conditions[static_cast<std::size_t>(i) + 1].heads_off[model] =
          random_heads(ranked, count, static_cast<std::uint64_t>(i));
  }
  return conditions;
}

std::vector<Condition> head_sweep(const std::string& values, const HeadStudy& study, const Condition& base) {
  const std::string option = fmt::format("`sweep` {}", kHeadsOffAxis);
  const auto counts = observe::NumberSet(values, option).listed();
  if (counts.empty()) throw_usage_error({option, "at least one value", "none"});
  if (std::set<std::int64_t>(counts.begin(), counts.end()).size() != counts.size())
    throw_usage_error({option, "each value once", '"' + values + '"'});
  std::map<std::string, std::vector<HeadId>> ranked;
  for (const auto& [model, trace] : study.traces) ranked[model] = heads_by_retrieval(trace);
  std::vector<Condition> conditions;
  for (std::int64_t draw = 0; draw <= study.controls; ++draw) {
    const std::string axis = kHeadsOffAxis + (draw > 0 ? fmt::format("-random-{}", draw) : "");
    for (const auto count : counts) {
      if (draw > 0 && count == 0) continue;
      conditions.push_back(at_value(base, axis, std::to_string(count)));
      for (const auto& [model, heads] : ranked) {
        if (count > std::ssize(heads))
          throw_usage_error({option, fmt::format("at most {}, the heads of {}", heads.size(), model),
                             std::to_string(count)});
        auto& off = conditions.back().heads_off[model];
        off.assign(heads.begin(), heads.begin() + count);
        if (draw > 0)
          off = random_heads(heads, static_cast<std::size_t>(count), static_cast<std::uint64_t>(draw));
      }
    }
  }
  return conditions;
}

std::vector<Condition> column_conditions(const TraceOfModel& traces, const Condition& base) {
  std::vector<Condition> conditions = {at_value(base, "hidden", "none")};
  for (const auto& hidden : all_column_changes()) {
    conditions.push_back(at_value(base, "hidden", describe(hidden)));
    conditions.back().hidden = hidden;
    conditions.back().column_traces = traces;
  }
  return conditions;
}

std::vector<Condition> top_conditions(const TopSweep& request, const Condition& base) {
  if (request.of.starts_with("trace"))
    throw_usage_error(
        {kTopOfField, "step-before or rule:NAME; `columns_from` takes traces", '"' + request.of + '"'});
  std::vector<std::string> controls = {""};
  if (!request.controls.empty()) {
    for (const auto& control : observe::split_list(request.controls)) controls.push_back(control);
  }
  const std::string option = fmt::format("`sweep` {}", kHiddenKeysAxis);
  std::vector<Condition> conditions;
  std::set<std::string> seen;
  for (const auto& control : controls) {
    if (!seen.insert(control).second)
      throw_usage_error({kControlField, "each kind once", '"' + control + "\" twice"});
    const std::string axis = kHiddenKeysAxis + (control.empty() ? "" : "-" + control);
    std::set<std::int64_t> values;
    for (const auto number : observe::NumberSet(request.values, option).listed()) {
      if (!values.insert(number).second)
        throw_usage_error({option, "each value once", fmt::format("\"{}\" twice", number)});
      if (number == 0 && !control.empty()) continue;  // nothing is hidden: it was asked
      const TopTexts texts{std::to_string(number), request.of, control};
      Condition condition = at_value(base, axis, texts.keys);
      condition.top = parse_top_change(texts);
      condition.top_text = stored_text(texts, *condition.top);
      conditions.push_back(std::move(condition));
    }
    if (values.empty()) throw_usage_error({option, "at least one value", "none"});
  }
  return conditions;
}

std::vector<Condition> make_conditions(const ConditionRequest& request) {
  std::vector<Condition> all;
  if (request.closed_book) {
    Condition condition;
    condition.name = "closed-book";
    condition.closed_book = true;
    all.push_back(condition);
  }
  const std::string of_heads = std::string(kHeadsOffAxis) + "=";
  const bool heads_swept = request.sweep.starts_with(of_heads);
  if (heads_swept && !request.heads)
    throw_usage_error({fmt::format("`sweep` {}", kHeadsOffAxis), "`heads_from` with it", "none"});
  if ((request.heads ? 1 : 0) + (request.sweep.empty() || heads_swept ? 0 : 1) +
          (request.columns.empty() ? 0 : 1) >
      1)
    throw_usage_error({"conditions", "a sweep, heads to switch off or columns to hide", "more than one"});
  const bool of_keys = request.sweep.starts_with(std::string(kHiddenKeysAxis) + "=");
  if (!of_keys && !(request.hide_top_of + request.hide_control).empty())
    throw_usage_error({request.hide_top_of.empty() ? kControlField : kTopOfField,
                       "`sweep` hidden-keys=NUMBERS with it", '"' + request.sweep + '"'});
  std::vector<Condition> more;
  if (request.heads) {
    more = heads_swept ? head_sweep(request.sweep.substr(of_heads.size()), *request.heads, request.base)
                       : head_conditions(*request.heads, request.base);
  } else if (!request.columns.empty()) {
    more = column_conditions(request.columns, request.base);
  } else if (of_keys) {
    more = top_conditions(
        {request.sweep.substr(sizeof kHiddenKeysAxis), request.hide_top_of, request.hide_control},
        request.base);
  } else if (!request.sweep.empty()) {
    more = sweep(request.sweep, request.base);
  } else if (request.with_passages || !request.closed_book) {
    more = {request.base};
  }
  for (auto& condition : more) {
    if (condition.axis == "noise-kind" && !condition.noise)
      throw_usage_error({"`sweep` noise-kind", "`noise` N, how many passages of it", "no `noise`"});
    check_arrangement(condition);
    all.push_back(std::move(condition));
  }
  return all;
}

std::string describe_sweeps() {
  std::string out = "Sweeps (`sweep` AXIS=VALUES):\n";
  for (const auto& axis : axes()) out += fmt::format("  {:<14} {}\n", axis.name, axis.about);
  out += fmt::format("  {:<14} {}\n", kHiddenKeysAxis,
                     "keys hidden in every head and layer: those that received most in the step before "
                     "(`hide_top_of`, `hide_control`)");
  out += fmt::format("  {:<14} {}\n", kHeadsOffAxis,
                     "heads switched off, the best retrieval heads first (`heads_from`)");
  return out;
}

}  // namespace buoy::run
