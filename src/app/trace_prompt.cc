#include "app/trace_prompt.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "evaluate/chat_prompt.h"
#include "evaluate/item_reader.h"
#include "evaluate/passages.h"
#include "evaluate/prompt_template.h"
#include "evaluate/token_regions.h"
#include "trace/schema.h"

namespace buoy::app {
namespace {

constexpr char kPromptId[] = "prompt";

// Text given on the command line is the query as a whole.
evaluate::RenderedPrompt plain(const std::string& text) {
  return {text, {{std::string(evaluate::kQueryRegion), 0, text.size()}}, {}};
}

evaluate::RenderedPrompt render(const PromptSource& source, const evaluate::Item& item) {
  if (!source.prompt_template.empty())
    return evaluate::PromptTemplate::load(source.prompt_template).render(item);
  if (item.prompt) return evaluate::ready_prompt(item);
  if (!item.passages.empty()) return evaluate::PromptTemplate::load("shared-passages").render(item);
  return plain(item.question);
}

evaluate::Item arranged(evaluate::Item item, const PromptSource& source) {
  if (source.gold_position > 0) evaluate::place_gold(item, static_cast<size_t>(source.gold_position));
  if (source.passages >= 0) evaluate::keep_first(item, static_cast<size_t>(source.passages));
  return item;
}

std::vector<std::string> gold_regions(const evaluate::Item& item) {
  std::vector<std::string> names;
  for (const auto position : evaluate::gold_positions(item))
    names.push_back(evaluate::document_region(position));
  return names;
}

}  // namespace

void add_prompt_source(CLI::App& command, PromptSource& source) {
  add_prompt_options(command, source.prompt, "--prompt");
  command.add_option("--ids", source.prompt.ids,
                     "token ids instead of text, as in 1,2,3 (needs no tokenizer)");
  command.add_option("--data", source.data, "questions, JSON Lines, plain or gzip (docs/data-formats.md)")
      ->type_name("F.jsonl");
  command.add_option("--limit", source.limit, "only the first N of --data")->check(CLI::NonNegativeNumber);
  command
      .add_option("--template", source.prompt_template,
                  "prompt template for --data: a built-in name or a file (docs/data-formats.md)")
      ->type_name("NAME|FILE");
  command.add_option("--passages", source.passages, "at most this many passages per question; 0: none")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--gold-position", source.gold_position, "move the gold passage to this place, from 1")
      ->check(CLI::PositiveNumber);
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
  if (source.limit > 0) options.limit = static_cast<size_t>(source.limit);
  return evaluate::read_items(source.data, options);
}

TracePrompt make_trace_prompt(const PromptSource& source, const evaluate::Item& original,
                              const std::filesystem::path& folder,
                              const std::optional<text::Tokenizer>& tokenizer) {
  const evaluate::Item item = arranged(original, source);
  TracePrompt out{item.id, item.question, item.answers, {}, {}};
  if (!source.prompt.ids.empty()) {
    out.prompt = make_prompt(source.prompt, folder, tokenizer);
    out.regions.names = {"prompt"};
    out.regions.of_token.assign(out.prompt.ids.size(), 0);
    return out;
  }
  if (!tokenizer) {
    throw_input_error({folder.string(), "tokenizer.json, or vocab.json and merges.txt, to encode text",
                       "neither (with --ids no tokenizer is needed)"});
  }
  evaluate::RenderedPrompt rendered = render(source, item);
  if (rendered.text.empty()) throw_usage_error({"prompt", "some text", "an empty prompt"});
  if (source.prompt.chat) {
    const auto chat = [&](const std::string& text) {
      return render_user_message(source.prompt, folder, text);
    };
    rendered = evaluate::in_chat(rendered, chat(rendered.text), evaluate::message_begin(chat));
  }
  auto encoding = tokenizer->encode(rendered.text, !source.prompt.chat);
  const bool first_is_bos = !encoding.ids.empty() && tokenizer->is_special(encoding.ids[0]);
  const auto tokens = evaluate::regions_of_tokens(encoding.spans, rendered.regions, first_is_bos);
  if (tokens.names.size() + 1 >= trace::kNoRegion) {
    throw_input_error({"item " + item.id, fmt::format("fewer than {} regions", trace::kNoRegion - 1),
                       fmt::format("{}", tokens.names.size())});
  }
  out.regions.names = tokens.names;
  out.regions.of_token.assign(tokens.region_of_token.begin(), tokens.region_of_token.end());
  if (!item.passages.empty()) {
    out.regions.evidence.assign(encoding.ids.size(), 0);
    for (const auto token : evaluate::tokens_touching(encoding.spans, rendered.evidence))
      out.regions.evidence[static_cast<size_t>(token)] = 1;
    for (auto& name : gold_regions(item)) {
      if (std::find(tokens.names.begin(), tokens.names.end(), name) != tokens.names.end())
        out.regions.gold.push_back(std::move(name));
    }
  }
  out.prompt = {std::move(encoding.ids), std::move(rendered.text), std::move(encoding.spans)};
  return out;
}

void add_answer(observe::Regions& regions, std::int64_t slots) {
  const auto answer = static_cast<std::uint8_t>(regions.names.size());
  regions.names.emplace_back(evaluate::kAnswerRegion);
  regions.of_token.insert(regions.of_token.end(), static_cast<size_t>(slots), answer);
  if (!regions.evidence.empty())
    regions.evidence.insert(regions.evidence.end(), static_cast<size_t>(slots), 0);
}

}  // namespace buoy::app
