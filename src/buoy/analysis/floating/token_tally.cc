#include "buoy/analysis/floating/token_tally.h"

#include <algorithm>
#include <tuple>

namespace buoy::analysis {
namespace {

constexpr const char* kMaskText = "(mask)";

}  // namespace

PositionTally::PositionTally(std::int64_t lists, std::int64_t tokens)
    : tokens_(tokens),
      revealed_(static_cast<size_t>(lists * tokens)),
      masked_(static_cast<size_t>(lists * tokens)) {}

void PositionTally::count(std::int64_t list, const ForwardFacts& forward,
                          const std::vector<std::int32_t>& positions) {
  for (const auto j : positions) {
    auto& counts = forward.masked[static_cast<size_t>(j)] != 0 ? masked_ : revealed_;
    counts[static_cast<size_t>(list * tokens_ + j)].fetch_add(1, std::memory_order_relaxed);
  }
}

void PositionTally::state(StateArchive& archive) {
  for (auto* counts : {&revealed_, &masked_}) {
    std::vector<std::uint32_t> plain(counts->begin(), counts->end());
    archive.integers(plain, 0, UINT32_MAX);
    std::copy(plain.begin(), plain.end(), counts->begin());
  }
}

TokenTally::TokenTally(std::int64_t lists) : lists_(lists), selected_(static_cast<size_t>(lists), 0.0) {}

TokenTally::Counts& TokenTally::counts_of(const std::string& token, TokenType type) {
  Counts& counts = by_token_[token];
  if (counts.selected.empty()) {
    counts.selected.assign(static_cast<size_t>(lists_), 0.0);
    counts.type = type;
  }
  return counts;
}

void TokenTally::add(const ObservedSample& sample, const PositionTally& selected) {
  if (sample.token_texts.empty()) return;
  const auto types = token_types(sample, {sample.token_texts, sample.special});
  // References into an unordered_map outlive insertions.
  Counts& mask = counts_of(kMaskText, TokenType::kMask);
  std::vector<std::int64_t> keys;  // [steps]: that exist
  for (std::int64_t s = 0; s < sample.step_count(); ++s) keys.push_back(sample.reach_at(s).end);
  for (std::int64_t j = 0; j < sample.tokens; ++j) {
    const auto at = static_cast<size_t>(j);
    Counts& token = counts_of(sample.token_texts[at], types[at]);
    for (std::int64_t s = 0; s < sample.step_count(); ++s) {
      if (j < keys[static_cast<size_t>(s)]) (sample.masked_at(s, j) ? mask : token).everywhere += 1;
    }
    for (std::int64_t list = 0; list < lists_; ++list) {
      const auto cell = static_cast<size_t>(list * sample.tokens + j);
      const double masked = selected.masked_[cell], revealed = selected.revealed_[cell];
      mask.selected[static_cast<size_t>(list)] += masked;
      token.selected[static_cast<size_t>(list)] += revealed;
      selected_[static_cast<size_t>(list)] += masked + revealed;
    }
  }
  for (const auto of_step : keys) everywhere_ += static_cast<double>(of_step);
}

std::vector<TokenTally::Line> TokenTally::most_frequent(std::int64_t list, std::int64_t lines) const {
  const auto at = static_cast<size_t>(list);
  std::vector<Line> all;
  for (const auto& [token, counts] : by_token_) {
    if (counts.selected[at] <= 0) continue;
    all.push_back({token, counts.type, counts.selected[at] / selected_[at], counts.everywhere / everywhere_});
  }
  // By text as well, so that equal counts do not depend on the order of the map.
  std::sort(all.begin(), all.end(), [](const Line& a, const Line& b) {
    return std::tie(b.share, a.token) < std::tie(a.share, b.token);
  });
  if (static_cast<std::int64_t>(all.size()) > lines) all.resize(static_cast<size_t>(lines));
  return all;
}

}  // namespace buoy::analysis
