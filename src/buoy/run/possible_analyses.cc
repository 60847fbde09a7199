#include "buoy/run/possible_analyses.h"

#include <algorithm>
#include <optional>

#include "buoy/base/error.h"
#include "buoy/run/block_run.h"
#include "buoy/run/live/live_sample.h"

namespace buoy::run {
namespace {

// What is known of a sample before it runs; nothing of one whose prompt cannot be made.
std::optional<analysis::ObservedSample> facts_of_sample(const LoadedModel& model, const TraceRun& run,
                                                        std::size_t n) {
  const ModelConfig& config = model.model.config();
  try {
    const auto prompt = run.prompt(n);
    const auto tokens = static_cast<std::int64_t>(prompt.prompt.ids.size()) +
                        std::max<std::int64_t>(run.request.decode.max_new_tokens, 0);
    const observe::RecordLayout layout(run.request.plan(),
                                       subject_of(config, run.request, prompt, tokens, std::nullopt,
                                                  largest_block_run(config, run.request)));
    return facts_of(layout,
                    {prompt, n, decode::decodes_masks(config, run.request.decode),
                     decode::mask_of(config, run.request.decode), run.request.final_row},
                    model.tokenizer.has_value());
  } catch (const UsageError&) {
    return std::nullopt;  // it will fail, and say why
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<LeftOut> leave_out_impossible(std::vector<std::string>& names, const analysis::TraceFacts& trace,
                                          const analysis::AnalysisOptions& options,
                                          const SampleFactsOf& facts) {
  std::vector<LeftOut> left_out;
  if (names.empty()) return left_out;
  std::vector<std::string> possible;
  std::vector<std::string> reasons(names.size());
  for (std::size_t n = 0; n < trace.manifest.sample_ids.size() && possible.size() < names.size(); ++n) {
    const auto sample = facts(n);
    if (!sample) continue;
    for (std::size_t a = 0; a < names.size(); ++a) {
      if (std::find(possible.begin(), possible.end(), names[a]) != possible.end()) continue;
      try {
        analysis::find_analysis(names[a]).make(trace, options)->begin(*sample);
        possible.push_back(names[a]);
      } catch (const InputError& error) {
        if (reasons[a].empty()) reasons[a] = error.what();
      }
    }
  }
  for (std::size_t a = 0; a < names.size(); ++a) {
    if (!reasons[a].empty() && std::find(possible.begin(), possible.end(), names[a]) == possible.end())
      left_out.push_back({names[a], reasons[a]});
  }
  if (left_out.size() == names.size())
    throw InputError("no analysis is possible of these prompts; " + left_out.front().analysis + ": " +
                     left_out.front().reason);
  std::erase_if(names, [&](const std::string& name) {
    return std::any_of(left_out.begin(), left_out.end(),
                       [&](const auto& one) { return one.analysis == name; });
  });
  return left_out;
}

std::vector<LeftOut> leave_out_impossible(const LoadedModel& model, TraceRun& run) {
  return leave_out_impossible(run.analyses.names, {run.analyses.label, run.manifest}, run.analyses.options,
                              [&](std::size_t n) { return facts_of_sample(model, run, n); });
}

}  // namespace buoy::run
