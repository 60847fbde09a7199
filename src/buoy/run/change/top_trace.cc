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
  if (sample.layer_count() != asked.layers || sample.steps.empty() || sample.steps.front() != 0 ||
      sample.steps.back() + 1 != sample.step_count())
    throw_input_error({folder_.string(), "every step and layer observed",
                       fmt::format("{} steps and {} of {} layers", sample.step_count(), sample.layer_count(),
                                   asked.layers)});
  TopTraceSample out;
  out.keys = sample.tokens;
  const std::int64_t steps = sample.masked_diffusion ? sample.step_count() : 1;
  for (std::int64_t s = 0; s < steps; ++s) {
    auto& layers = out.received.emplace_back(static_cast<std::size_t>(asked.layers));
    for (std::int64_t l = 0; l < sample.layer_count(); ++l)
      layers[static_cast<std::size_t>(sample.layers[static_cast<std::size_t>(l)])] =
          source.received(s, l).share;
  }
  return out;
}

}  // namespace buoy::run
