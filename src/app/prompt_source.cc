#include "app/prompt_source.h"

#include "app/data_options.h"
#include "base/error.h"
#include "base/files.h"
#include "evaluate/item_reader.h"

namespace buoy::app {
namespace {

constexpr char kPromptId[] = "prompt";

}  // namespace

void add_prompt_source(Command& command, PromptSource& source) {
  add_prompt_options(command, source.prompt, "--prompt");
  command.add_option("--ids", source.prompt.ids,
                     "token ids instead of text, as in 1,2,3 (needs no tokenizer)");
  auto* data =
      command
          .add_option("--data", source.data, "questions, JSON Lines, plain or gzip (docs/data-formats.md)")
          ->type_name("F.jsonl");
  command.add_option("--limit", source.limit, "only the first N of --data")->positive()->needs(data);
  source.fields = add_field_option(command);
  command.get_option("--field")->needs(data);
  command
      .add_option("--template", source.prompt_template,
                  "prompt template for --data: a built-in name or a file (docs/data-formats.md)")
      ->type_name("NAME|FILE")
      ->needs(data);
  command.add_option("--passages", source.passages, "at most this many passages per question; 0: none")
      ->nonnegative()
      ->needs(data);
  command.add_option("--gold-position", source.gold_position, "move the gold passage to this place, from 1")
      ->positive()
      ->needs(data);
}

std::vector<evaluate::Item> read_prompt_items(const PromptSource& source) {
  if (source.data.empty()) {
    evaluate::Item item;
    item.id = kPromptId;
    item.question = source.prompt.file.empty() ? source.prompt.text : read_file(source.prompt.file);
    return {item};
  }
  if (!source.prompt.text.empty() || !source.prompt.ids.empty() || !source.prompt.file.empty())
    throw_usage_error({"prompt", "--data, --prompt, --file or --ids", "two of them"});
  evaluate::ReadOptions options;
  options.require_answers = false;
  options.fields = parse_fields(*source.fields);
  if (source.limit > 0) options.limit = static_cast<size_t>(source.limit);
  return evaluate::read_items(source.data, options);
}

}  // namespace buoy::app
