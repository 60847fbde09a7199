#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/utf8.h"
#include "buoy/text/tokenizer/steps/nfc.h"
#include "buoy/text/tokenizer/tokenizer.h"

// The first byte chooses what the rest is: a tokenizer.json, a JSON patch to one of the small tokenizers of
// tests/data/text, or text to encode with one. Only buoy::Error may come out of the library.

namespace {

using buoy::Json;
using buoy::text::Encoding;
using buoy::text::Tokenizer;

constexpr std::string_view kText =
    "The buoy's 12th mask,  cafe\u0301 \u4E2D\U0001F642 <|eot_id|>\r\n\n aaaa!!! <x>";

std::string read_data(const char* name) {
  return buoy::read_file(std::filesystem::path(__FILE__).parent_path().parent_path() / "data" / "text" /
                         name);
}

const std::string& tiny_text() {
  static const std::string text = read_data("tiny_tokenizer.json");
  return text;
}

const std::string& characters_text() {
  static const std::string text = read_data("tiny_characters.json");
  return text;
}

void expect(bool promise) {
  if (!promise) std::abort();
}

void check_encoding(const Tokenizer& tokenizer, const Encoding& encoding, std::string_view text,
                    bool covers = true) {
  expect(encoding.ids.size() == encoding.spans.size());
  buoy::text::ByteSpan last{0, 0};
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const buoy::text::ByteSpan span = encoding.spans[i];
    expect(span.begin <= span.end && last.begin <= span.begin && last.end <= span.end &&
           (!covers || span.begin <= last.end));
    expect(encoding.ids[i] >= 0 && encoding.ids[i] < tokenizer.id_limit());
    last = span;
  }
  expect(!covers || last.end == text.size());
  tokenizer.decode(encoding.ids, true);
}

void load_and_use(const std::string& tokenizer_json) {
  const Tokenizer tokenizer = Tokenizer::from_json(tokenizer_json, "fuzzed");
  // A Split that removes leaves text out.
  const bool covers = buoy::parse_json(tokenizer_json, "fuzzed").dump().find("Removed") == std::string::npos;
  check_encoding(tokenizer, tokenizer.encode(kText, true), kText, covers);
  for (std::int32_t id = -1; id < 310; ++id) tokenizer.token_text(id);
}

void patch_and_use(const std::string& file, std::string_view data) {
  Json json = buoy::parse_json(file, "tiny");
  const Json patch = buoy::parse_json(data, "patch");
  try {
    if (patch.is_array()) {
      json = json.patch(patch);
    } else {
      json.merge_patch(patch);
    }
  } catch (const Json::exception&) {
    return;
  }
  load_and_use(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void encode_text(const std::string& text) {
  static const Tokenizer tokenizer = Tokenizer::from_json(tiny_text(), "tiny");
  const Encoding encoding = tokenizer.encode(text, false);
  check_encoding(tokenizer, encoding, text);
  const auto normalized = buoy::text::to_nfc(text);
  expect(tokenizer.decode(encoding.ids, false) == (normalized ? normalized->text : text));
}

void encode_characters(const std::string& text) {
  static const Tokenizer tokenizer = Tokenizer::from_json(characters_text(), "characters");
  check_encoding(tokenizer, tokenizer.encode(text, false), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string_view data(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    switch (bytes[0] % 6) {
      case 0:
        load_and_use(std::string(data));
        break;
      case 1:
        patch_and_use(tiny_text(), data);
        break;
      case 2:
        encode_text(std::string(data));
        break;
      case 3:
        patch_and_use(characters_text(), data);
        break;
      case 4:
        encode_characters(buoy::replace_invalid_utf8(data));
        break;
      default:
        encode_text(buoy::replace_invalid_utf8(data));
    }
  } catch (const buoy::Error&) {
  }
  return 0;
}
