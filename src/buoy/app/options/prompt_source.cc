#include "buoy/app/options/prompt_source.h"

#include "buoy/app/options/data_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/questions/data/item_reader.h"

namespace buoy::app {
namespace {

constexpr char kPromptId[] = "prompt";

}  // namespace

void add_prompt_source(Command& command, PromptSource& source) {
  auto* text = add_prompt_options(command, source.prompt);
  add_ids_option(command, source.prompt);
  auto* data = add_data_option(command, source.data);
  data->excludes(text)->excludes(command.get_option("--file"))->excludes(command.get_option("--ids"));
  add_limit_option(command, source.limit)->needs(data);
  source.fields = add_field_option(command);
  command.get_option("--field")->needs(data);
  add_template_option(command, source.prompt_template)->needs(data);
  add_passages_option(command, source.passages)->needs(data);
  add_gold_position_option(command, source.gold_position)->needs(data);
}

std::vector<questions::Item> read_prompt_items(const PromptSource& source) {
  if (source.data.empty()) {
    questions::Item item;
    item.id = kPromptId;
    item.question = prompt_text(source.prompt);
    return {item};
  }
  questions::ReadOptions options;
  options.require_answers = false;
  options.fields = parse_fields(*source.fields);
  if (source.limit > 0) options.limit = static_cast<size_t>(source.limit);
  return questions::read_items(source.data, options);
}

}  // namespace buoy::app
