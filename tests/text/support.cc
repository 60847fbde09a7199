#include "text/support.h"

#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

#include "buoy/base/file/files.h"
#include "buoy/base/file/gzip.h"
#include "buoy/text/code_points.h"

namespace buoy::text {

std::filesystem::path data_file(const std::string& name) {
  return std::filesystem::path(BUOY_TEST_DATA) / "text" / name;
}

Json chat_renderings() {
  const auto path = data_file("chat_renderings.json.gz");
  return parse_json(read_plain_or_gzip(path), path.string());
}

std::string tiny_tokenizer_text() {
  return read_file(data_file("tiny_tokenizer.json"));
}

Json tiny_tokenizer_json() {
  return read_json_file(data_file("tiny_tokenizer.json"));
}

Tokenizer tiny_tokenizer() {
  return Tokenizer::from_json(tiny_tokenizer_text(), "tiny_tokenizer.json");
}

Json tiny_characters_json() {
  return read_json_file(data_file("tiny_characters.json"));
}

Tokenizer tiny_characters() {
  return Tokenizer::from_json(read_file(data_file("tiny_characters.json")), "tiny_characters.json");
}

std::filesystem::path fetched_tokenizers() {
  const char* given = std::getenv("BUOY_TOKENIZERS");
  return given != nullptr ? std::filesystem::path(given)
                          : std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / ".cache" / "tokenizers";
}

std::optional<std::filesystem::path> real_tokenizer_folder(const std::string& name) {
  const auto root = fetched_tokenizers();
  if (!std::filesystem::exists(root / name / "tokenizer.json")) return std::nullopt;
  return root / name;
}

std::string random_text(std::mt19937& random, size_t characters) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range kRanges[] = {
      {0x20, 0x7E},     {'a', 'z'},       {'0', '9'},       {0x09, 0x0D},       {0x20, 0x20},
      {0xA0, 0x24F},    {0x300, 0x36F},   {0x370, 0x5FF},   {0x900, 0xDFF},     {0x1100, 0x1175},
      {0x11A8, 0x11FF}, {0x1680, 0x1680}, {0x180E, 0x180E}, {0x1E00, 0x1FFF},   {0x2000, 0x206F},
      {0x2126, 0x212B}, {0x3000, 0x30FF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
      {0xFB1D, 0xFB4F}, {0xFE00, 0xFE0F}, {0x17F, 0x17F},   {0x1D100, 0x1D1FF}, {0x1F300, 0x1F64F},
  };
  static constexpr std::string_view kSnippets[] = {"'s", "'LL",  "don't",   " the", "\r\n",
                                                   "  ", "\n\n", "e\u0301", "'re"};
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  std::string text;
  Range range = kRanges[0];
  for (size_t i = 0; i < characters; ++i) {
    if (below(3) == 0) range = kRanges[below(std::size(kRanges))];
    if (below(8) == 0) {
      text += kSnippets[below(std::size(kSnippets))];
    } else {
      append_utf8(text, static_cast<char32_t>(range.first + below(range.last - range.first + 1)));
    }
  }
  return text;
}

std::string repeat(std::string_view text, size_t bytes) {
  std::string repeated;
  repeated.reserve(bytes);
  while (repeated.size() + text.size() <= bytes) repeated += text;
  return repeated;
}

void expect_spans_cover(const Encoding& encoding, std::string_view text) {
  ASSERT_EQ(encoding.ids.size(), encoding.spans.size());
  ByteSpan last{0, 0};
  for (const ByteSpan span : encoding.spans) {
    ASSERT_LE(span.begin, span.end);
    ASSERT_LE(last.begin, span.begin);
    ASSERT_LE(last.end, span.end);
    ASSERT_LE(span.begin, last.end) << "a hole";
    last = span;
  }
  ASSERT_EQ(last.end, text.size());
}

}  // namespace buoy::text
