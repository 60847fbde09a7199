#include "buoy/text/tokenizer/tokenizer_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>

#include "buoy/base/error.h"
#include "text/support.h"

namespace buoy::text {
namespace {

struct Broken {
  const char* name;
  std::function<void(Json&)> change;
  const char* names;  // what the message must hold, besides the file
};

std::ostream& operator<<(std::ostream& out, const Broken& broken) {
  return out << broken.name;
}

class BrokenTokenizer : public testing::TestWithParam<Broken> {};

TEST_P(BrokenTokenizer, IsRefusedWithTheFieldNamed) {
  Json json = tiny_tokenizer_json();
  GetParam().change(json);
  const std::string message =
      error_message<InputError>([&] { parse_tokenizer_json(json.dump(), "some/tokenizer.json"); });
  EXPECT_TRUE(message.starts_with("some/tokenizer.json: ")) << message;
  EXPECT_NE(message.find(GetParam().names), std::string::npos) << message;
  EXPECT_NE(message.find("expected"), std::string::npos) << message;
}

Json& splitter(Json& json, size_t i) {
  return json["pre_tokenizer"]["pretokenizers"][i];
}

const Broken kBroken[] = {
    {"unknown_field", [](Json& j) { j["surprise"] = 1; }, "surprise"},
    {"no_model", [](Json& j) { j.erase("model"); }, "model"},
    {"other_model", [](Json& j) { j["model"]["type"] = "Unigram"; }, "model: type"},
    {"model_field", [](Json& j) { j["model"]["surprise"] = true; }, "model: surprise"},
    {"dropout", [](Json& j) { j["model"]["dropout"] = 0.1; }, "dropout"},
    {"prefix", [](Json& j) { j["model"]["continuing_subword_prefix"] = "##"; }, "continuing_subword_prefix"},
    {"suffix", [](Json& j) { j["model"]["end_of_word_suffix"] = "</w>"; }, "end_of_word_suffix"},
    {"ignore_merges_text", [](Json& j) { j["model"]["ignore_merges"] = "yes"; }, "ignore_merges"},
    {"no_vocab", [](Json& j) { j["model"].erase("vocab"); }, "vocab"},
    {"vocab_list", [](Json& j) { j["model"]["vocab"] = Json::array(); }, "vocab"},
    {"vocab_id_text", [](Json& j) { j["model"]["vocab"]["a"] = "97"; }, "a token id"},
    {"vocab_id_negative", [](Json& j) { j["model"]["vocab"]["a"] = -1; }, "a token id"},
    {"vocab_id_fraction", [](Json& j) { j["model"]["vocab"]["a"] = 97.0; }, "a token id"},
    {"vocab_id_huge", [](Json& j) { j["model"]["vocab"]["a"] = 1e30; }, "a token id"},
    {"vocab_id_64_bit", [](Json& j) { j["model"]["vocab"]["a"] = 4294967393; }, "a token id"},
    {"vocab_id_unsigned", [](Json& j) { j["model"]["vocab"]["a"] = UINT64_MAX; }, "a token id"},
    {"vocab_id_twice", [](Json& j) { j["model"]["vocab"]["a"] = 98; }, "each id once"},
    {"vocab_gap",
     [](Json& j) {
       j["model"]["vocab"]["zz"] = 299;
       j["added_tokens"][2]["id"] = 400;
       j["added_tokens"][5]["id"] = 401;
     },
     "no token with id 296"},
    {"vocab_far_id", [](Json& j) { j["model"]["vocab"]["zz"] = 100000; }, "without gaps"},
    {"vocab_empty_token", [](Json& j) { j["model"]["vocab"][""] = 294; }, "empty"},
    {"vocab_no_byte",
     [](Json& j) {
       auto& v = j["model"]["vocab"];
       v.erase("Q");
       v["QQ"] = 81;
     },
     "256 bytes"},
    {"no_merges", [](Json& j) { j["model"].erase("merges"); }, "merges"},
    {"merge_unknown", [](Json& j) { j["model"]["merges"][3] = "q q"; }, "\"qq\""},
    {"merge_part_unknown", [](Json& j) { j["model"]["merges"][3] = "zzz q"; }, "\"zzz\""},
    {"merge_one_part", [](Json& j) { j["model"]["merges"][3] = "he"; }, "merges[3]"},
    {"merge_three_parts", [](Json& j) { j["model"]["merges"][3] = "h e r"; }, "merges[3]"},
    {"merge_list_of_one", [](Json& j) { j["model"]["merges"][3] = {"h"}; }, "merges[3]"},
    {"merge_list_of_numbers",
     [](Json& j) {
       j["model"]["merges"][3] = {1, 2};
     },
     "merges[3]"},
    {"merge_twice", [](Json& j) { j["model"]["merges"].push_back("h e"); }, "merge 3"},
    {"added_object", [](Json& j) { j["added_tokens"] = Json::object(); }, "added_tokens"},
    {"added_no_id", [](Json& j) { j["added_tokens"][0].erase("id"); }, "added_tokens[0]"},
    {"added_no_content", [](Json& j) { j["added_tokens"][0].erase("content"); }, "content"},
    {"added_empty", [](Json& j) { j["added_tokens"][0]["content"] = ""; }, "added_tokens[0]"},
    {"added_long", [](Json& j) { j["added_tokens"][0]["content"] = std::string(2000, 'x'); },
     "added_tokens[0]"},
    {"added_twice", [](Json& j) { j["added_tokens"][1]["content"] = "<|startoftext|>"; },
     "each added token once"},
    {"added_id_twice", [](Json& j) { j["added_tokens"][1]["id"] = 294; }, "each added token id once"},
    {"added_takes_id", [](Json& j) { j["added_tokens"][1]["id"] = 97; }, "an id of its own"},
    {"added_other_id", [](Json& j) { j["added_tokens"][1]["content"] = "a"; },
     "the id it has in the vocabulary"},
    {"added_id_highest", [](Json& j) { j["added_tokens"][1]["id"] = 2147483647; }, "a token id"},
    {"added_lstrip", [](Json& j) { j["added_tokens"][0]["lstrip"] = true; }, "lstrip"},
    {"added_rstrip", [](Json& j) { j["added_tokens"][0]["rstrip"] = true; }, "rstrip"},
    {"added_single_word", [](Json& j) { j["added_tokens"][0]["single_word"] = true; }, "single_word"},
    {"normalizer_nfkc", [](Json& j) { j["normalizer"]["type"] = "NFKC"; }, "normalizer: type"},
    {"normalizer_two",
     [](Json& j) {
       j["normalizer"] = {{"type", "Sequence"},
                          {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}};
     },
     "normalizers"},
    {"no_pre_tokenizer", [](Json& j) { j["pre_tokenizer"] = nullptr; }, "pre_tokenizer"},
    {"pre_tokenizer_whitespace",
     [](Json& j) {
       j["pre_tokenizer"] = {{"type", "Whitespace"}};
     },
     "pre_tokenizer: type"},
    {"pre_tokenizer_three",
     [](Json& j) {
       auto& list = j["pre_tokenizer"]["pretokenizers"];
       list.push_back(Json(list[0]));
     },
     "pretokenizers"},
    {"split_other_behavior", [](Json& j) { splitter(j, 0)["behavior"] = "Sideways"; }, "behavior"},
    {"split_no_behavior", [](Json& j) { splitter(j, 0).erase("behavior"); }, "behavior"},
    {"split_invert_text", [](Json& j) { splitter(j, 0)["invert"] = "yes"; }, "invert"},
    {"split_other_pattern",
     [](Json& j) {
       splitter(j, 0)["pattern"] = {{"Glob", " "}};
     },
     "Regex"},
    {"split_empty_string",
     [](Json& j) {
       splitter(j, 0)["pattern"] = {{"String", ""}};
     },
     "String"},
    {"split_bad_pattern", [](Json& j) { splitter(j, 0)["pattern"]["Regex"] = "(a"; }, "Regex"},
    {"byte_level_no_prefix_space", [](Json& j) { splitter(j, 1).erase("add_prefix_space"); },
     "add_prefix_space"},
    {"byte_level_prefix_space_text", [](Json& j) { splitter(j, 1)["add_prefix_space"] = "no"; },
     "add_prefix_space"},
    {"byte_level_regex_text", [](Json& j) { splitter(j, 1)["use_regex"] = "no"; }, "use_regex"},
    {"byte_level_missing", [](Json& j) { j["pre_tokenizer"]["pretokenizers"].erase(1); }, "pre_tokenizer"},
    {"post_bert",
     [](Json& j) {
       j["post_processor"] = {{"type", "BertProcessing"}};
     },
     "post_processor: type"},
    {"post_no_text", [](Json& j) { j["post_processor"]["single"].erase(1); }, "single"},
    {"post_pair", [](Json& j) { j["post_processor"]["single"][1]["Sequence"]["id"] = "B"; }, "id"},
    {"post_unknown_id",
     [](Json& j) { j["post_processor"]["special_tokens"]["<|startoftext|>"]["ids"][0] = 5000; }, "ids"},
    {"post_unknown_token", [](Json& j) { j["post_processor"]["single"][0]["SpecialToken"]["id"] = "<s>"; },
     "<s>"},
    {"post_strange_item",
     [](Json& j) {
       j["post_processor"]["single"][0] = {{"Thing", 1}};
     },
     "single[0]"},
    {"no_decoder", [](Json& j) { j.erase("decoder"); }, "decoder"},
    {"decoder_other", [](Json& j) { j["decoder"]["type"] = "WordPiece"; }, "decoder: type"},
};

INSTANTIATE_TEST_SUITE_P(TokenizerJson, BrokenTokenizer, testing::ValuesIn(kBroken),
                         [](const auto& item) { return std::string(item.param.name); });

TEST(TokenizerJson, RefusesTextThatIsNotOneJsonObject) {
  for (const char* text : {"", "{", "[]", "null", "{} {}", "{\"model\": 1, \"model\": 2}", "\xFF"}) {
    EXPECT_THROW(parse_tokenizer_json(text, "f"), InputError) << text;
  }
}

TEST(TokenizerJson, MergesMayBePairs) {
  Json json = tiny_tokenizer_json();
  for (Json& merge : json["model"]["merges"]) {
    const std::string text = merge;
    const size_t space = text.find(' ');
    merge = {text.substr(0, space), text.substr(space + 1)};
  }
  const std::string text = "the buoy and the sea, mask!!";
  EXPECT_EQ(Tokenizer::from_json(json.dump(), "pairs").encode(text, true).ids,
            tiny_tokenizer().encode(text, true).ids);
}

TEST(TokenizerJson, NormalizerMayBeAbsentOrASequence) {
  Json json = tiny_tokenizer_json();
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}};
  EXPECT_EQ(parse_tokenizer_json(json.dump(), "f").normalizer.size(), 1U);
  json["normalizer"] = nullptr;
  EXPECT_TRUE(parse_tokenizer_json(json.dump(), "f").normalizer.empty());
}

TEST(TokenizerJson, ReadsTheFormsOfThePostProcessor) {
  Json json = tiny_tokenizer_json();
  EXPECT_EQ(parse_tokenizer_json(json.dump(), "f").prefix, std::vector<std::int32_t>{294});

  const Json with_bos = json["post_processor"];
  json["post_processor"] = {{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, with_bos}}};
  json["post_processor"]["processors"][1]["single"].push_back(
      {{"SpecialToken", {{"id", "<|startoftext|>"}}}});
  EXPECT_EQ(parse_tokenizer_json(json.dump(), "f").prefix, std::vector<std::int32_t>{294});
  EXPECT_EQ(parse_tokenizer_json(json.dump(), "f").suffix, std::vector<std::int32_t>{294});

  json["post_processor"]["processors"].push_back(with_bos);
  EXPECT_THROW(parse_tokenizer_json(json.dump(), "f"), InputError);

  json["post_processor"] = {{"type", "ByteLevel"}};
  EXPECT_TRUE(parse_tokenizer_json(json.dump(), "f").prefix.empty());
  json["post_processor"] = nullptr;
  EXPECT_TRUE(parse_tokenizer_json(json.dump(), "f").prefix.empty());
}

TEST(TokenizerJson, HonoursIgnoreMerges) {
  Json json = tiny_tokenizer_json();
  json["model"]["vocab"]["seal"] = 300;
  json["added_tokens"].push_back(json["added_tokens"][0]);
  json["added_tokens"][6]["content"] = "<more>";
  json["added_tokens"][6]["id"] = 301;
  EXPECT_EQ(Tokenizer::from_json(json.dump(), "f").encode("seal", false).ids.size(), 3U);
  json["model"]["ignore_merges"] = true;
  EXPECT_EQ(Tokenizer::from_json(json.dump(), "f").encode("seal", false).ids, std::vector<std::int32_t>{300});
}

TEST(TokenizerJson, TokensOutsideTheByteAlphabetStandForThemselves) {
  Json json = tiny_tokenizer_json();
  json["model"]["vocab"]["\u4E2D"] = 300;
  const Tokenizer tokenizer = Tokenizer::from_json(json.dump(), "f");
  EXPECT_EQ(tokenizer.token_id("\u4E2D"), 300);
  EXPECT_EQ(tokenizer.token_text(300), "\u4E2D");
  EXPECT_EQ(tokenizer.encode("\u4E2D", false).ids.size(), 3U);
}

}  // namespace
}  // namespace buoy::text
