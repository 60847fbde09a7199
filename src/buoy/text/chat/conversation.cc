#include "buoy/text/chat/conversation.h"

#include <fmt/format.h>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"

namespace buoy::text {

void check_conversation(std::span<const Message> messages) {
  if (messages.empty()) throw_usage_error({"chat", "at least one message", "none"});
  for (const Message& message : messages) {
    for (const std::string* part : {&message.role, &message.content}) {
      const size_t stray = first_invalid_utf8(*part);
      if (stray == part->size()) continue;
      throw_input_error(
          {"chat message", "well-formed UTF-8", fmt::format("a stray byte at offset {}", stray)});
    }
  }
}

}  // namespace buoy::text
