#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "buoy/run/chat_choice.h"

namespace buoy::run {

// Counts the tokens of prompts as the model of a folder reads them: in its chat template where `chat` says
// so, with the special tokens that its tokenizer puts around them. InputError for a folder without a
// tokenizer that can be used.
std::function<std::size_t(const std::string& prompt)> prompt_token_counter(
    const std::filesystem::path& folder, const ChatChoice& chat);

}  // namespace buoy::run
