#include "buoy/run/change/head_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "buoy/analysis/core/run.h"
#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/result/schema/retrieval.h"

namespace buoy::run {

std::string describe(const std::vector<HeadId>& heads) {
  std::string out;
  for (const auto& id : heads) out += fmt::format("{}{}.{}", out.empty() ? "" : " ", id.layer, id.head);
  return out;
}

HeadChangeProbe::HeadChangeProbe(const std::vector<HeadId>& off, std::int64_t layers, std::int64_t heads)
    : heads_(heads), scale_(static_cast<size_t>(layers * heads), 1.0f) {
  for (const auto& id : off) {
    if (id.layer < 0 || id.layer >= layers || id.head < 0 || id.head >= heads) {
      throw_usage_error({"head to switch off", fmt::format("layer below {}, head below {}", layers, heads),
                         fmt::format("{}.{}", id.layer, id.head)});
    }
    scale_[static_cast<size_t>(id.layer * heads + id.head)] = 0;
  }
}

probe::Change HeadChangeProbe::change(const probe::Address& address, const probe::LayerExtent&) {
  const auto scale = std::span<const float>(scale_).subspan(static_cast<size_t>(address.layer * heads_),
                                                            static_cast<size_t>(heads_));
  const bool any = std::any_of(scale.begin(), scale.end(), [](float factor) { return factor != 1; });
  return {{}, any ? scale : std::span<const float>()};
}

std::vector<HeadId> heads_by_retrieval(const std::filesystem::path& trace) {
  const auto& t = schema::retrieval_by_head;
  const auto result = analysis::run_analyses({std::string(schema::kRetrieval.name)}, {{trace, "trace"}}, {});
  for (const auto& table : result.analyses[0].tables) {
    if (!table.is(t)) continue;
    std::vector<std::pair<double, HeadId>> scored;
    for (const auto& row : table.rows) {
      const auto number = [&](const ColumnSchema& column) { return number_of(row[table.column(column)]); };
      const double score = number(t.strict_set);
      scored.emplace_back(std::isnan(score) ? 0 : score, HeadId{static_cast<std::int64_t>(number(t.layer)),
                                                                static_cast<std::int64_t>(number(t.head))});
    }
    std::stable_sort(scored.begin(), scored.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<HeadId> heads;
    for (const auto& [score, id] : scored) heads.push_back(id);
    return heads;
  }
  throw_input_error({trace.string(), "samples from which retrieval heads can be told", "none"});
}

std::vector<HeadId> random_heads(const std::vector<HeadId>& ranked, std::size_t count, std::uint64_t draw) {
  std::vector<std::pair<double, HeadId>> order;
  for (std::size_t i = count; i < ranked.size(); ++i) {
    const DrawAddress address{DrawStream::kHeads, 0, 0, static_cast<std::uint32_t>(i)};
    order.emplace_back(uniform(draw, address), ranked[i]);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<HeadId> heads;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) heads.push_back(order[i].second);
  return heads;
}

}  // namespace buoy::run
