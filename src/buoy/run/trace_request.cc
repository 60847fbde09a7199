#include "buoy/run/trace_request.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/sha256.h"
#include "buoy/run/identity.h"

namespace buoy::run {
namespace {

// Of everything a trace holds of its questions: tokens, regions, evidence, texts. Templates and data are
// files that may change between a run and its continuation.
std::string sum_of_prompts(const TraceRun& run) {
  Sha256 sum;
  const auto add_count = [&](std::uint64_t count) { sum.update(std::as_bytes(std::span(&count, 1))); };
  const auto add = [&](const auto& values) {
    add_count(values.size());
    sum.update(std::as_bytes(std::span(values)));
  };
  const auto add_texts = [&](const std::vector<std::string>& texts) {
    add_count(texts.size());
    for (const auto& text : texts) add(text);
  };
  for (std::size_t n = 0; n < run.manifest.sample_ids.size(); ++n) {
    try {
      const ItemPrompt item = run.prompt(n);
      add(item.prompt.ids);
      add(item.question);
      add_texts(item.answers);
      add_texts(item.regions.names);
      add(item.regions.of_token);
      add_texts(item.regions.gold);
      add(item.regions.evidence);
      add(item.regions.template_text);
    } catch (const UsageError& error) {
      add(std::string(error.what()));
    } catch (const InputError& error) {
      add(std::string(error.what()));
    }
  }
  return sum.hex();
}

}  // namespace

std::function<ItemPrompt(std::size_t number)> prompts_of(const TraceRequest& request,
                                                         const LoadedModel& loaded) {
  if (request.ids) {
    return [items = request.items, arrangement = request.arrangement, ids = *request.ids](std::size_t n) {
      return prompt_of_ids(arrange(items[n], arrangement), ids);
    };
  }
  const auto& folder = loaded.model.checkpoint().folder();
  const auto prompter = std::make_shared<const Prompter>(request.prompt_template, request.chat, folder,
                                                         need_tokenizer(loaded.tokenizer, folder));
  return [items = request.items, arrangement = request.arrangement, prompter](std::size_t n) {
    return prompter->prompt(prompter->arranged(items[n], arrangement));
  };
}

TraceRun make_trace_run(const TraceRequest& request, const LoadedModel& loaded) {
  check_changes(request.changes, loaded.model.config(), request.decode);
  check_arrangement(request.arrangement);
  TraceRun run;
  run.folder = request.folder;
  run.resume = request.resume;
  run.with_results = request.with_results;
  run.ignore_space = request.ignore_space;
  run.request = request;
  run.manifest = describe_run(loaded.model, request.decode, request.command);
  run.manifest.storage = request.float16 ? trace::Storage::kF16 : trace::Storage::kF32;
  run.manifest.level = request.keep;
  run.analyses = request.analyses;
  if (request.keep != trace::Level::kFull && run.analyses.names.empty()) {
    run.analyses.names = analyses_within(request.plan());
    if (run.analyses.names.empty())
      throw_usage_error({"`observe`",
                         fmt::format("what an analysis needs, because `keep` is {}", name_of(request.keep)),
                         fmt::format("\"{}\"", request.observe)});
  }
  for (const auto& item : request.items) run.manifest.sample_ids.push_back(item.id);

  run.prompt = prompts_of(request, loaded);
  run.manifest.probe = dump_json(describe_observed(request, loaded.model.device(), sum_of_prompts(run)));
  return run;
}

Arrangement arrangement_of(std::int64_t passages, std::int64_t gold_position) {
  Arrangement out;
  out.closed_book = passages == 0;
  out.passages = passages;
  out.gold_position = gold_position;
  return out;
}

}  // namespace buoy::run
