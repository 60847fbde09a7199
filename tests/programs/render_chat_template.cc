// Renders conversations with chat templates, for tools/check_chat_templates. Every line of standard input is
// an object {"template", "messages", "tokens", "add_generation_prompt"} with "enable_thinking" and "date"
// where chosen; every line of standard output is {"rendered": text} or {"refused": reason}.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/text/chat/chat_template.h"

namespace {

using namespace buoy;

std::string render(const Json& request) {
  const auto read = text::ChatTemplate::parse(request.at("template"), "template", request.at("tokens"));
  std::vector<text::Message> messages;
  for (const Json& message : request.at("messages"))
    messages.push_back({message.at("role"), message.at("content")});
  text::ChatOptions options;
  options.add_generation_prompt = request.at("add_generation_prompt");
  if (request.contains("enable_thinking"))
    options.enable_thinking = request.at("enable_thinking").get<bool>();
  if (request.contains("date")) options.date = text::jinja::date_from_text(request.at("date"));
  return read.render(messages, options);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      answer["rendered"] = render(Json::parse(line));
    } catch (const Error& error) {
      answer["refused"] = error.what();
    }
    std::cout << answer.dump() << '\n' << std::flush;
  }
}
