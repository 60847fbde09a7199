#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "buoy/text/chat/chat_template.h"

// Any text as a chat template, rendered for two conversations. Only buoy::Error may come out; what is
// rendered is well-formed text and does not take long.

namespace {

using buoy::text::jinja::Limits;
using buoy::text::jinja::Template;
using buoy::text::jinja::Value;
using buoy::text::jinja::Values;

Value text(const char* bytes) {
  return Value(buoy::text::jinja::Text{std::make_shared<const std::string>(bytes)});
}

Value conversation(const std::vector<std::pair<const char*, const char*>>& messages) {
  buoy::text::jinja::Budget budget{Limits{}};
  Values list;
  for (const auto& [role, content] : messages) {
    list.push_back(
        buoy::text::jinja::make_dict(budget, {{text("role"), text(role)}, {text("content"), text(content)}}));
  }
  return buoy::text::jinja::make_list(budget, std::move(list));
}

void render(const Template& read, const Value& messages) {
  const buoy::text::jinja::Variables variables = {{"messages", messages},
                                                  {"tools", Value()},
                                                  {"bos_token", text("<s>")},
                                                  {"add_generation_prompt", Value(true)},
                                                  {"number", Value(std::int64_t{7})},
                                                  {"half", Value(0.5)}};
  try {
    const std::string out = read.render(variables, {}, {.steps = 20'000, .bytes = 1 << 21, .depth = 300});
    if (buoy::first_invalid_utf8(out) < out.size()) std::abort();
  } catch (const buoy::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Value question = conversation({{"user", " Wo ist die B\u00F6je? "}});
  static const Value turns = conversation({{"system", "Be brief."},
                                           {"user", "H\u00e4?\n"},
                                           {"assistant", "<think>\na\n</think>\n\nb"},
                                           {"user", "\U0001F642 it's \"so\""}});
  try {
    const auto read = Template::parse({reinterpret_cast<const char*>(data), size}, "fuzzed");
    render(read, question);
    render(read, turns);
  } catch (const buoy::InputError&) {
  }
  return 0;
}
