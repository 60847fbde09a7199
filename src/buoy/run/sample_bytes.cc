#include "buoy/run/sample_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/file/disk_space.h"
#include "buoy/base/progress.h"
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
  set(trace::kAttention, sample.causal ? "causal" : "bidirectional");
  set(trace::kPromptLength, std::to_string(sample.prompt_length));
  set(trace::kPredictionOffset, std::to_string(sample.prediction_offset));
  set(trace::kMaskToken, std::to_string(sample.mask_token));
  return texts;
}

}  // namespace

// Bytes of what an analysis keeps of a sample.
std::int64_t expected_state(const analysis::SampleFacts& /*sample*/, const std::string& /*analysis*/) {
  return 0;
}

SampleBytes expected_bytes(const ModelConfig& config, const Request& request, const ItemPrompt& prompt,
                           const std::vector<std::string>& analyses) {
  const auto tokens = static_cast<std::int64_t>(prompt.prompt.ids.size()) +
                      std::max<std::int64_t>(request.decode.max_new_tokens, 0);
  const auto subject = subject_of(config, request, prompt, tokens);
  const bool diffusion = is_masked_diffusion(config.family);
  const auto storage = request.float16 ? trace::Storage::kF16 : trace::Storage::kF32;
  const auto of_level = [&](const Keeping& keeping) {
    const observe::RecordLayout layout(keeping.chosen ? with_rows(request.plan()) : request.plan(), subject);
    const LivePrompt live{prompt, 0, diffusion, request.final_row};
    const auto facts = facts_of(layout, live, !prompt.prompt.rendered.empty());
    auto plan = sample_plan(layout, facts, keeping);
    if (keeping.level != trace::Level::kFull) {
      for (const auto& name : analyses)
        plan.arrays.push_back({trace::state_name(name), trace::DataType::kU8, {expected_state(facts, name)}});
    }
    const auto placed = trace::place_arrays(plan.arrays, storage, plan.keep_f32);
    const auto header =
        trace::format_sample_header(plan.id, placed, expected_texts(prompt, facts), keeping.level);
    return trace::data_bytes(placed) + header.size();
  };
  SampleBytes out;
  out.tables = of_level({trace::Level::kTables});
  out.compact = of_level({trace::Level::kCompact});
  out.chosen = of_level({trace::Level::kCompact, true});
  out.full = of_level({trace::Level::kFull});
  out.large =
      observe::RecordLayout(request.plan(), subject).expected_bytes().large / (request.float16 ? 2 : 1);
  return out;
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
  std::string text = fmt::format("{} sample{}, about ", run.samples, run.samples == 1 ? "" : "s");
  if (run.samples > 1) text += fmt::format("{} each, ", describe_bytes(run.all() / run.samples));
  text += fmt::format("{} in all as {}", describe_bytes(run.all()), name_of(run.level));
  if (run.level == trace::Level::kFull && run.each.large > 0)
    text += fmt::format(" (of each, {} are dense matrices and states)", describe_bytes(run.each.large));
  for (const auto level : trace::kLevels) {
    if (level != run.level) text += fmt::format("; as {} {}", name_of(level), of(level));
  }
  return text + fmt::format("; {} free", describe_bytes(free_bytes));
}

void require_space(const RunBytes& run, const std::filesystem::path& folder) {
  const std::uint64_t there = bytes_in_folder(folder), free = free_disk_bytes(folder), all = run.all();
  if (all <= free + there) return;
  throw IoError(
      fmt::format("{}: the run will write about {} as {}, but {} are free there (`ignore_space` runs it all "
                  "the same; `keep` chooses what is kept)",
                  folder.string(), describe_bytes(all - there), name_of(run.level), describe_bytes(free)));
}

}  // namespace buoy::run
