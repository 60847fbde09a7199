#include "observe/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/error.h"

namespace buoy::observe {
namespace {

struct Observable {
  const char* name;
  bool Plan::*member;
  bool in_all;
  const char* meaning;
};

constexpr std::array kObservables = {
    Observable{"received", &Plan::received, true,
               "attention received by every key, per head and query group"},
    Observable{"entropy", &Plan::entropy, true, "entropy of every row"},
    Observable{"lse", &Plan::log_sum_exp, true, "log-sum-exp of every row"},
    Observable{"first", &Plan::first_share, true, "weight of every row on the first token"},
    Observable{"rows", &Plan::rows, true, "all weights of the rows that write the answer"},
    Observable{"top", &Plan::top, true, "the strongest keys of those rows"},
    Observable{"qk", &Plan::qk, true, "q.k, cosine and norms per key, before and after the rotation"},
    Observable{"norms", &Plan::norms, true, "lengths of queries, keys and values"},
    Observable{"dense", &Plan::dense, false, "the T x T weights of every head (large)"},
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    items.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return items;
}

std::int64_t number(const std::string& text, const std::string& option) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0) {
    throw_usage_error({option, "numbers and ranges, as in 0-3,31", '"' + text + '"'});
  }
  return value;
}

}  // namespace

NumberSet::NumberSet(const std::string& list, const std::string& option) : list_(list), option_(option) {
  if (list.empty()) return;
  for (const auto& item : split(list)) {
    const size_t dash = item.find('-');
    const std::int64_t first = number(item.substr(0, dash), option);
    const std::int64_t last = dash == std::string::npos ? first : number(item.substr(dash + 1), option);
    if (last < first) throw_usage_error({option, "ranges that go up", '"' + item + '"'});
    ranges_.push_back({first, last});
  }
}

bool NumberSet::contains(std::int64_t n) const {
  return ranges_.empty() || std::any_of(ranges_.begin(), ranges_.end(),
                                        [&](const Range& r) { return r.first <= n && n <= r.last; });
}

std::vector<std::int64_t> NumberSet::below(std::int64_t count) const {
  for (const auto& range : ranges_) {
    if (range.last >= count) throw_usage_error({option_, fmt::format("numbers below {}", count), list_});
  }
  std::vector<std::int64_t> members;
  for (std::int64_t n = 0; n < count; ++n) {
    if (contains(n)) members.push_back(n);
  }
  return members;
}

std::vector<std::string> Plan::names() const {
  std::vector<std::string> names;
  for (const auto& observable : kObservables) {
    if (this->*observable.member) names.emplace_back(observable.name);
  }
  return names;
}

Plan parse_plan(const std::string& observe, const std::string& layers, const std::string& steps) {
  Plan plan;
  for (const auto& name : split(observe)) {
    bool known = false;
    for (const auto& observable : kObservables) {
      if (name == observable.name || (name == "all" && observable.in_all))
        plan.*observable.member = known = true;
    }
    if (known) continue;
    std::string names = "all";
    for (const auto& observable : kObservables) names += fmt::format(", {}", observable.name);
    throw_usage_error({"--observe", "some of " + names, '"' + name + '"'});
  }
  plan.layers = NumberSet(layers, "--layers");
  plan.steps = NumberSet(steps, "--steps-observed");
  return plan;
}

std::string describe_observables() {
  std::string text = "What can be observed (--observe, comma-separated; all: everything but dense):\n";
  for (const auto& observable : kObservables)
    text += fmt::format("  {:<10} {}\n", observable.name, observable.meaning);
  return text;
}

}  // namespace buoy::observe
