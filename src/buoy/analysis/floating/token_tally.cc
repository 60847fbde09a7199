#include "buoy/analysis/floating/token_tally.h"

#include <algorithm>
#include <tuple>

namespace buoy::analysis {
namespace {

constexpr const char* kMaskText = "(mask)";

}  // namespace

TokenTally::TokenTally(std::int64_t lists) : lists_(lists), selected_(static_cast<size_t>(lists), 0.0) {}

TokenTally::Counts& TokenTally::counts_of(const std::string& token, TokenType type) {
  Counts& counts = by_token_[token];
  if (counts.selected.empty()) {
    counts.selected.assign(static_cast<size_t>(lists_), 0.0);
    counts.type = type;
  }
  return counts;
}

void TokenTally::begin_sample(const ObservedSample& sample) {
  sample_ = sample.token_texts.empty() ? nullptr : &sample;
  revealed_.assign(static_cast<size_t>(lists_ * sample.tokens), 0.0);
  masked_.assign(revealed_.size(), 0.0);
}

void TokenTally::count(std::int64_t list, std::int64_t s, const std::vector<std::int32_t>& positions) {
  if (sample_ == nullptr) return;
  for (const auto j : positions) {
    auto& counts = sample_->masked_at(s, j) ? masked_ : revealed_;
    counts[static_cast<size_t>(list * sample_->tokens + j)] += 1;
  }
}

void TokenTally::end_sample() {
  if (sample_ == nullptr) return;
  const auto types = token_types(*sample_);
  // References into an unordered_map outlive insertions.
  Counts& mask = counts_of(kMaskText, TokenType::kMask);
  for (std::int64_t j = 0; j < sample_->tokens; ++j) {
    const auto at = static_cast<size_t>(j);
    Counts& token = counts_of(sample_->token_texts[at], types[at]);
    for (std::int64_t s = 0; s < sample_->step_count(); ++s)
      (sample_->masked_at(s, j) ? mask : token).everywhere += 1;
    for (std::int64_t list = 0; list < lists_; ++list) {
      const auto cell = static_cast<size_t>(list * sample_->tokens + j);
      mask.selected[static_cast<size_t>(list)] += masked_[cell];
      token.selected[static_cast<size_t>(list)] += revealed_[cell];
      selected_[static_cast<size_t>(list)] += masked_[cell] + revealed_[cell];
    }
  }
  everywhere_ += static_cast<double>(sample_->tokens * sample_->step_count());
  sample_ = nullptr;
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
