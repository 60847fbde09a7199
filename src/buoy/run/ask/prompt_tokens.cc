#include "buoy/run/ask/prompt_tokens.h"

#include <memory>
#include <optional>

#include "buoy/run/loaded_model.h"

namespace buoy::run {

std::function<std::size_t(const std::string& prompt)> prompt_token_counter(
    const std::filesystem::path& folder, const ChatChoice& chat) {
  if (!has_tokenizer(folder)) need_tokenizer(std::nullopt, folder);
  const auto tokenizer = std::make_shared<const text::Tokenizer>(text::Tokenizer::load(folder));
  const auto renderer =
      chat.use ? std::make_shared<const ChatRenderer>(chat, folder) : std::shared_ptr<const ChatRenderer>();
  return [tokenizer, renderer](const std::string& prompt) {
    return renderer ? tokenizer->encode(renderer->user_message(prompt), false).ids.size()
                    : tokenizer->encode(prompt, true).ids.size();
  };
}

}  // namespace buoy::run
