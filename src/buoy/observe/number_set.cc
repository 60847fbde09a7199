#include "buoy/observe/number_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "buoy/base/error.h"

namespace buoy::observe {

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> items;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    items.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return items;
}

static std::int64_t number(const std::string& text, const std::string& option) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0) {
    throw_usage_error({option, "numbers and ranges, as in 0-3,31", '"' + text + '"'});
  }
  return value;
}

NumberSet::NumberSet(const std::string& list, const std::string& option) : list_(list), option_(option) {
  if (list.empty()) return;
  for (const auto& item : split_list(list)) {
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

std::vector<std::int64_t> NumberSet::listed() const {
  constexpr size_t kMost = 1'000'000;
  std::vector<std::int64_t> members;
  for (const auto& range : ranges_) {
    for (std::int64_t n = range.first; n <= range.last; ++n) {
      if (members.size() == kMost) throw_usage_error({option_, "at most a million numbers", list_});
      members.push_back(n);
    }
  }
  return members;
}

std::vector<std::int64_t> NumberSet::below(std::int64_t count, const char* what) const {
  for (const auto& range : ranges_) {
    if (range.last >= count) throw_usage_error({option_, fmt::format("{} below {}", what, count), list_});
  }
  std::vector<std::int64_t> members;
  for (std::int64_t n = 0; n < count; ++n) {
    if (contains(n)) members.push_back(n);
  }
  return members;
}

}  // namespace buoy::observe
