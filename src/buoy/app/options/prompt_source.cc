#include "buoy/app/options/prompt_source.h"

#include "buoy/app/options/data_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/error.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/questions/data/item_reader.h"

namespace buoy::app {
namespace {

constexpr char kPromptId[] = "prompt";

}  // namespace

void add_prompt_source(Command& command, PromptSource& source, RequestFlags& flags) {
  auto* text = add_prompt_options(command, source.prompt);
  add_ids_option(command, source.prompt);
  auto* data = add_data_option(command, source.data);
  data->excludes(text)->excludes(command.get_option("--file"))->excludes(command.get_option("--ids"));
  add_limit_option(command, flags.limit)->needs(data);
  flags.fields = add_field_option(command);
  command.get_option("--field")->needs(data);
  add_template_option(command, flags.request.prompt_template)->needs(data);
  add_passages_option(command, flags.request.arrangement.passages)->needs(data);
  add_gold_position_option(command, flags.request.arrangement.gold_position)->needs(data);
}

std::vector<questions::Item> read_prompt_items(const PromptSource& source,
                                               const questions::ReadOptions& read) {
  if (source.data.empty()) {
    questions::Item item;
    item.id = kPromptId;
    item.question = prompt_text(source.prompt);
    if (item.question.empty() && source.prompt.ids.empty())
      throw_usage_error({"prompt", "some text", "an empty prompt"});
    return {item};
  }
  return questions::read_items(source.data, read);
}

run::TraceRequest read_prompt_request(const PromptSource& source, RequestFlags flags) {
  flags.chat = source.prompt.chat;
  flags.request.read.require_answers = false;
  run::TraceRequest request;
  static_cast<run::Request&>(request) = read_request(flags);
  request.items = read_prompt_items(source, request.read);
  return request;
}

run::LoadedModel load_model_for(const PromptSource& source, const ModelOptions& model,
                                run::TraceRequest& request) {
  const auto folder = find_model(model.folder);
  run::check_decoding(read_config(folder), request.decode);
  const bool given_as_ids = !source.prompt.ids.empty();
  if (!given_as_ids) request.chat = settle_chat(source.prompt.chat, folder);
  auto loaded = load_model(model);
  if (given_as_ids)
    request.ids = make_prompt(source.prompt, loaded.model.checkpoint().folder(), loaded.tokenizer);
  request.device = loaded.model.device();
  return loaded;
}

}  // namespace buoy::app
