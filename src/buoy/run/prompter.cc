#include "buoy/run/prompter.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/questions/prompt/builtin_prompts.h"
#include "buoy/questions/prompt/chat_prompt.h"
#include "buoy/questions/prompt/token_regions.h"
#include "buoy/trace/rows/answer_rows.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

// A question without any template is the query as a whole.
questions::RenderedPrompt plain(const std::string& text) {
  const std::vector<questions::RegionSpan> all = {{std::string(questions::kQueryRegion), 0, text.size()}};
  return {text, all, {}, all};
}

std::vector<std::string> gold_regions(const questions::Item& item) {
  std::vector<std::string> names;
  for (const auto position : questions::gold_positions(item))
    names.push_back(questions::document_region(position));
  return names;
}

}  // namespace

Prompter::Prompter(const std::string& prompt_template, const ChatChoice& chat,
                   const std::filesystem::path& folder, std::optional<text::Tokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)) {
  if (chat.use) chat_.emplace(chat, folder);
  ready_alone_ = prompt_template == questions::kReadyPrompts;
  if (!prompt_template.empty() && !ready_alone_) template_ = questions::PromptTemplate::load(prompt_template);
}

bool Prompter::is_ready(const questions::Item& item) const {
  return item.prompt && (!template_ || item.question.empty());
}

questions::Item Prompter::arranged(const questions::Item& item, const Arrangement& arrangement,
                                   const NoiseDraw& draw) const {
  if (is_ready(item) && !item.passages.empty() && !arrangement.leaves_passages_alone())
    throw_input_error({fmt::format("item {}: passages to choose or move", item.id),
                       "a prompt that is made from a template", "a ready prompt"});
  return arrange(item, arrangement, draw);
}

questions::Item Prompter::without_passage(const questions::Item& item, std::size_t n) const {
  questions::Item out = item;
  out.passages.erase(out.passages.begin() + static_cast<std::ptrdiff_t>(n));
  if (!is_ready(item)) return out;
  const auto rendered = questions::ready_prompt(item);
  const auto at = std::find_if(rendered.regions.begin(), rendered.regions.end(), [&](const auto& region) {
    return region.name == questions::document_region(n + 1);
  });
  if (at == rendered.regions.end())
    throw_input_error({fmt::format("item {}: ready prompt", item.id),
                       fmt::format("passage {} word for word, to leave it out", n + 1), "no such text"});
  out.prompt->erase(at->begin, at->end - at->begin);
  return out;
}

questions::RenderedPrompt Prompter::render(const questions::Item& item) const {
  questions::RenderedPrompt rendered;
  if (ready_alone_ && !item.prompt)
    throw_input_error({fmt::format("item {}: prompt", item.id),
                       fmt::format("a ready one, as the template \"{}\" means", questions::kReadyPrompts),
                       "none"});
  if (is_ready(item)) {
    rendered = questions::ready_prompt(item);
  } else if (template_) {
    rendered = template_->render(item);
  } else if (!item.passages.empty()) {
    rendered = questions::PromptTemplate::load("shared-passages").render(item);
  } else {
    rendered = plain(item.question);
  }
  if (rendered.text.empty())
    throw_input_error({fmt::format("item {}: prompt", item.id), "some text", "an empty prompt"});
  if (!chat_) return rendered;
  const auto chat = [&](const std::string& text) { return chat_->user_message(text); };
  return questions::in_chat(rendered, chat(rendered.text), questions::message_begin(chat));
}

text::Encoding Prompter::encode(const std::string& rendered) const {
  if (tokenizer_) return tokenizer_->encode(rendered, !chat_);
  constexpr std::uint32_t kBytes = 4;
  text::Encoding guess;
  const auto size = static_cast<std::uint32_t>(rendered.size());
  for (std::uint32_t at = 0; at < size; at += kBytes) {
    guess.ids.push_back(0);
    guess.spans.push_back({at, std::min(at + kBytes, size)});
  }
  return guess;
}

ItemPrompt Prompter::prompt(const questions::Item& item) const {
  ItemPrompt out{item.id, item.question, item.answers, {}, {}};
  questions::RenderedPrompt rendered = render(item);
  auto encoding = encode(rendered.text);
  if (encoding.ids.empty())
    throw_input_error({fmt::format("item {}: prompt", item.id), "at least one token", "none"});
  const bool first_is_bos = tokenizer_ && tokenizer_->is_special(encoding.ids[0]);
  const auto tokens = questions::regions_of_tokens(encoding.spans, rendered.regions, first_is_bos);
  if (tokens.names.size() + 2 >= trace::kNoRegion) {
    throw_input_error({"item " + item.id, fmt::format("fewer than {} regions", trace::kNoRegion - 2),
                       fmt::format("{}", tokens.names.size())});
  }
  out.regions.names = tokens.names;
  out.regions.of_token.assign(tokens.region_of_token.begin(), tokens.region_of_token.end());
  out.regions.template_text = questions::tokens_outside(encoding.spans, rendered.filled);
  if (!item.passages.empty()) {
    out.regions.evidence.assign(encoding.ids.size(), 0);
    for (const auto token : questions::tokens_touching(encoding.spans, rendered.evidence))
      out.regions.evidence[static_cast<size_t>(token)] = 1;
    for (auto& name : gold_regions(item)) {
      if (std::find(tokens.names.begin(), tokens.names.end(), name) != tokens.names.end())
        out.regions.gold.push_back(std::move(name));
    }
  }
  out.prompt = {std::move(encoding.ids), std::move(rendered.text), std::move(encoding.spans)};
  return out;
}

std::optional<questions::FitResult> Prompter::fit(questions::Item& item, std::size_t budget) const {
  const auto count = [&](const questions::Item& candidate) {
    return encode(render(candidate).text).ids.size();
  };
  if (count(item) <= budget) return std::nullopt;
  return questions::fit_passages(item, budget, count);
}

ItemPrompt prompt_of_ids(const questions::Item& item, Prompt prompt) {
  ItemPrompt out{item.id, item.question, item.answers, std::move(prompt), {}};
  out.regions.names = {std::string(questions::kPromptRegion)};
  out.regions.of_token.assign(out.prompt.ids.size(), 0);
  return out;
}

void add_answer(observe::Regions& regions, std::int64_t slots) {
  const auto answer = static_cast<std::uint8_t>(regions.names.size());
  regions.names.emplace_back(questions::kAnswerRegion);
  regions.names.emplace_back(trace::kPaddingName);  // empty until an end token is seen
  regions.of_token.insert(regions.of_token.end(), static_cast<size_t>(slots), answer);
  if (!regions.evidence.empty())
    regions.evidence.insert(regions.evidence.end(), static_cast<size_t>(slots), 0);
  if (!regions.template_text.empty())
    regions.template_text.insert(regions.template_text.end(), static_cast<size_t>(slots), 0);
}

}  // namespace buoy::run
