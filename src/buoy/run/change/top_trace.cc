#include "buoy/run/change/top_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/analysis/sample/stored_source.h"
#include "buoy/base/error.h"
#include "buoy/base/sha256.h"
#include "buoy/trace/manifest_json.h"

namespace buoy::run {

TopTrace::TopTrace(const std::filesystem::path& folder)
    : folder_(folder), reader_(trace::TraceReader::open(folder)) {
  if (const auto level = reader_.manifest().level; level != trace::Level::kFull)
    throw_input_error({folder.string(), "a trace with `keep` full, because keys are chosen from its arrays",
                       fmt::format("one that keeps {}", name_of(level))});
}

std::string TopTrace::sum() const {
  Sha256 sum;
  const auto add = [&](const std::string& text) { sum.update(std::as_bytes(std::span(text))); };
  add(reader_.manifest().model.weights_sha256);
  add(reader_.manifest().decoding);
  add(reader_.manifest().probe);
  return sum.hex();
}

TopTraceSample TopTrace::sample(const Asked& asked) const {
  const auto& entries = reader_.samples();
  if (std::none_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.id == asked.id; }))
    throw_input_error({folder_.string(), fmt::format("a sample of question \"{}\"", asked.id), "none"});
  const auto& model = reader_.manifest().model;
  if (model.layers != asked.layers || model.heads != asked.heads)
    throw_input_error({folder_.string(), fmt::format("{} layers of {} heads", asked.layers, asked.heads),
                       fmt::format("{} of {}", model.layers, model.heads)});
  const analysis::StoredSource source(reader_.manifest(), reader_.read(asked.id));
  const auto& sample = source.sample();
  if (std::ssize(asked.prompt) != sample.prompt_length ||
      !std::equal(asked.prompt.begin(), asked.prompt.end(), sample.final_row.begin()))
    throw_input_error(
        {folder_.string(), fmt::format("question \"{}\" with the same prompt", asked.id), "another"});
  // Where blocks are decoded, all forwards have a number, those that store a block too.
  const auto& numbers = sample.blocks ? source.numbers() : sample.steps;
  if (sample.layer_count() != asked.layers || numbers.empty() || numbers.front() != 0 ||
      numbers.back() + 1 != std::ssize(numbers))
    throw_input_error(
        {folder_.string(), "every step and layer observed",
         fmt::format("{} steps and {} of {} layers", numbers.size(), sample.layer_count(), asked.layers)});
  TopTraceSample out;
  out.keys = sample.tokens;
  if (sample.blocks) out.rows_run = sample.blocks->rows_run;
  const std::int64_t steps = sample.masked_diffusion ? std::ssize(numbers) : 1;
  for (std::int64_t s = 0; s < steps; ++s) {
    auto& layers = out.received.emplace_back(static_cast<std::size_t>(asked.layers));
    for (std::int64_t l = 0; l < sample.layer_count(); ++l)
      layers[static_cast<std::size_t>(sample.layers[static_cast<std::size_t>(l)])] =
          source.received_of(s, l).share;
  }
  return out;
}

void TopTrace::require_rows(const TopTraceSample& sample, const Rows& now) const {
  if (sample.rows_run.empty()) return;
  const auto steps = std::ssize(sample.received);
  const auto at = static_cast<std::size_t>(2 * std::min(now.step, steps - 1));
  const auto first = sample.rows_run[at], end = sample.rows_run[at + 1];
  if (first == now.first && end == now.end) return;
  throw_input_error(
      {folder_.string(),
       fmt::format("forward {} over rows {} to {}, as it runs", now.step, now.first, now.end - 1),
       fmt::format("rows {} to {}, of {} forwards", first, end - 1, steps)});
}

}  // namespace buoy::run
