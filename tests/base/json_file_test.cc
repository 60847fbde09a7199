// JSON from foreign files: what parsers usually let pass is refused, and every error names the file, the
// field, what was expected and what was found.

#include "buoy/base/file/json_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::fails_with;
using testing::TempFolder;

auto parsing(const std::string& text) {
  return [text] { parse_json(text, "f.json"); };
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonText, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(dump_json(Json{{"caf\xE9", "\xFF"}}), "{\"caf\xEF\xBF\xBD\":\"\xEF\xBF\xBD\"}");
  EXPECT_EQ(dump_json(nlohmann::ordered_json{{"b", 1}, {"a", 2}}, 1), "{\n \"b\": 1,\n \"a\": 2\n}");
}

TEST(ParseJson, ReadsWhatItShould) {
  const Json json = parse_json(R"({"a": [1, -2, 2.5, "é", null, true], "b": {"a": {}}})", "f.json");
  EXPECT_EQ(json.at("a").at(3), "é");
  EXPECT_EQ(json.at("a").size(), 6u);
}

TEST(ParseJson, RefusesAKeyTwiceInOneObject) {
  EXPECT_TRUE(fails_with<InputError>(parsing(R"({"a": 1, "b": 2, "a": 3})"),
                                     {"f.json", "expected each key once", "found key \"a\" twice"}));
  EXPECT_TRUE(fails_with<InputError>(parsing(R"([{"x": {"b": 1, "b": 1}}])"), {"f.json", "\"b\" twice"}));
}

TEST(ParseJson, AcceptsOneKeyInSeveralObjects) {
  EXPECT_EQ(parse_json(R"({"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}], "c": {"a": 4}})", "f.json").size(), 3u);
}

TEST(ParseJson, RefusesAKeyTwiceWhenSpelledWithEscapes) {
  EXPECT_TRUE(fails_with<InputError>(parsing(R"({"a": 1, "\u0061": 2})"), {"f.json", "\"a\" twice"}));
}

TEST(ParseJson, AcceptsSixtyFourLevelsAndNoMore) {
  EXPECT_NO_THROW(parse_json(nested(64), "f.json"));
  EXPECT_NO_THROW(parse_json(std::string(64, '[') + '1' + std::string(64, ']'), "f.json"));
  EXPECT_TRUE(fails_with<InputError>(parsing(nested(65)),
                                     {"f.json", "expected JSON nested at most 64 deep", "found deeper"}));
}

TEST(ParseJson, RefusesAMillionLevelsWithoutRunningOutOfStack) {
  EXPECT_TRUE(fails_with<InputError>(parsing(std::string(1'000'000, '[')), {"f.json", "nested at most 64"}));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(fails_with<InputError>(parsing(objects), {"f.json", "nested at most 64"}));
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  const std::string texts[] = {"",          " ",     "{",          "{\"a\" 1}", "[1,]", "{'a': 1}", "NaN",
                               "[1] trail", "1e999", "// comment", "\"\xFF\"",  "tru",  "\"\t\"",   "01"};
  for (const auto& text : texts) {
    EXPECT_TRUE(fails_with<InputError>(parsing(text), {"f.json", "expected valid JSON, found "})) << text;
  }
}

TEST(ReadJsonFile, NamesThePathInErrors) {
  const TempFolder folder;
  const auto path = folder.write("config.json", "{broken");
  EXPECT_TRUE(
      fails_with<InputError>([&] { read_json_file(path); }, {path.string(), "expected valid JSON", "found"}));
  EXPECT_TRUE(fails_with<InputError>([&] { read_json_file(path, 3); },
                                     {path.string(), "expected at most 3 bytes", "found 7 bytes"}));
  const auto missing = folder.path() / "missing.json";
  EXPECT_TRUE(fails_with<InputError>([&] { read_json_file(missing); }, {missing.string(), "cannot open"}));
}

class JsonObjectTest : public ::testing::Test {
 protected:
  const Json json_ = parse_json(R"({
      "whole": -7, "huge": 18446744073709551615, "half": 0.5, "flag": true, "word": "w", "nothing": null,
      "list": [1, 2, 3], "inner": {"word": 5, "deeper": {"flag": "yes"}}})",
                                "f.json");
  const JsonObject object_{json_, "f.json"};
};

TEST_F(JsonObjectTest, GivesValuesOfTheAskedType) {
  EXPECT_EQ(object_.integer("whole"), -7);
  EXPECT_EQ(object_.number("whole"), -7.0);
  EXPECT_EQ(object_.number("half"), 0.5);
  EXPECT_EQ(object_.boolean("flag"), true);
  EXPECT_EQ(object_.text("word"), "w");
  EXPECT_EQ(object_.required_integer("whole"), -7);
  EXPECT_EQ(object_.required_number("half"), 0.5);
  EXPECT_EQ(object_.required_text("word"), "w");
  EXPECT_EQ(object_.object("inner")->integer("word"), 5);
}

TEST_F(JsonObjectTest, TreatsNullLikeAbsent) {
  for (const char* key : {"nothing", "absent"}) {
    EXPECT_FALSE(object_.has(key));
    EXPECT_EQ(object_.find(key), nullptr);
    EXPECT_EQ(object_.integer(key), std::nullopt);
    EXPECT_EQ(object_.number(key), std::nullopt);
    EXPECT_EQ(object_.boolean(key), std::nullopt);
    EXPECT_EQ(object_.text(key), std::nullopt);
    EXPECT_FALSE(object_.object(key).has_value());
    const std::string field = std::string("f.json: ") + key;
    EXPECT_TRUE(fails_with<InputError>([&] { object_.required_integer(key); },
                                       {field, "expected an integer", "found nothing"}));
    EXPECT_TRUE(fails_with<InputError>([&] { object_.required_number(key); },
                                       {field, "expected a number", "found nothing"}));
    EXPECT_TRUE(fails_with<InputError>([&] { object_.required_text(key); },
                                       {field, "expected text", "found nothing"}));
  }
}

TEST_F(JsonObjectTest, RefusesTheWrongType) {
  const auto integer = [&](const char* key) { return [this, key] { object_.integer(key); }; };
  EXPECT_TRUE(fails_with<InputError>(integer("half"),
                                     {"f.json: half", "expected an integer", "found the number 0.5"}));
  EXPECT_TRUE(fails_with<InputError>(integer("huge"), {"f.json: huge", "expected a 64-bit integer",
                                                       "found the number 18446744073709551615"}));
  EXPECT_TRUE(
      fails_with<InputError>(integer("word"), {"f.json: word", "expected an integer", "found text \"w\""}));
  EXPECT_TRUE(fails_with<InputError>(integer("flag"), {"f.json: flag", "expected an integer", "found true"}));
  EXPECT_TRUE(fails_with<InputError>([&] { object_.number("list"); },
                                     {"f.json: list", "expected a number", "found a list of 3"}));
  EXPECT_TRUE(fails_with<InputError>([&] { object_.boolean("whole"); },
                                     {"f.json: whole", "expected true or false", "found the number -7"}));
  EXPECT_TRUE(fails_with<InputError>([&] { object_.text("inner"); },
                                     {"f.json: inner", "expected text", "found an object of 2 fields"}));
  EXPECT_TRUE(fails_with<InputError>([&] { object_.object("word"); },
                                     {"f.json: word", "expected an object", "found text \"w\""}));
}

TEST_F(JsonObjectTest, NamesThePathToInnerFields) {
  const auto inner = object_.object("inner");
  EXPECT_TRUE(fails_with<InputError>([&] { inner->text("word"); },
                                     {"f.json: inner: word", "expected text", "found the number 5"}));
  EXPECT_TRUE(fails_with<InputError>([&] { inner->object("deeper")->boolean("flag"); },
                                     {"f.json: inner: deeper: flag", "true or false", "\"yes\""}));
}

TEST_F(JsonObjectTest, RefusesToWrapAnythingElse) {
  EXPECT_TRUE(fails_with<InputError>([&] { JsonObject(json_.at("list"), "f.json"); },
                                     {"f.json", "expected a JSON object", "found a list of 3"}));
}

TEST(DescribeJson, ShortensLongTextBetweenCharacters) {
  EXPECT_EQ(describe_json(std::string(60, 'x')), "text \"" + std::string(60, 'x') + '"');
  EXPECT_EQ(describe_json(std::string(61, 'x')), "text \"" + std::string(57, 'x') + "...\"");
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'x');
    for (int i = 0; i < 30; ++i) text += "\xF0\x9F\x99\x82";
    const std::string shown = describe_json(text);
    EXPECT_EQ(first_invalid_utf8(shown), shown.size()) << shown;
    EXPECT_LE(shown.size(), 70u);
    EXPECT_TRUE(shown.ends_with("...\"")) << shown;
  }
}

}  // namespace
}  // namespace buoy
