#include "buoy/report/explorer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "buoy/base/base64.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/report/explorer_plan.h"
#include "buoy/report/html.h"
#include "buoy/report/quantised_rows.h"

namespace buoy::report {
namespace {

constexpr size_t kMostNamedSteps = 12;

std::string codes_text(const QuantisedRows& rows) {
  const auto& codes = rows.codes();
  return to_base64({reinterpret_cast<const char*>(codes.data()), codes.size()});
}

std::string scales_text(const QuantisedRows& rows) {
  const auto& scales = rows.scales();
  return to_base64({reinterpret_cast<const char*>(scales.data()), scales.size() * sizeof(float)});
}

std::vector<std::int32_t> chosen(const std::vector<std::int32_t>& values,
                                 const std::vector<std::int64_t>& indices) {
  std::vector<std::int32_t> out;
  out.reserve(indices.size());
  for (const auto index : indices) out.push_back(values[static_cast<size_t>(index)]);
  return out;
}

struct KeptRows {
  QuantisedRows means, heads, queries;
};

KeptRows read_rows(const ExploredSample& sample, const ExplorerPlan& plan) {
  KeptRows kept;
  const auto holds = [](const std::vector<std::int64_t>& indices, size_t index) {
    return std::find(indices.begin(), indices.end(), static_cast<std::int64_t>(index)) != indices.end();
  };
  const auto tokens = static_cast<size_t>(sample.tokens);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (size_t l = 0; l < plan.layers.size(); ++l) {
      const auto values = sample.received(plan.steps[s], plan.layers[l]);
      const std::span<const double> all(values);
      kept.means.add(all.first(tokens));
      if (holds(plan.row_steps, s) && holds(plan.row_layers, l)) {
        const auto rows = sample.rows(plan.steps[s], plan.layers[l]);
        for (size_t r = 0; r < sample.row_positions.size(); ++r)
          kept.queries.add(std::span(rows).subspan(r * tokens, tokens));
      }
      if (!sample.has_heads || !holds(plan.head_steps, s) || !holds(plan.head_layers, l)) continue;
      for (std::int64_t h = 0; h < sample.heads; ++h)
        kept.heads.add(all.subspan(static_cast<size_t>(1 + h) * tokens, tokens));
    }
  }
  return kept;
}

std::string step_name(const ExploredSample& sample, std::int64_t index) {
  const bool final_row = sample.last_is_final_row && index + 1 == std::ssize(sample.steps);
  return final_row ? "the final row" : std::to_string(sample.steps[static_cast<size_t>(index)]);
}

std::string heads_note(const ExploredSample& sample, const ExplorerPlan& plan) {
  if (sample.heads < 2) return "The model has one head.";
  if (!sample.has_heads) return "Single heads of this sample are not here.";
  if (plan.head_steps.empty()) return "Single heads had no room.";
  std::vector<std::string> names;
  for (const auto s : plan.head_steps) names.push_back(step_name(sample, plan.steps[static_cast<size_t>(s)]));
  const bool every = std::ssize(plan.head_steps) == std::ssize(sample.steps);
  std::string steps = every ? "all forwards" : fmt::format("{} of them", names.size());
  if (!every && names.size() <= kMostNamedSteps) steps += fmt::format(" ({})", fmt::join(names, ", "));
  return fmt::format("Single heads: {} of {} layers at {}.", plan.head_layers.size(), sample.layers.size(),
                     steps);
}

std::string queries_note(const ExploredSample& sample, const ExplorerPlan& plan) {
  if (plan.row_steps.empty()) return "Rows of the queries that write the answer are not here.";
  return fmt::format("Rows of {} queries that write the answer: {} of {} layers at {} of {} forwards.",
                     sample.row_positions.size(), plan.row_layers.size(), sample.layers.size(),
                     plan.row_steps.size(), sample.steps.size());
}

std::string note_of(const ExploredSample& sample, const ExplorerPlan& plan, const KeptRows& rows) {
  return fmt::format(
      "On this page: head means of {} of {} observed layers at {} of {} forwards. {} {} Values are rounded "
      "to "
      "one byte, within {:.1f}% of themselves (here {:.1f}%); less than 1/100,000 of the largest in a row "
      "is shown as 0.",
      plan.layers.size(), sample.layers.size(), plan.steps.size(), sample.steps.size(),
      heads_note(sample, plan), queries_note(sample, plan), 100 * kMostQuantisedError,
      std::ceil(1000 * std::max({rows.means.largest_error(), rows.heads.largest_error(),
                                 rows.queries.largest_error()})) /
          10);
}

// Forwards are counted among the kept ones.
std::vector<std::int64_t> masked_steps(const ExploredSample& sample, const ExplorerPlan& plan) {
  std::vector<std::int64_t> out;
  for (const auto count : sample.masked_forwards)
    out.push_back(std::lower_bound(plan.steps.begin(), plan.steps.end(), count) - plan.steps.begin());
  return out;
}

std::vector<std::array<std::int64_t, 4>> reach_of_steps(const ExploredSample& sample,
                                                        const ExplorerPlan& plan) {
  std::vector<std::array<std::int64_t, 4>> out;
  if (sample.reach.empty()) return out;
  for (const auto step : plan.steps) out.push_back(sample.reach[static_cast<size_t>(step)]);
  return out;
}

// In a script element only "</script" and "<!--" could end or change the text; without "<" there is neither.
std::string script_safe(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

ExplorerPanel explorer_panel(const ExploredSample& sample, std::int64_t budget) {
  ExplorerPanel panel{sample.trace, "", "", false};
  const std::int64_t rows = budget / (sample.tokens + QuantisedRows::kScaleBytes);
  if (rows < 1 || sample.tokens < 1 || sample.steps.empty() || sample.layers.empty()) {
    panel.lacking =
        fmt::format("sample {} has {} tokens, {} forwards and {} layers; one row of it must fit {}.",
                    sample.id, sample.tokens, sample.steps.size(), sample.layers.size(),
                    describe_bytes(static_cast<std::uint64_t>(budget)));
    return panel;
  }
  const std::int64_t queries = sample.rows ? std::ssize(sample.row_positions) : 0;
  const std::int64_t cells =
      queries == 0 ? 0 : kQueryBudget / (queries * (sample.tokens + QuantisedRows::kScaleBytes));
  const ExplorerPlan plan = plan_explorer({std::ssize(sample.steps), std::ssize(sample.layers),
                                           sample.has_heads ? sample.heads : 0, rows, cells});
  const KeptRows kept = read_rows(sample, plan);
  panel.data = script_safe(
      {{"trace", sample.trace},
       {"sample", sample.id},
       {"causal", sample.causal},
       {"prefix", sample.prefix},
       {"reach", reach_of_steps(sample, plan)},
       {"diffusion", sample.masked_diffusion},
       {"finalRow", sample.last_is_final_row},
       {"modelLayers", sample.model_layers},
       {"heads", sample.heads},
       {"tokens", sample.tokens},
       {"promptLength", sample.prompt_length},
       {"steps", chosen(sample.steps, plan.steps)},
       {"layers", chosen(sample.layers, plan.layers)},
       {"headSteps", plan.head_steps},
       {"headLayers", plan.head_layers},
       {"texts", sample.token_texts},
       {"revealedAt", sample.revealed_at},
       {"maskedSteps", masked_steps(sample, plan)},
       {"regionNames", sample.region_names},
       {"regionOfToken", sample.region_of_token},
       {"evidence", sample.evidence},
       {"note", note_of(sample, plan, kept)},
       {"meanCodes", codes_text(kept.means)},
       {"meanScales", scales_text(kept.means)},
       {"headCodes", codes_text(kept.heads)},
       {"headScales", scales_text(kept.heads)},
       {"rowPositions", plan.row_steps.empty() ? std::vector<std::int32_t>{} : sample.row_positions},
       {"rowOffset", sample.prediction_offset},
       {"rowSteps", plan.row_steps},
       {"rowLayers", plan.row_layers},
       {"rowCodes", codes_text(kept.queries)},
       {"rowScales", scales_text(kept.queries)}});
  return panel;
}

void add_sample(ExplorerPanel& panel, const ExploredSample& sample) {
  auto further = explorer_panel(sample, kFurtherBudget);
  if (further.lacking.empty()) panel.more.push_back(std::move(further.data));
}

std::int64_t bytes_of_means(const ExploredSample& sample) {
  return std::ssize(sample.steps) * std::ssize(sample.layers) * (sample.tokens + QuantisedRows::kScaleBytes);
}

std::string explorer_html(std::span<const ExplorerPanel> panels) {
  if (panels.empty()) return "";
  const bool any =
      std::any_of(panels.begin(), panels.end(), [](const auto& panel) { return panel.lacking.empty(); });
  std::string out = "<section id=\"explorer\">\n<h2 id=\"explore\">Explore</h2>\n";
  if (any) {
    out +=
        "<p class=\"question\">Attention that every position of a sample receives, mean over the queries; "
        "From "
        "shows that of a single query that writes the answer, Minus the difference of two traces. Hover for "
        "a "
        "token; click one in the text for the attention to it; click a row to choose it; arrow keys change "
        "step "
        "and layer of a panel in focus. All panels show the same relative step and depth.</p>\n"
        "<noscript><p class=\"notes\">This section needs JavaScript.</p></noscript>\n";
  }
  out += "<div class=\"explorer-controls\"></div>\n";
  for (const auto& panel : panels) {
    if (!panel.lacking.empty()) {
      out += fmt::format("<p class=\"files\">{}: nothing to explore: {}</p>\n", escape_html(panel.trace),
                         escape_html(panel.lacking));
      continue;
    }
    out += fmt::format(
        "<details class=\"explorer-panel\"{}><summary>{}</summary>"
        "<script type=\"application/json\">{}</script>",
        panel.folded ? "" : " open", escape_html(panel.trace), panel.data);
    for (const auto& data : panel.more)
      out += fmt::format("\n<script type=\"application/json\">{}</script>", data);
    out += "</details>\n";
  }
  return out + "</section>\n";
}

}  // namespace buoy::report
