#include "buoy/text/chat/chat_template.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/text/chat/chat_style.h"
#include "support/temp_folder.h"
#include "text/support.h"

namespace buoy::text {
namespace {

const std::vector<Message> kQuestion = {{"user", " Hi "}};

std::string render(const std::string& text, const ChatOptions& options = {},
                   const ChatTemplate::SpecialTokens& tokens = {}) {
  return ChatTemplate::parse(text, "t", tokens).render(kQuestion, options);
}

// Forms of the released templates, in our own words.
const std::string kHeaderForm =
    "{%- for m in messages -%}{%- if loop.first %}{{ bos_token }}{% endif -%}"
    "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m['content'] | trim }}<|eot_id|>{%- endfor -%}";
const std::string kHeaderTurn = "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}";

std::string chatml_form(const std::string& default_system) {
  return "{%- if messages[0].role != 'system' %}{{ '<|im_start|>system\\n" + default_system +
         "<|im_end|>\\n' }}{%- endif %}"
         "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{%- "
         "endfor %}"
         "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}";
}

const std::string kDatedForm =
    "{{- bos_token }}{%- if not date_string is defined %}{%- set date_string = '26 Jul 2024' %}{%- endif %}"
    "{%- set system = '' %}{%- set rest = messages %}{%- if messages[0]['role'] == 'system' %}"
    "{%- set system = messages[0]['content'] | trim %}{%- set rest = messages[1:] %}{%- endif %}"
    "{{- '<|start_header_id|>system<|end_header_id|>\\n\\nCutting Knowledge Date: December 2023\\nToday "
    "Date: ' + "
    "date_string + '\\n\\n' + system + '<|eot_id|>' }}"
    "{%- for m in rest %}{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content | trim + "
    "'<|eot_id|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}" +
    kHeaderTurn + "{%- endif %}";

struct Family {
  std::string style, text, bos;
};

const Family kFamilies[] = {
    {"llada", kHeaderForm + kHeaderTurn, "<|startoftext|>"},
    {"llama3-first", kHeaderForm + kHeaderTurn, "<|begin_of_text|>"},
    {"llama3", kHeaderForm + "{% if add_generation_prompt %}" + kHeaderTurn + "{% endif %}",
     "<|begin_of_text|>"},
    {"llama3.1", kDatedForm, "<|begin_of_text|>"},
    {"qwen2.5", chatml_form("You are Qwen, created by Alibaba Cloud. You are a helpful assistant."), ""},
    {"dream", chatml_form("You are a helpful assistant."), ""},
};

// The styles written by hand and templates of the same families agree, on every conversation that is kept of
// the released ones.
TEST(ChatTemplate, FamiliesRenderAsTheStylesWrittenByHand) {
  const Json file = chat_renderings();
  std::size_t compared = 0;
  for (const Family& family : kFamilies) {
    const auto read = ChatTemplate::parse(family.text, family.style, {{"bos_token", family.bos}});
    for (const Json& conversation : file.at("conversations")) {
      std::vector<Message> messages;
      for (const Json& message : conversation)
        messages.push_back({message.at("role"), message.at("content")});
      for (const bool open : {true, false}) {
        ChatOptions options;
        options.add_generation_prompt = open;
        if (!open) options.date = jinja::Date{2026, 1, 1};
        EXPECT_EQ(read.render(messages, options),
                  render_chat(*chat_style_from_name(family.style), messages, options))
            << family.style << conversation;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 150U);
}

TEST(ChatTemplate, TemplatesAreToldWhatTransformersTellsThem) {
  EXPECT_EQ(render("{{ messages }}"), "[{'role': 'user', 'content': ' Hi '}]");
  EXPECT_EQ(render("{{ tools is none }} {{ documents is none }} {{ tools is defined }}"), "True True True");
  EXPECT_EQ(render("{{ add_generation_prompt }}"), "True");
  EXPECT_EQ(render("{{ add_generation_prompt }}",
                   {.add_generation_prompt = false, .enable_thinking = {}, .date = {}}),
            "False");
  EXPECT_EQ(render("{{ enable_thinking is defined }} {{ date_string is defined }}"), "False False");
  EXPECT_EQ(
      render("{{ enable_thinking }} {{ date_string }} {{ strftime_now('%Y') }}",
             {.add_generation_prompt = true, .enable_thinking = false, .date = jinja::Date{2026, 1, 2}}),
      "False 02 Jan 2026 2026");
  EXPECT_EQ(render("{{ bos_token }}|{{ eos_token }}|{{ other is defined }}", {}, {{"bos_token", "<s>"}}),
            "<s>||False");
}

TEST(ChatTemplate, TextThatLooksLikeAMarkerStaysText) {
  const auto read = ChatTemplate::parse("{% for m in messages %}[{{ m.content }}]{% endfor %}", "t", {});
  const std::vector<Message> messages = {{"user", "{{ bos_token }} {% raw %} <|im_end|>"}};
  EXPECT_EQ(read.render(messages, {}), "[{{ bos_token }} {% raw %} <|im_end|>]");
}

TEST(ChatTemplate, RefusesConversationsThatAreNone) {
  const auto read = ChatTemplate::parse("a", "t", {});
  EXPECT_THROW(read.render({}, {}), UsageError);
  const std::vector<Message> broken = {{"user", "a\xFF"}};
  EXPECT_THROW(read.render(broken, {}), InputError);
}

TEST(ChatTemplate, TheFileThatTransformersTakesIsTaken) {
  const testing::TempFolder folder;
  const auto rendered = [&] { return ChatTemplate::find(folder.path())->render(kQuestion, {}); };
  const auto config = [](const Json& chat_template) {
    return Json{{"bos_token", {{"content", "<s>"}}}, {"chat_template", chat_template}}.dump();
  };
  EXPECT_FALSE(ChatTemplate::find(folder.path()));
  folder.write("chat_template.json", Json{{"chat_template", "json {{ bos_token }}"}}.dump());
  EXPECT_EQ(rendered(), "json ");
  folder.write("tokenizer_config.json", Json{{"bos_token", "<s>"}}.dump());
  EXPECT_EQ(rendered(), "json <s>");
  folder.write("tokenizer_config.json", config("config {{ bos_token }}"));
  EXPECT_EQ(rendered(), "config <s>");
  folder.write("tokenizer_config.json",
               config({{{"name", "tool_use"}, {"template", "tools"}},
                       {{"name", "default"}, {"template", "listed {{ bos_token }}"}}}));
  EXPECT_EQ(rendered(), "listed <s>");
  folder.write("tokenizer_config.json", config({{{"name", "tool_use"}, {"template", "tools"}}}));
  EXPECT_NE(error_message<InputError>(rendered).find("a template named \"default\""), std::string::npos);
  folder.write("chat_template.jinja", "file {{ bos_token }}\n");
  EXPECT_EQ(rendered(), "file <s>");
  folder.write("chat_template.jinja", "\n{{ x | from_json }}");
  const std::string message = error_message<InputError>(rendered);
  for (const char* part : {"chat_template.jinja, line 2", "filter from_json"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(ChatTemplate, SpecialTokensComeFromTheFilesThatTransformersReads) {
  const testing::TempFolder folder;
  folder.write("chat_template.jinja",
               "{{ bos_token }} {{ eos_token }} {{ image_token }} {{ pad_token is defined }}");
  folder.write("special_tokens_map.json",
               Json{{"bos_token", "<map>"}, {"eos_token", {{"content", "</map>"}}}}.dump());
  const auto rendered = [&] { return ChatTemplate::find(folder.path())->render(kQuestion, {}); };
  EXPECT_EQ(rendered(), "<map> </map>  False");
  folder.write("tokenizer_config.json",
               Json{{"bos_token", "<config>"}, {"pad_token", nullptr}, {"image_token", "<image>"}}.dump());
  EXPECT_EQ(rendered(), "<map> </map> <image> False");
  folder.write("tokenizer_config.json", Json{{"bos_token", "<config>"},
                                             {"extra_special_tokens", {{"image_token", "<extra>"}}},
                                             {"added_tokens_decoder", Json::object()}}
                                            .dump());
  EXPECT_EQ(rendered(), "<config>  <extra> False");
}

TEST(ChatTemplate, TheEndOfAnAnswerIsWhatTheTemplatePutsThere) {
  const auto markers = [](const std::string& text, const ChatTemplate::SpecialTokens& tokens) {
    return ChatTemplate::parse(text, "t", tokens).end_markers();
  };
  EXPECT_EQ(
      markers(kHeaderForm + kHeaderTurn, {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"pad_token", "<p>"}}),
      (std::vector<std::string>{"</s>", "<p>",
                                "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"}));
  EXPECT_EQ(markers(chatml_form("x"), {}), std::vector<std::string>{"<|im_end|>\n"});
  EXPECT_TRUE(markers("{{ raise_exception('no') }}", {}).empty());
}

// tools/fetch_tokenizers brings these; the styles were checked against them before.
TEST(ChatTemplate, ReleasedTemplatesRenderAsTheirStyles) {
  const std::pair<const char*, const char*> released[] = {
      {"llama3", "llama3-first"}, {"llama31", "llama3"}, {"qwen2_5", "qwen2.5"}, {"qwen3", "qwen3"}};
  const Json file = chat_renderings();
  for (const auto& [name, style] : released) {
    BUOY_NEEDS_TOKENIZER(folder, name);
    const auto read = ChatTemplate::find(*folder);
    ASSERT_TRUE(read) << name;
    for (const Json& conversation : file.at("conversations")) {
      std::vector<Message> messages;
      for (const Json& message : conversation)
        messages.push_back({message.at("role"), message.at("content")});
      EXPECT_EQ(read->render(messages, {}), render_chat(*chat_style_from_name(style), messages, {}))
          << name << conversation;
    }
  }
}

}  // namespace
}  // namespace buoy::text
