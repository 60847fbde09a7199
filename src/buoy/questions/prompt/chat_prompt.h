#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "buoy/questions/prompt/region.h"

namespace buoy::questions {

// A rendered prompt inside the conversation that text::render_chat made of it: the same regions, moved to
// where the prompt stands in `chat`; everything else there is the template's. White space at the prompt's
// ends may have been trimmed, as some chat templates do; regions then end with what is left. `from` is
// where a message begins in such a conversation: the prompt is the first thing there that reads like it.
// UsageError when nothing does.
RenderedPrompt in_chat(const RenderedPrompt& prompt, std::string_view chat, std::size_t from);

// Where the message begins in what `render` makes of it.
std::size_t message_begin(const std::function<std::string(const std::string&)>& render);

}  // namespace buoy::questions
