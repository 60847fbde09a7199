#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

#include "buoy/base/file/files.h"
#include "buoy/text/tokenizer/steps/nfc.h"
#include "buoy/text/tokenizer/tokenizer.h"
#include "support/temp_folder.h"
#include "text/support.h"

// Against the real vocabularies, which tools/fetch_tokenizers fetches.

namespace buoy::text {
namespace {

using Ids = std::vector<std::int32_t>;

void expect_vectors(const Tokenizer& tokenizer, const std::string& group) {
  const Json vectors = read_json_file(std::filesystem::path(BUOY_TEST_DATA) / "tokenizer_vectors.json");
  ASSERT_FALSE(vectors.at(group).empty());
  for (const Json& vector : vectors.at(group)) {
    const std::string text = vector.at("text");
    const Encoding encoding = tokenizer.encode(text, false);
    EXPECT_EQ(encoding.ids, vector.at("ids").get<Ids>()) << text;
    expect_spans_cover(encoding, text);
  }
}

void expect_round_trips(const Tokenizer& tokenizer, bool normal_form) {
  std::mt19937 random(21);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(random, 1 + random() % 60);
    const auto normalized = normal_form ? to_nfc(text) : std::nullopt;
    const Encoding encoding = tokenizer.encode(text, false);
    ASSERT_EQ(tokenizer.decode(encoding.ids, false), normalized ? normalized->text : text);
    ASSERT_NO_FATAL_FAILURE(expect_spans_cover(encoding, text));
  }
}

TEST(RealTokenizers, Llama3) {
  BUOY_NEEDS_TOKENIZER(folder, "llama3");
  const Tokenizer tokenizer = Tokenizer::load(*folder);
  expect_vectors(tokenizer, "llama3");
  expect_round_trips(tokenizer, false);
  EXPECT_EQ(tokenizer.id_limit(), 128256);
  EXPECT_EQ(tokenizer.encode("Hello world", true).ids, (Ids{9906, 1917}));
  EXPECT_EQ(tokenizer.token_id("<|eot_id|>"), 128009);
}

TEST(RealTokenizers, Llama31AddsBos) {
  BUOY_NEEDS_TOKENIZER(folder, "llama31");
  const Tokenizer tokenizer = Tokenizer::load(*folder);
  expect_vectors(tokenizer, "llama3");
  EXPECT_EQ(tokenizer.encode("Hello world", true).ids, (Ids{128000, 9906, 1917}));
}

TEST(RealTokenizers, Qwen25) {
  BUOY_NEEDS_TOKENIZER(folder, "qwen2_5");
  const Tokenizer tokenizer = Tokenizer::load(*folder);
  expect_vectors(tokenizer, "qwen2_5_and_qwen3");
  expect_round_trips(tokenizer, true);
  EXPECT_EQ(tokenizer.id_limit(), 151665);
  EXPECT_TRUE(tokenizer.is_special(151644));
  EXPECT_FALSE(tokenizer.is_special(151657));
}

TEST(RealTokenizers, Qwen3) {
  BUOY_NEEDS_TOKENIZER(folder, "qwen3");
  const Tokenizer tokenizer = Tokenizer::load(*folder);
  expect_vectors(tokenizer, "qwen2_5_and_qwen3");
  expect_vectors(tokenizer, "qwen3_only");
  EXPECT_EQ(tokenizer.token_text(151666), "</tool_response>");
}

// Dream ships Qwen2.5's vocabulary as vocab.json and merges.txt.
TEST(RealTokenizers, Dream) {
  BUOY_NEEDS_TOKENIZER(source, "qwen2_5");
  const Json json = parse_json(read_file(*source / "tokenizer.json"), "tokenizer.json");
  const testing::TempFolder folder;
  folder.write("vocab.json", json["model"]["vocab"].dump());
  std::string merges = "#version: 0.2\n";
  for (const Json& merge : json["model"]["merges"]) merges += merge.get<std::string>() + "\n";
  folder.write("merges.txt", merges);
  Json config = {{"tokenizer_class", "DreamTokenizer"}, {"added_tokens_decoder", Json::object()}};
  for (Json token : json["added_tokens"]) {
    const std::int32_t id = token["id"];
    token.erase("id");
    config["added_tokens_decoder"][std::to_string(id)] = token;
  }
  folder.write("tokenizer_config.json", config.dump());
  folder.write("added_tokens.json", R"({"<|beginoftext|>": 151665, "<|mask|>": 151666})");

  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  expect_vectors(tokenizer, "dream");
  expect_vectors(tokenizer, "qwen2_5_and_qwen3");
  EXPECT_EQ(tokenizer.id_limit(), 151667);
  EXPECT_EQ(tokenizer.encode("Hello world", true).ids, (Ids{9707, 1879}));

  const Tokenizer qwen = Tokenizer::load(*source);
  std::mt19937 random(22);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(random, 1 + random() % 60);
    ASSERT_EQ(tokenizer.encode(text, false).ids, qwen.encode(text, false).ids) << text;
  }
}

}  // namespace
}  // namespace buoy::text
