#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <numeric>
#include <sstream>

#include "app/commands.h"
#include "app/decode_options.h"
#include "app/model_folder.h"
#include "app/run_identity.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_file.h"
#include "base/progress.h"
#include "decode/drive.h"
#include "observe/recorder.h"
#include "trace/schema.h"
#include "trace/writer.h"

namespace buoy::app {
namespace {

struct TraceOptions {
  ModelOptions model;
  PromptOptions prompt;
  DecodeOptions decode;
  std::string data, out, observe = "received,entropy", layers, steps;
  std::int64_t limit = 0;
  bool resume = false, float16 = false;
};

struct Item {
  std::string id;
  PromptOptions prompt;
};

// One prompt, or one per line of a JSON Lines file ("prompt" or "question", optional "id").
std::vector<Item> read_items(const TraceOptions& options) {
  if (options.data.empty()) return {{"prompt", options.prompt}};
  std::vector<Item> items;
  std::istringstream lines(read_file(options.data));
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", options.data, number);
    const Json json = parse_json(line, where);
    const JsonObject object(json, where);
    Item item{object.text("id").value_or(fmt::format("{:06}", items.size())), options.prompt};
    item.prompt.text =
        object.has("prompt") ? object.required_text("prompt") : object.required_text("question");
    trace::check_sample_id(item.id);
    items.push_back(std::move(item));
    if (options.limit > 0 && static_cast<std::int64_t>(items.size()) == options.limit) break;
  }
  if (items.empty()) throw_input_error({options.data, "at least one prompt", "none"});
  return items;
}

observe::Subject subject_of(const model::Model& model, const TraceOptions& options, size_t prompt,
                            size_t tokens) {
  const ModelConfig& c = model.config();
  const bool diffusion = is_masked_diffusion(c.family);
  return {.tokens = static_cast<std::int64_t>(tokens),
          .prompt_length = static_cast<std::int64_t>(prompt),
          .steps = diffusion ? options.decode.steps.value_or(options.decode.max_new_tokens) : 1,
          .layers = c.layers,
          .heads = c.heads,
          .kv_heads = c.kv_heads,
          .prediction_offset = model.traits().prediction_offset,
          .mask_token = diffusion ? options.decode.mask_token.value_or(*c.mask_token) : -1};
}

class Tracer {
 public:
  Tracer(const Context& context, model::Model& model, const TraceOptions& options, const observe::Plan& plan,
         std::optional<text::Tokenizer> tokenizer)
      : context_(context), model_(model), options_(options), plan_(plan), tokenizer_(std::move(tokenizer)) {}

  trace::Sample run(const Item& item, std::uint64_t number) {
    const Prompt prompt = make_prompt(item.prompt, options_.model.folder, tokenizer_);
    DecodeOptions decode = options_.decode;
    decode.seed += number;
    const auto machine = make_machine(model_, decode, prompt.ids, tokenizer_);
    decode::StepMachine* machines[] = {machine.get()};
    std::vector<trace::Array> observed;
    if (is_masked_diffusion(model_.config().family)) {
      observe::Recorder recorder(plan_,
                                 subject_of(model_, options_, prompt.ids.size(), machine->row().size()));
      decode::drive(context_, model_, machines, nullptr, &recorder);
      observed = recorder.arrays();
    } else {
      // A causal row never changes once written: one pass over the final row holds every step's attention.
      decode::drive(context_, model_, machines, nullptr);
      observe::Recorder recorder(plan_,
                                 subject_of(model_, options_, prompt.ids.size(), machine->row().size()));
      const std::vector<model::SequenceInput> inputs = {{machine->row(), {}}};
      model_.forward(context_, inputs, &recorder);
      observed = recorder.arrays();
    }
    return sample_of(item, prompt, *machine, std::move(observed));
  }

 private:
  trace::Sample sample_of(const Item& item, const Prompt& prompt, const decode::StepMachine& machine,
                          std::vector<trace::Array> observed) const {
    const auto& row = machine.row();
    const auto length = static_cast<std::int64_t>(row.size());
    std::vector<std::uint8_t> regions(row.size(), 1);
    regions[0] = 0;
    std::fill(regions.begin() + machine.prompt_length(), regions.end(), 2);
    trace::Sample sample{item.id, {}, {}};
    sample.arrays.push_back(trace::integer_array(trace::kTokens, {length}, row));
    sample.arrays.push_back(trace::integer_array(trace::kRevealedAt, {length}, machine.revealed_at()));
    sample.arrays.push_back(trace::byte_array(trace::kRegionOfToken, {length}, regions));
    std::move(observed.begin(), observed.end(), std::back_inserter(sample.arrays));
    const std::vector<std::string> region_names = {"first token", "prompt", "answer"},
                                   groups = observe::group_names();
    const auto set = [&](std::string_view key, std::string value) {
      sample.metadata[std::string(key)] = std::move(value);
    };
    set(trace::kPromptLength, std::to_string(machine.prompt_length()));
    set(trace::kRegionNames, trace::format_text_list(region_names));
    set(trace::kGroupNames, trace::format_text_list(groups));
    if (!item.prompt.text.empty()) set(trace::kQuestion, item.prompt.text);
    if (!prompt.rendered.empty()) set(trace::kPromptText, prompt.rendered);
    if (tokenizer_) {
      std::vector<std::string> texts;
      for (const auto id : row) texts.push_back(tokenizer_->token_text(id));
      set(trace::kTokenTexts, trace::format_text_list(texts));
      set(trace::kAnswerText,
          answer_text(*tokenizer_, machine.generated(), end_tokens(model_, options_.decode, tokenizer_)));
    }
    return sample;
  }

  const Context& context_;
  model::Model& model_;
  const TraceOptions& options_;
  const observe::Plan& plan_;
  std::optional<text::Tokenizer> tokenizer_;
};

void trace_run(const TraceOptions& options) {
  const observe::Plan plan = observe::parse_plan(options.observe, options.layers, options.steps);
  const auto items = read_items(options);
  auto [model, tokenizer] = load_model(options.model);

  trace::Manifest manifest = describe_run(model, options.decode);
  manifest.storage = options.float16 ? trace::Storage::kF16 : trace::Storage::kF32;
  manifest.probe = Json({{"observe", plan.names()},
                         {"layers", options.layers},
                         {"steps", options.steps},
                         {"groups", observe::group_names()}})
                       .dump();
  for (const auto& item : items) manifest.sample_ids.push_back(item.id);

  const size_t first_prompt = make_prompt(items[0].prompt, options.model.folder, tokenizer).ids.size();
  const size_t first_row = first_prompt + static_cast<size_t>(std::max(options.decode.max_new_tokens, 0));
  const std::uint64_t each =
      observe::Recorder(plan, subject_of(model, options, first_prompt, first_row)).expected_bytes();
  fmt::print(
      stderr, "{} sample{}, about {} each{}\n", items.size(), items.size() == 1 ? "" : "s",
      describe_bytes(options.float16 ? each / 2 : each),
      items.size() > 1
          ? fmt::format(", {} in all", describe_bytes((options.float16 ? each / 2 : each) * items.size()))
          : "");

  ThreadPool threads(thread_count(options.model));
  const Context context{threads};
  auto writer = options.resume ? trace::TraceWriter::resume(options.out, manifest)
                               : trace::TraceWriter::create(options.out, manifest);
  Tracer tracer(context, model, options, plan, tokenizer);
  Progress progress(stderr, "sample", static_cast<std::int64_t>(items.size()));
  std::int64_t failed = 0;
  for (size_t n = 0; n < items.size(); ++n) {
    if (!writer.has(items[n].id)) {
      try {
        writer.write(tracer.run(items[n], n));
      } catch (const UsageError& error) {
        writer.write_failure(items[n].id, error.what());
        ++failed;
      } catch (const InputError& error) {
        writer.write_failure(items[n].id, error.what());
        ++failed;
      }
    }
    progress.advance();
  }
  writer.finish();
  fmt::print("{}: {} samples{}\n", options.out, items.size() - static_cast<size_t>(failed),
             failed > 0 ? fmt::format(", {} failed (listed in manifest.json)", failed) : "");
  if (failed == static_cast<std::int64_t>(items.size()))
    throw InputError(options.out + ": every sample failed; see manifest.json");
}

}  // namespace

void add_trace(CLI::App& app) {
  auto* command = app.add_subcommand("trace", "decode and store what attention did, step by step");
  auto options = std::make_shared<TraceOptions>();
  add_model_options(*command, options->model);
  add_prompt_options(*command, options->prompt, "--prompt");
  command->add_option("--ids", options->prompt.ids,
                      "token ids instead of text, as in 1,2,3 (needs no tokenizer)");
  command->add_option("--data", options->data, "JSON Lines with \"prompt\" or \"question\", and \"id\"")
      ->type_name("F.jsonl");
  command->add_option("--limit", options->limit, "only the first N of --data");
  command->add_option("--out", options->out, "folder of the trace")->required()->type_name("DIR");
  command->add_option("--observe", options->observe, "what to observe (default: received,entropy)");
  command->add_option("--layers", options->layers, "only these layers, as in 0-3,31");
  command->add_option("--steps-observed", options->steps, "only these denoising steps, as in 0,8,16-31");
  command->add_flag("--float16", options->float16, "store in half the space");
  command->add_flag("--resume", options->resume, "continue a run that was interrupted");
  add_decode_options(*command, options->decode);
  command->footer(
      observe::describe_observables() +
      "\nThe trace is described in docs/trace-format.md; python/buoy_trace.py reads it with numpy.\n"
      "Example: buoy trace --model DIR --prompt \"Hello\" --max-new-tokens 32 --observe all --out "
      "traces/hello");
  command->callback([options] { trace_run(*options); });
}

}  // namespace buoy::app
