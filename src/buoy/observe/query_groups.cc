#include "buoy/observe/query_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "buoy/base/error.h"
#include "buoy/observe/number_set.h"
#include "buoy/probe/request.h"
#include "buoy/trace/rows/answer_rows.h"
#include "buoy/trace/schema.h"

namespace buoy::observe {
namespace {

void require_few(size_t groups, const std::string& where) {
  if (groups <= static_cast<size_t>(probe::kMostGroups)) return;
  throw_usage_error({where, fmt::format("at most {} groups of queries", probe::kMostGroups),
                     fmt::format("{} (`groups` state needs four)", groups)});
}

}  // namespace

Regions padded(Regions regions, std::int64_t prompt_length, std::int64_t answer_end) {
  const auto padding = std::find(regions.names.begin(), regions.names.end(), trace::kPaddingName);
  if (padding == regions.names.end()) return regions;
  for (auto p = std::max(prompt_length, answer_end); p < std::ssize(regions.of_token); ++p)
    regions.of_token[static_cast<size_t>(p)] = static_cast<std::uint8_t>(padding - regions.names.begin());
  return regions;
}

QueryGroups QueryGroups::by_state() {
  QueryGroups groups;
  groups.names_ = {"prompt", trace::kRevealedName, trace::kMaskedName, trace::kPaddingName};
  return groups;
}

QueryGroups QueryGroups::by_parity() {
  QueryGroups groups;
  groups.kind_ = Kind::kParity;
  groups.names_ = {"even", "odd"};
  return groups;
}

QueryGroups QueryGroups::by_region(const Regions& regions) {
  QueryGroups groups;
  groups.kind_ = Kind::kRegion;
  std::map<std::uint8_t, std::uint8_t> group_of_region;
  for (const auto region : regions.of_token) {
    if (region == trace::kNoRegion || regions.names[region] == trace::kAnswerName) {
      groups.fixed_.push_back(probe::kNoGroup);
      continue;
    }
    const auto [entry, is_new] =
        group_of_region.try_emplace(region, static_cast<std::uint8_t>(groups.names_.size()));
    if (is_new) groups.names_.push_back(regions.names[region]);
    groups.fixed_.push_back(entry->second);
  }
  for (const auto* name : {trace::kRevealedName, trace::kMaskedName, trace::kPaddingName})
    groups.names_.emplace_back(name);
  require_few(groups.names_.size(), "`groups` regions");
  return groups;
}

QueryGroups QueryGroups::listed(const std::string& list) {
  QueryGroups groups;
  groups.kind_ = Kind::kListed;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(';', at), list.size());
    const std::string entry = list.substr(at, end - at);
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw_usage_error({"`groups`",
                         "state, regions, parity, or names and positions as in bos=0;question=1-20",
                         '"' + entry + '"'});
    }
    const NumberSet positions(entry.substr(equals + 1), "`groups`");
    for (const auto position : positions.listed()) {
      if (static_cast<size_t>(position) >= groups.fixed_.size())
        groups.fixed_.resize(static_cast<size_t>(position) + 1, probe::kNoGroup);
      std::uint8_t& group = groups.fixed_[static_cast<size_t>(position)];
      if (group != probe::kNoGroup) {
        throw_usage_error({"`groups`", "each position in one group", fmt::format("{} in two", position)});
      }
      group = static_cast<std::uint8_t>(groups.names_.size());
    }
    groups.names_.push_back(entry.substr(0, equals));
    require_few(groups.names_.size(), "`groups`");
    at = end + 1;
  }
  return groups;
}

QueryGroups QueryGroups::parse(const std::string& option, const Regions& regions) {
  if (option.empty() || option == "state") return by_state();
  if (option == "regions") return by_region(regions);
  if (option == "parity") return by_parity();
  return listed(option);
}

std::vector<std::uint8_t> QueryGroups::assign(const RowState& row) const {
  std::vector<std::uint8_t> groups;
  const auto padding = static_cast<std::uint8_t>(count() - 1);
  const trace::AnswerSpan span{row.prompt_length, row.answer_end, std::ssize(row.tokens), row.offset};
  for (size_t p = 0; p < row.tokens.size(); ++p) {
    const auto kind = trace::kind_of_row(static_cast<std::int64_t>(p), span);
    if (kind_ == Kind::kParity) {
      groups.push_back(static_cast<std::uint8_t>(p % 2));
    } else if (kind_ == Kind::kListed || (kind_ == Kind::kRegion && kind == trace::RowKind::kPrompt)) {
      groups.push_back(p < fixed_.size() ? fixed_[p] : probe::kNoGroup);
    } else if (kind == trace::RowKind::kPrompt) {
      groups.push_back(0);
    } else if (kind == trace::RowKind::kPadding) {
      groups.push_back(padding);
    } else {
      const auto written = row.tokens[p + static_cast<size_t>(row.offset)];
      const bool masked = row.mask_token >= 0 && written == row.mask_token;
      groups.push_back(static_cast<std::uint8_t>(masked ? padding - 1 : padding - 2));
    }
  }
  return groups;
}

}  // namespace buoy::observe
