#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "text/chat_template.h"

namespace buoy::text {

// Which released template a text is, told by what only that template holds; nothing when none fits.
// LLaDA's and Llama 3's differ in the tokenizer's `bos_token` alone.
std::optional<ChatStyle> recognize_template(std::string_view chat_template, std::string_view bos_token);

// The style of a checkpoint folder, from chat_template.jinja, chat_template.json or tokenizer_config.json
// (the first of them that has a template). InputError when there is none, or one Buoy does not know.
ChatStyle detect_chat_style(const std::filesystem::path& folder);

}  // namespace buoy::text
