#include "buoy/study/analysed_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/trace/reader.h"

namespace buoy::study {

std::vector<analysis::TraceInput> labelled_traces(const std::vector<NamedPath>& traces,
                                                  trace::Integrity integrity) {
  std::vector<analysis::TraceInput> inputs;
  std::map<std::string, int> uses;
  for (const auto& [name, folder] : traces) {
    const auto reader = trace::TraceReader::open(folder, integrity);
    inputs.push_back({folder, name.empty() ? reader.manifest().model.name : name});
    ++uses[inputs.back().label];
  }
  for (auto& input : inputs) {
    if (uses[input.label] > 1)
      input.label =
          fmt::format("{} ({})", input.label,
                      std::filesystem::absolute(input.folder).lexically_normal().filename().string());
  }
  std::map<std::string, std::string> seen;
  for (const auto& input : inputs) {
    const auto [entry, is_new] = seen.try_emplace(input.label, input.folder.string());
    if (!is_new) {
      throw_usage_error({"traces", "a different label for each, as in A=" + entry->second,
                         fmt::format("\"{}\" twice", input.label)});
    }
  }
  return inputs;
}

analysis::RunResult run_with_progress(const std::vector<std::string>& names,
                                      const std::vector<analysis::TraceInput>& traces,
                                      const analysis::RunOptions& run) {
  std::vector<analysis::TracePass> passes;
  for (const auto& input : traces) {
    passes.push_back({input.folder, {}});
    for (const auto& name : names) passes.back().wanted.push_back({name, input.label});
  }
  return run_with_progress(passes, run);
}

analysis::RunResult run_with_progress(const std::vector<analysis::TracePass>& passes,
                                      const analysis::RunOptions& run) {
  std::int64_t total = 0;
  for (const auto& pass : passes) {
    const auto reader = trace::TraceReader::open(pass.folder, run.integrity());
    if (!reader.complete())
      say("note: {} is not complete; what it has so far is analysed\n", pass.folder.string());
    const auto samples = static_cast<std::int64_t>(reader.samples().size());
    total += run.limit > 0 ? std::min(samples, run.limit) : samples;
  }
  Progress progress(stderr, "sample", total);
  analysis::RunOptions options = run;
  options.on_sample = [&] { progress.advance(); };
  auto result = analysis::run_passes(passes, options);
  for (const auto& skipped : result.skipped)
    say("note: {}: sample {} failed while it was traced: {}\n", skipped.trace, skipped.id, skipped.reason);
  return result;
}

}  // namespace buoy::study
