#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::run_buoy;

class Chat : public ::testing::Test {
 protected:
  Chat() { testing::write_talking_model(scratch_ / "model", true); }

  void give_template(const std::string& text) const {
    write_file_atomically(scratch_ / "model" / "tokenizer_config.json",
                          Json{{"bos_token", "<|startoftext|>"}, {"chat_template", text}}.dump());
  }

  testing::ProgramResult tokenize(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"tokenize", "--model", folder_, "--text", "hi", "--chat"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_buoy(arguments);
  }

  // The text that the model would read.
  std::string read_as(const std::vector<std::string>& more = {}) const {
    const auto result = tokenize(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::string text;
    const Json out = Json::parse(result.out);
    for (const Json& token : out["tokens"]) text += token.get<std::string>();
    return text;
  }

  const testing::TempFolder scratch_;
  const std::string folder_ = (scratch_ / "model").string();
};

// By its markers this would be Qwen3's template, which has no BOS and no default system message.
TEST_F(Chat, ATemplateIsRenderedByWhatItDoes) {
  give_template(
      "{{- bos_token }}{%- set ns = namespace(last_query_index=0) %}"
      "{%- if messages[0].role != 'system' %}{{ '<|im_start|>system\\nYou watch buoys.<|im_end|>\\n' }}{%- "
      "endif %}"
      "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{%- endfor "
      "%}"
      "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
      "{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think></think>' }}{%- endif "
      "%}{%- endif %}");
  EXPECT_EQ(read_as(),
            "<|startoftext|><|im_start|>system\nYou watch buoys.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(read_as({"--system", "Be brief.", "--no-thinking"}),
            "<|startoftext|><|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
            "<|im_start|>assistant\n<think></think>");
}

TEST_F(Chat, TheDayIsFixedUnlessChosen) {
  give_template("{{ strftime_now('%d %b %Y') }} {{ messages[0].content }}");
  EXPECT_EQ(read_as(), "26 Jul 2024 hi");
  EXPECT_EQ(read_as({"--chat-date", "2026-01-02"}), "02 Jan 2026 hi");
  const auto wrong = tokenize({"--chat-date", "yesterday"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("2024-07-26"), std::string::npos) << wrong.err;
}

TEST_F(Chat, ARefusedTemplateIsNamedWithTheWayOut) {
  give_template("{% for m in messages %}\n{{ m.content | from_json }}{% endfor %}");
  const auto refused = tokenize({});
  EXPECT_EQ(refused.exit_code, 3);
  for (const char* part :
       {"tokenizer_config.json: chat_template, line 2", "filter from_json", "--chat-style NAME", "llada"})
    EXPECT_NE(refused.err.find(part), std::string::npos) << part << " in " << refused.err;
  EXPECT_NE(read_as({"--chat-style", "llada"}).find("<|start_header_id|>user"), std::string::npos);
  const auto said = run_buoy({"inspect", folder_});
  EXPECT_NE(said.out.find("not supported "), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("from_json"), std::string::npos) << said.out;
}

TEST_F(Chat, AFolderWithoutTemplateIsToldSo) {
  const auto refused = tokenize({});
  EXPECT_EQ(refused.exit_code, 3);
  for (const char* part : {"a chat template", "none", "--chat-style NAME"})
    EXPECT_NE(refused.err.find(part), std::string::npos) << part << " in " << refused.err;
}

// The regions of a prompt are found in the conversation of any template.
TEST_F(Chat, EvaluationsAskInTheModelsOwnTemplate) {
  give_template(
      "{% for m in messages %}[{{ m.role }}] {{ m.content | trim }} [/{{ m.role }}]\n{% endfor "
      "%}[assistant]");
  write_file_atomically(scratch_ / "q.jsonl", R"({"id": "1", "question": "Who?", "answers": ["A"]})"
                                              "\n");
  const auto asked =
      run_buoy({"eval", "--model", folder_, "--data", (scratch_ / "q.jsonl").string(), "--closed-book",
                "--max-new-tokens", "2", "--out", (scratch_ / "run").string()});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  const std::string answers = read_file(scratch_ / "run" / "answers.jsonl");
  EXPECT_NE(answers.find("[user] "), std::string::npos) << answers;
  EXPECT_NE(answers.find("[assistant]"), std::string::npos) << answers;
  EXPECT_EQ(answers.find("\"error\""), std::string::npos) << answers;
}

}  // namespace
}  // namespace buoy
