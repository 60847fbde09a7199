#include "experiment/trace_request.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_file.h"
#include "evaluate/passages.h"
#include "experiment/identity.h"

namespace buoy::experiment {
namespace {

std::string describe_probe(const TraceRequest& request, const observe::Plan& plan, Device device) {
  Json out = {
      {"observe", plan.names()},         {"layers", request.layers},
      {"steps", request.steps_observed}, {"groups", request.groups.empty() ? "state" : request.groups},
      {"final_row", request.final_row},  {"template", request.prompt_template},
      {"passages", request.passages},    {"gold_position", request.gold_position},
      {"chat", request.chat.use}};
  if (device == Device::kCuda) out["device"] = "cuda";
  return out.dump();
}

evaluate::Item arranged(evaluate::Item item, std::int64_t passages, std::int64_t gold_position) {
  if (gold_position > 0) evaluate::place_gold(item, static_cast<std::size_t>(gold_position));
  if (passages >= 0) evaluate::keep_first(item, static_cast<std::size_t>(passages));
  return item;
}

}  // namespace

TraceRun make_trace_run(const TraceRequest& request, const LoadedModel& loaded) {
  TraceRun run;
  run.folder = request.folder;
  run.resume = request.resume;
  run.tracer = {.decode = request.decode,
                .plan = observe::parse_plan(request.observe, request.layers, request.steps_observed),
                .groups = request.groups,
                .final_row = request.final_row};
  run.manifest = describe_run(loaded.model, request.decode, request.command);
  run.manifest.storage = request.float16 ? trace::Storage::kF16 : trace::Storage::kF32;
  run.manifest.probe = describe_probe(request, run.tracer.plan, loaded.model.device());
  for (const auto& item : request.items) run.manifest.sample_ids.push_back(item.id);

  const auto item = [items = request.items, passages = request.passages,
                     gold_position = request.gold_position](std::size_t n) {
    return arranged(items[n], passages, gold_position);
  };
  if (request.ids) {
    run.prompt = [item, ids = *request.ids](std::size_t n) { return prompt_of_ids(item(n), ids); };
  } else {
    const auto& folder = loaded.model.checkpoint().folder();
    const auto prompter = std::make_shared<const Prompter>(request.prompt_template, request.chat, folder,
                                                           need_tokenizer(loaded.tokenizer, folder));
    run.prompt = [item, prompter](std::size_t n) { return prompter->prompt(item(n)); };
  }
  return run;
}

}  // namespace buoy::experiment
