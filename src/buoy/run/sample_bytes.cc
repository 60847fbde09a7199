#include "buoy/run/sample_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/analysis/core/analysis.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/disk_space.h"
#include "buoy/base/progress.h"
#include "buoy/run/block_run.h"
#include "buoy/run/live/compact_arrays.h"
#include "buoy/run/live/trace_sink.h"
#include "buoy/run/tracer.h"
#include "buoy/trace/sample_layout.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

// As Tracer::frame gives them, but for what the model will say.
std::map<std::string, std::string> expected_texts(const ItemPrompt& prompt,
                                                  const analysis::SampleFacts& sample) {
  constexpr std::string_view kGuessed = " word";
  std::map<std::string, std::string> texts;
  const auto set = [&](std::string_view key, std::string value) {
    texts[std::string(key)] = std::move(value);
  };
  std::vector<std::string> tokens;
  for (const auto& span : prompt.prompt.spans)
    tokens.push_back(prompt.prompt.rendered.substr(span.begin, span.end - span.begin));
  tokens.resize(static_cast<size_t>(sample.tokens), std::string(kGuessed));
  std::string answer;
  for (std::int64_t j = sample.prompt_length; j < sample.tokens; ++j) answer += kGuessed;
  set(trace::kTokenTexts, trace::format_text_list(tokens));
  set(trace::kAnswerText, std::move(answer));
  set(trace::kPromptText, prompt.prompt.rendered);
  set(trace::kQuestion, prompt.question);
  set(trace::kAnswers, trace::format_text_list(prompt.answers));
  set(trace::kRegionNames, trace::format_text_list(sample.region_names));
  set(trace::kGoldRegions, trace::format_text_list(sample.gold_regions));
  set(trace::kGroupNames, trace::format_text_list(sample.group_names));
  set(trace::kAttention,
      std::string(sample.mask.causal ? trace::kCausalAttention : trace::kBidirectionalAttention));
  set(trace::kPromptLength, std::to_string(sample.prompt_length));
  set(trace::kPredictionOffset, std::to_string(sample.prediction_offset));
  set(trace::kMaskToken, std::to_string(sample.mask_token));
  return texts;
}

// Bytes of what an analysis keeps of a sample that is not drawn; nothing where it is not possible.
std::int64_t expected_state(const trace::Manifest& manifest, const analysis::SampleFacts& sample,
                            const std::string& name) {
  analysis::AnalysisOptions options;
  options.sample = -1;
  options.bootstrap.replicates = 1;
  auto archive = analysis::StateArchive::measuring();
  try {
    analysis::find_analysis(name).make({"", manifest}, options)->begin(sample)->state(archive);
  } catch (const InputError&) {
    return 0;
  }
  return static_cast<std::int64_t>(archive.measured());
}

class FileBytes {
 public:
  FileBytes(const trace::Manifest& manifest, const analysis::SampleFacts& sample,
            const std::vector<std::string>& analyses)
      : storage_(manifest.storage) {
    for (const auto& name : analyses)
      states_.push_back(
          {trace::state_name(name), trace::DataType::kU8, {expected_state(manifest, sample, name)}});
  }

  std::uint64_t of(trace::SamplePlan plan, trace::Level level,
                   const std::map<std::string, std::string>& texts) const {
    if (level != trace::Level::kFull) plan.arrays.insert(plan.arrays.end(), states_.begin(), states_.end());
    const auto placed = trace::place_arrays(plan.arrays, storage_, plan.keep_f32);
    return trace::data_bytes(placed) + trace::format_sample_header(plan.id, placed, texts, level).size();
  }

 private:
  trace::Storage storage_;
  std::vector<trace::PlannedArray> states_;
};

}  // namespace

SampleBytes expected_bytes(const ModelConfig& config, const Request& request, const ItemPrompt& prompt,
                           const std::vector<std::string>& analyses) {
  const auto tokens = static_cast<std::int64_t>(prompt.prompt.ids.size()) +
                      std::max<std::int64_t>(request.decode.max_new_tokens, 0);
  const auto subject =
      subject_of(config, request, prompt, tokens, std::nullopt, largest_block_run(config, request));
  const LivePrompt live{prompt, 0, decode::decodes_masks(config, request.decode),
                        decode::mask_of(config, request.decode), request.final_row};
  trace::Manifest manifest;
  manifest.model.layers = config.layers, manifest.model.heads = config.heads;
  manifest.model.kv_heads = config.kv_heads, manifest.model.head_dim = config.head_dim;
  manifest.storage = request.float16 ? trace::Storage::kF16 : trace::Storage::kF32;
  const auto facts_with = [&](const observe::RecordLayout& layout) {
    return facts_of(layout, live, !prompt.prompt.rendered.empty());
  };
  const observe::RecordLayout observed(request.plan(), subject), closer(with_rows(request.plan()), subject);
  const auto facts = facts_with(observed);
  const auto texts = expected_texts(prompt, facts);
  const FileBytes bytes(manifest, facts, analyses);
  const auto of = [&](trace::Level level) {
    return bytes.of(sample_plan(facts, {level}, &observed), level, texts);
  };
  SampleBytes out;
  out.tables = of(trace::Level::kTables);
  out.compact = of(trace::Level::kCompact);
  out.full = of(trace::Level::kFull);
  out.chosen = bytes.of(sample_plan(facts_with(closer), {trace::Level::kCompact, true}),
                        trace::Level::kCompact, texts);
  out.large = observed.expected_bytes().large / (request.float16 ? 2 : 1);
  return out;
}

SampleBytes expected_bytes(const analysis::SampleFacts& stored,
                           const std::map<std::string, std::string>& texts, const trace::Manifest& manifest,
                           const std::vector<std::string>& analyses) {
  const FileBytes bytes(manifest, stored, analyses);
  const auto of = [&](const Keeping& keeping) {
    return bytes.of(sample_plan(stored, keeping), keeping.level, texts);
  };
  return {.tables = of({trace::Level::kTables}),
          .compact = of({trace::Level::kCompact}),
          .chosen = of({trace::Level::kCompact, true})};
}

std::uint64_t SampleBytes::of_run(trace::Level level, std::uint64_t samples,
                                  std::uint64_t chosen_samples) const {
  switch (level) {
    case trace::Level::kTables:
      return samples * tables;
    case trace::Level::kCompact:
      chosen_samples = std::min(chosen_samples, samples);
      return chosen_samples * chosen + (samples - chosen_samples) * compact;
    case trace::Level::kFull:
      break;
  }
  return samples * full;
}

std::string describe(const RunBytes& run, std::uint64_t free_bytes) {
  const auto of = [&](trace::Level level) {
    return describe_bytes(run.each.of_run(level, run.samples, run.chosen_samples));
  };
  std::string text = counted(run.samples, "sample") + ", about ";
  if (run.samples > 1) text += fmt::format("{} each, ", describe_bytes(run.all() / run.samples));
  text += fmt::format("{} in all as {}", describe_bytes(run.all()), name_of(run.level));
  if (run.level == trace::Level::kFull && run.each.large > 0)
    text += fmt::format(" (of each, {} are dense matrices and states)", describe_bytes(run.each.large));
  for (const auto level : trace::kLevels) {
    if (level != run.level) text += fmt::format("; as {} {}", name_of(level), of(level));
  }
  if (run.results > 0) text += fmt::format("; up to {} of tables and figures", describe_bytes(run.results));
  if (run.held > 0)
    text += fmt::format("; up to {} in a temporary file while a sample runs", describe_bytes(run.held));
  return text + fmt::format("; {} free", describe_bytes(free_bytes));
}

void require_space(const RunBytes& run, const std::filesystem::path& folder) {
  const std::uint64_t there = bytes_in_folder(folder), free = free_disk_bytes(folder),
                      all = run.all() + run.results + run.held;
  if (all <= free + there) return;
  throw IoError(fmt::format(
      "{}: the run will write about {} as {}{}{}, but {} are free there (`ignore_space` runs it all "
      "the same; `keep` chooses what is kept)",
      folder.string(), describe_bytes(all - there), name_of(run.level),
      run.results > 0 ? ", with tables and figures" : "",
      run.held > 0 ? fmt::format(", up to {} of it in a temporary file", describe_bytes(run.held)) : "",
      describe_bytes(free)));
}

}  // namespace buoy::run
