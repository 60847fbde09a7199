#pragma once

#include <optional>
#include <span>
#include <string>

#include "buoy/text/chat/jinja/jinja_date.h"

namespace buoy::text {

struct Message {
  std::string role;
  std::string content;
};

struct ChatOptions {
  bool add_generation_prompt = true;    // open the assistant's turn; some templates always do
  std::optional<bool> enable_thinking;  // for templates that think; not given: as they do by themselves
  // What templates are told of the day: "26 Jul 2024" unless chosen, so that a run can be repeated.
  std::optional<jinja::Date> date;
};

// UsageError for an empty conversation, InputError for text that is not well-formed UTF-8.
void check_conversation(std::span<const Message> messages);

}  // namespace buoy::text
