#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <limits>

#include "buoy/text/tokenizer/steps/splitter.h"
#include "buoy/text/tokenizer/tokenizer.h"
#include "text/support.h"

namespace buoy::text {
namespace {

constexpr size_t kShort = 128 * 1024;
constexpr size_t kFactor = 8;
constexpr double kMostGrowth = 3 * kFactor;  // quadratic time would grow 64-fold

struct Text {
  const char* name;
  const char* repeated;
};

constexpr Text kTexts[] = {
    {"letters", "a"},
    {"spaces", " "},
    {"newlines", "\n"},
    {"windows_lines", "\r\n"},
    {"spaces_and_lines", "   \n"},
    {"exclamations", "!"},
    {"digits", "7"},
    {"emoji", "\U0001F469\U0001F3FD\u200D\U0001F4BB"},
    {"one_mark", "\u0301"},
    {"marks_out_of_order", "\u0301\u0323"},
    {"letters_with_marks", "e\u0323\u0301"},
    {"hangul_vowels", "\u1161"},
    {"cjk", "\u4E2D\u6587"},
    {"open_angles", "<"},
    {"almost_added_tokens", "<|start_header_id|"},
    {"added_tokens", "<|eot_id|>"},
    {"english", "The buoy floats on the sea, and it doesn't sink. "},
};

double seconds(const Tokenizer& tokenizer, const std::string& text, int tries) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < tries; ++i) {
    const std::clock_t begin = std::clock();
    tokenizer.encode(text, false);
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

void expect_linear(const Tokenizer& tokenizer) {
  for (const Text& text : kTexts) {
    const double once = seconds(tokenizer, repeat(text.repeated, kShort), 3);
    const double more = seconds(tokenizer, repeat(text.repeated, kFactor * kShort), 1);
    constexpr double kClockStep = 1e-3;
    EXPECT_LT(more, kMostGrowth * (once + kClockStep))
        << text.name << ": " << once << " s, then " << more << " s";
  }
}

TEST(LinearTime, TinyTokenizer) {
  expect_linear(tiny_tokenizer());
}

TEST(LinearTime, TinyCharacters) {
  expect_linear(tiny_characters());
}

// Over characters nothing cuts text into words: a text is one piece.
TEST(LinearTime, AHundredThousandCharactersWithoutASpace) {
  const Tokenizer tokenizer = tiny_characters();
  for (const char* kind : {"a", "the", "\u4E2D\u6587", "\u2581", "\U0001F469", "abc!!1"}) {
    const std::string text = repeat(kind, 100'000 * std::string_view(kind).size());
    EXPECT_LT(seconds(tokenizer, text, 2), 1.0) << kind;
  }
}

TEST(LinearTime, Mistral7b) {
  BUOY_NEEDS_TOKENIZER(folder, "mistral_7b");
  expect_linear(Tokenizer::load(*folder));
}

TEST(LinearTime, Llama3) {
  BUOY_NEEDS_TOKENIZER(folder, "llama3");
  expect_linear(Tokenizer::load(*folder));
}

// Matching must not run into a limit where everything is one piece.
TEST(LinearTime, PiecesOfThirtyTwoMegabytes) {
  const Json json = tiny_tokenizer_json();
  const Json& split = json["pre_tokenizer"]["pretokenizers"][0];
  const Splitter splitter(Pattern::expression(split["pattern"]["Regex"].get<std::string>(), "tiny"),
                          SplitBehavior::kIsolated);
  for (const char* kind : {" ", "!", "x", "\u3000", "\u4E2D"}) {
    const std::string text = repeat(kind, size_t{32} << 20);
    EXPECT_EQ(splitter.pieces(text), (std::vector<ByteSpan>{{0, static_cast<std::uint32_t>(text.size())}}));
  }
}

}  // namespace
}  // namespace buoy::text
