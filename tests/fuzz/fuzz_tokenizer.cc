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

// The first byte chooses what the rest is: a tokenizer.json, a JSON patch to the small tokenizer of
// tests/data/text, or text to encode with that tokenizer. Only buoy::Error may come out of the library.

namespace {

using buoy::Json;
using buoy::text::Encoding;
using buoy::text::Tokenizer;

constexpr std::string_view kText =
    "The buoy's 12th mask,  cafe\u0301 \u4E2D\U0001F642 <|eot_id|>\r\n\n aaaa!!! <x>";

const std::string& tiny_text() {
  static const std::string text = buoy::read_file(
      std::filesystem::path(__FILE__).parent_path().parent_path() / "data" / "text" / "tiny_tokenizer.json");
  return text;
}

void expect(bool promise) {
  if (!promise) std::abort();
}

void check_encoding(const Tokenizer& tokenizer, const Encoding& encoding, std::string_view text) {
  expect(encoding.ids.size() == encoding.spans.size());
  buoy::text::ByteSpan last{0, 0};
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const buoy::text::ByteSpan span = encoding.spans[i];
    expect(span.begin <= span.end && last.begin <= span.begin && last.end <= span.end &&
           span.begin <= last.end);
    expect(encoding.ids[i] >= 0 && encoding.ids[i] < tokenizer.id_limit());
    last = span;
  }
  expect(last.end == text.size());
  tokenizer.decode(encoding.ids, true);
}

void load_and_use(const std::string& tokenizer_json) {
  const Tokenizer tokenizer = Tokenizer::from_json(tokenizer_json, "fuzzed");
  check_encoding(tokenizer, tokenizer.encode(kText, true), kText);
  for (std::int32_t id = -1; id < 310; ++id) tokenizer.token_text(id);
}

void patch_and_use(std::string_view data) {
  Json json = buoy::parse_json(tiny_text(), "tiny");
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string_view data(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    switch (bytes[0] % 4) {
      case 0:
        load_and_use(std::string(data));
        break;
      case 1:
        patch_and_use(data);
        break;
      case 2:
        encode_text(std::string(data));
        break;
      default:
        encode_text(buoy::replace_invalid_utf8(data));
    }
  } catch (const buoy::Error&) {
  }
  return 0;
}
