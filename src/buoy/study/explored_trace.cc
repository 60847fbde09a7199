#include "buoy/study/explored_trace.h"

#include <fmt/format.h>

#include "buoy/analysis/sample/answer_span.h"
#include "buoy/analysis/sample/stored_rows.h"
#include "buoy/base/attempt.h"
#include "buoy/base/error.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"

namespace buoy::study {
namespace {

constexpr std::int64_t kFewSamples = 4;  // of a trace on a page, with all that it keeps of them ...
// ... and further ones, head means alone, while these take no more bytes.
constexpr std::int64_t kMeansBudget = 1 << 19;

std::string id_of_sample(const trace::TraceReader& reader, std::int64_t number) {
  std::int64_t done = 0;
  for (const auto& entry : reader.samples()) {
    if (entry.status == trace::Status::kDone && done++ == number) return entry.id;
  }
  throw_input_error(
      {"sample", fmt::format("a number below {}, the samples of the trace", done), std::to_string(number)});
}

std::vector<std::int32_t> masked_forwards(const analysis::ObservedSample& sample) {
  std::vector<std::int32_t> out(static_cast<size_t>(sample.tokens), 0);
  for (std::int64_t j = 0; j < sample.tokens; ++j) {
    while (out[static_cast<size_t>(j)] < sample.forward_count() &&
           sample.masked_at(out[static_cast<size_t>(j)], j))
      ++out[static_cast<size_t>(j)];
  }
  return out;
}

report::ExploredSample explored(const analysis::StoredSource& source, const trace::Manifest& manifest,
                                const std::string& label, Explored how) {
  const auto& sample = source.sample();
  report::ExploredSample out;
  out.trace = label;
  out.id = sample.id();
  out.causal = sample.mask.causal;
  out.prefix = sample.mask.prefix;
  for (std::int64_t s = 0; sample.blocks && s < sample.forward_count(); ++s) {
    const analysis::Reach reach = sample.reach_at(s);
    out.reach.push_back({reach.first, reach.end, reach.mask.block, reach.mask.origin});
  }
  out.masked_diffusion = sample.masked_diffusion;
  out.last_is_final_row = sample.forward_count() > sample.step_count();
  out.model_layers = manifest.model.layers;
  out.heads = sample.heads;
  out.tokens = sample.tokens;
  out.prompt_length = sample.prompt_length;
  out.steps = sample.steps;
  if (out.last_is_final_row)
    out.steps.push_back(static_cast<std::int32_t>(source.stored().integer_text(trace::kFinalStep)));
  out.layers = sample.layers;
  out.token_texts = sample.token_texts;
  out.revealed_at = sample.revealed_at;
  out.masked_forwards = masked_forwards(sample);
  out.region_names = sample.region_names;
  out.region_of_token = analysis::region_of_token_at(sample, analysis::answer_end(sample));
  for (auto& region : out.region_of_token) {
    if (region >= std::ssize(out.region_names)) region = -1;  // trace::kNoRegion is beyond all names
  }
  out.evidence = sample.evidence;
  const analysis::StoredRows rows(source);
  out.has_heads = rows.has_heads();
  out.received = [rows](std::int64_t step, std::int64_t layer) { return rows.at(step, layer); };
  if (how == Explored::kMuch && rows.has_queries()) {
    out.row_positions = sample.row_positions;
    out.prediction_offset = sample.prediction_offset;
    out.rows = [rows](std::int64_t step, std::int64_t layer) { return rows.queries_at(step, layer); };
  }
  return out;
}

}  // namespace

// What is chosen to be drawn comes first, then others from the beginning: a compact trace has their heads.
report::ExplorerPanel explored_trace(const analysis::TraceInput& input, const analysis::RunOptions& options,
                                     Explored how) {
  try {
    const auto reader = trace::TraceReader::open(input.folder, options.integrity());
    const auto& manifest = reader.manifest();
    if (manifest.level == trace::Level::kTables)
      throw_input_error({"`keep`", "compact or full: only they keep attention", "tables"});
    const std::string first = id_of_sample(reader, options.analysis.sample);
    const analysis::StoredSource source(manifest, reader.read(first));
    auto panel = report::explorer_panel(explored(source, manifest, input.label, how));
    std::int64_t means = 0;
    for (const auto& entry : reader.samples()) {
      const bool many = std::ssize(panel.more) + 1 >= kFewSamples;
      if (many && (how == Explored::kLittle || means >= kMeansBudget)) break;
      if (entry.status != trace::Status::kDone || entry.id == first) continue;
      try {
        const analysis::StoredSource further(manifest, reader.read(entry.id));
        auto sample = explored(further, manifest, input.label, how);
        if (many) {
          means += report::bytes_of_means(sample);
          if (means > kMeansBudget) break;
          sample.has_heads = false;
          sample.rows = {};
        }
        report::add_sample(panel, sample);
      } catch (const InputError&) {  // what is wrong with it the analyses say
      }
    }
    return panel;
  } catch (const std::exception& error) {
    return {input.label, "", reason_of(error), false};
  }
}

}  // namespace buoy::study
