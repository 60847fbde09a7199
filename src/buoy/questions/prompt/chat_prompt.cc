#include "buoy/questions/prompt/chat_prompt.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/text/python_strip.h"

namespace buoy::questions {
namespace {

struct Placement {
  ByteRange kept;          // bytes of the prompt that are in the chat
  std::size_t begin_at{};  // where kept.begin is in the chat
};

std::size_t find_core(std::string_view core, std::string_view chat, std::size_t from) {
  if (core.empty()) throw_usage_error({"chat", "a prompt that is not blank", "a blank one"});
  const std::size_t at = chat.find(core, from);
  if (at == std::string_view::npos)
    throw_usage_error({"chat", "the prompt in the rendered conversation", "no such text"});
  return at;
}

// From the prompt without the white space at its ends, grown into that white space as far as the chat has it.
Placement place(std::string_view prompt, std::string_view chat, std::size_t from) {
  const std::string_view core = text::python_strip(prompt);
  Placement placement;
  placement.begin_at = find_core(core, chat, from);
  placement.kept.begin = core.empty() ? 0 : static_cast<std::size_t>(core.data() - prompt.data());
  placement.kept.end = placement.kept.begin + core.size();
  std::size_t chat_end = placement.begin_at + core.size();
  while (placement.kept.begin > 0 && placement.begin_at > 0 &&
         prompt[placement.kept.begin - 1] == chat[placement.begin_at - 1]) {
    --placement.kept.begin;
    --placement.begin_at;
  }
  while (placement.kept.end < prompt.size() && chat_end < chat.size() &&
         prompt[placement.kept.end] == chat[chat_end]) {
    ++placement.kept.end;
    ++chat_end;
  }
  return placement;
}

std::vector<RegionSpan> moved(const std::vector<RegionSpan>& spans, const Placement& placement) {
  std::vector<RegionSpan> result;
  for (const RegionSpan& span : spans) {
    const std::size_t begin = std::max(span.begin, placement.kept.begin);
    const std::size_t end = std::min(span.end, placement.kept.end);
    if (begin >= end) continue;
    const auto move = [&](std::size_t at) { return at - placement.kept.begin + placement.begin_at; };
    result.push_back({span.name, move(begin), move(end)});
  }
  return result;
}

}  // namespace

std::size_t message_begin(const std::function<std::string(const std::string&)>& render) {
  const std::string marker = "\x01the message\x01";
  return find_core(marker, render(marker), 0);
}

RenderedPrompt in_chat(const RenderedPrompt& prompt, std::string_view chat, std::size_t from) {
  const Placement placement = place(prompt.text, chat, from);
  return {std::string(chat), moved(prompt.regions, placement), moved(prompt.evidence, placement),
          moved(prompt.filled, placement)};
}

}  // namespace buoy::questions
