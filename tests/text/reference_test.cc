#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "buoy/base/file/gzip.h"
#include "buoy/text/code_points.h"
#include "buoy/text/tokenizer/steps/nfc.h"
#include "buoy/text/tokenizer/tokenizer.h"
#include "text/support.h"

// Ids, spans and decoded text against the Rust library that tokenizer.json files are made with
// (tools/tokenizer_reference.mjs): a few texts of every variant are kept here, thousands come with
// tools/fetch_tokenizers all.

namespace buoy::text {
namespace {

using Ids = std::vector<std::int32_t>;

std::vector<Json> read_lines(const std::filesystem::path& file) {
  std::vector<Json> lines;
  std::istringstream in(read_plain_or_gzip(file));
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

// The library counts characters, and a part of one stands for all of it.
std::vector<std::uint32_t> in_characters(const Encoding& encoding, std::string_view text) {
  std::vector<std::uint32_t> before(text.size() + 1), after(text.size() + 1);
  std::uint32_t count = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = code_point_at(text, at).length;
    for (size_t i = 0; i < length; ++i) {
      before[at + i] = count;
      after[at + i + 1] = count + 1;
    }
    at += length;
    ++count;
  }
  before[text.size()] = count;
  std::vector<std::uint32_t> spans;
  for (const ByteSpan span : encoding.spans) {
    spans.push_back(before[span.begin]);
    spans.push_back(after[span.end]);
  }
  return spans;
}

struct Compared {
  int texts = 0, sequences = 0, spans = 0, differ = 0;
};

// Which spans are compared. Where normal form C joins characters or a rule replaces several at once, the
// library's spans leave some of them out, and Buoy's do not.
enum class Spans { kAll, kOfNormalTexts, kNone };

Compared compare(const Tokenizer& tokenizer, const std::vector<Json>& lines, Spans spans) {
  Compared compared;
  for (const Json& line : lines) {
    const Ids ids = line.at("ids").get<Ids>();
    const bool decodes_alike = tokenizer.decode(ids, false) == line.at("decoded").get<std::string>() &&
                               tokenizer.decode(ids, true) == line.at("skipped").get<std::string>();
    bool alike = decodes_alike;
    if (line.contains("text")) {
      const std::string text = line.at("text");
      const Encoding encoding = tokenizer.encode(text, false);
      alike = alike && encoding.ids == ids;
      if (spans == Spans::kAll || (spans == Spans::kOfNormalTexts && !to_nfc(text))) {
        alike = alike && in_characters(encoding, text) == line.at("spans").get<std::vector<std::uint32_t>>();
        ++compared.spans;
      }
      ++compared.texts;
      if (!alike && compared.differ < 3) {
        ADD_FAILURE() << line.dump() << "\nhere: ids " << Json(encoding.ids).dump() << "\nspans "
                      << Json(in_characters(encoding, text)).dump() << "\ndecoded "
                      << Json(tokenizer.decode(ids, false)).dump() << "\n"
                      << Json(tokenizer.decode(ids, true)).dump();
      }
    } else {
      ++compared.sequences;
      if (!alike && compared.differ < 3) {
        ADD_FAILURE() << line.dump() << "\nhere: decoded " << Json(tokenizer.decode(ids, false)).dump()
                      << "\n"
                      << Json(tokenizer.decode(ids, true)).dump();
      }
    }
    compared.differ += alike ? 0 : 1;
  }
  EXPECT_EQ(compared.differ, 0) << "of " << lines.size();
  if (spans != Spans::kNone) {
    EXPECT_GT(compared.spans, compared.texts / 2);
  }
  return compared;
}

Spans comparable_spans(const Json& json) {
  const bool normal_form =
      json.contains("normalizer") && json["normalizer"].dump().find("\"NFC\"") != std::string::npos;
  return normal_form ? Spans::kOfNormalTexts : Spans::kAll;
}

struct Variant {
  std::string name;
  std::string json;
  Spans spans;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Json& variant : read_json_file(data_file("tokenizer_variants.json"))) {
    Json json = read_json_file(data_file(variant.at("base").get<std::string>() + ".json"));
    json.merge_patch(variant.at("patch"));
    const bool other = variant.value("other_spans", false);
    all.push_back({variant.at("name"), json.dump(), other ? Spans::kNone : comparable_spans(json)});
  }
  return all;
}

std::optional<std::filesystem::path> fetched_vectors(const std::string& name) {
  const auto file = fetched_tokenizers() / "reference" / "vectors" / (name + ".jsonl");
  if (!std::filesystem::exists(file)) return std::nullopt;
  return file;
}

TEST(Reference, VariantsOnTheTextsKeptHere) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    const Compared compared =
        compare(Tokenizer::from_json(variant.json, variant.name),
                read_lines(data_file("reference/" + variant.name + ".jsonl.gz")), variant.spans);
    EXPECT_GE(compared.texts, 20);
    EXPECT_GE(compared.sequences, 10);
  }
}

TEST(Reference, VariantsOnAThousandTextsEach) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    const auto file = fetched_vectors(variant.name);
    if (!file)
      GTEST_SKIP() << "no vectors of " << variant.name << " here; tools/fetch_tokenizers all makes them";
    const Compared compared =
        compare(Tokenizer::from_json(variant.json, variant.name), read_lines(*file), variant.spans);
    EXPECT_GE(compared.texts, 1000);
    EXPECT_GE(compared.sequences, 500);
  }
}

class RealReference : public testing::TestWithParam<const char*> {};

TEST_P(RealReference, AgreesOnThreeThousandTexts) {
  BUOY_NEEDS_TOKENIZER(folder, GetParam());
  const auto file = fetched_vectors(std::string("real_") + GetParam());
  if (!file) GTEST_SKIP() << "no vectors of " << GetParam() << " here; tools/fetch_tokenizers all makes them";
  const Compared compared = compare(Tokenizer::load(*folder), read_lines(*file),
                                    comparable_spans(read_json_file(*folder / "tokenizer.json")));
  EXPECT_GE(compared.texts, 3000);
  EXPECT_GE(compared.sequences, 1500);
}

INSTANTIATE_TEST_SUITE_P(Files, RealReference,
                         testing::Values("llama3", "llama31", "qwen2_5", "qwen3", "gpt2", "deepseek_v3",
                                         "mistral_nemo", "command_r_plus", "llama2", "mistral_7b", "yi",
                                         "baichuan2", "gemma2"),
                         [](const auto& item) { return std::string(item.param); });

// An implementation of its own, which shares nothing with the library.
TEST(Reference, LlamaTokenizerJsOnThreeThousandTexts) {
  BUOY_NEEDS_TOKENIZER(folder, "llama2");
  const auto file = fetched_vectors("llama_tokenizer_js");
  if (!file) GTEST_SKIP() << "no vectors of llama-tokenizer-js here; tools/fetch_tokenizers all makes them";
  const Tokenizer tokenizer = Tokenizer::load(*folder);
  const auto lines = read_lines(*file);
  EXPECT_EQ(lines.size(), 3000U);
  for (const Json& line : lines) {
    const Ids ids = line.at("ids").get<Ids>();
    ASSERT_EQ(tokenizer.encode(line.at("text").get<std::string>(), false).ids, ids) << line.dump();
    ASSERT_EQ(tokenizer.decode(ids, false), line.at("decoded")) << line.dump();
  }
  EXPECT_EQ(tokenizer.encode("Hello world", true).ids, (Ids{1, 15043, 3186}));
}

}  // namespace
}  // namespace buoy::text
