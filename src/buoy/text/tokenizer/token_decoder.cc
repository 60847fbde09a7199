#include "buoy/text/tokenizer/token_decoder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "buoy/text/tokenizer/json_fields.h"

namespace buoy::text {
namespace {

using Tokens = std::vector<std::string>;

constexpr std::string_view kReplacementCharacter = "\uFFFD";
constexpr std::int64_t kMostStripped = 16;

std::string replaced(std::string_view text, const std::string& from, const std::string& to) {
  std::string result;
  size_t copied = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, copied)) {
    result += text.substr(copied, at - copied);
    result += to;
    copied = at + from.size();
  }
  return result += text.substr(copied);
}

// Of "<0x0A>".
std::optional<char> byte_of_spelling(std::string_view token) {
  const auto digit = [&](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const int high = digit(token[3]), low = digit(token[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

void take_step(const TokenDecoder::Replace& step, Tokens& tokens) {
  for (std::string& token : tokens) token = replaced(token, step.from, step.to);
}

void take_step(const TokenDecoder::ByteFallback&, Tokens& tokens) {
  Tokens result;
  std::string bytes;
  const auto end_bytes = [&] {
    if (first_invalid_utf8(bytes) == bytes.size()) {
      if (!bytes.empty()) result.push_back(bytes);
    } else {
      result.insert(result.end(), bytes.size(), std::string(kReplacementCharacter));
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const auto byte = byte_of_spelling(token)) {
      bytes += *byte;
    } else {
      end_bytes();
      result.push_back(std::move(token));
    }
  }
  end_bytes();
  tokens = std::move(result);
}

void take_step(const TokenDecoder::Fuse&, Tokens& tokens) {
  std::string all;
  for (const std::string& token : tokens) all += token;
  tokens = {std::move(all)};
}

void take_step(const TokenDecoder::Strip& step, Tokens& tokens) {
  for (std::string& token : tokens) {
    std::string_view kept = token;
    for (std::int64_t i = 0; i < step.start && kept.starts_with(step.character); ++i)
      kept.remove_prefix(step.character.size());
    for (std::int64_t i = 0; i < step.stop && kept.ends_with(step.character); ++i)
      kept.remove_suffix(step.character.size());
    token = std::string(kept);
  }
}

void take_step(const TokenDecoder::Metaspace& step, Tokens& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = replaced(tokens[i], step.replacement, i == 0 && step.prepended ? "" : " ");
}

TokenDecoder::Step parse_step(const JsonObject& decoder) {
  const std::string type = decoder.required_text("type");
  if (type == "Replace") {
    const auto [from, to] = parse_replacement(decoder);
    return TokenDecoder::Replace{from, to};
  }
  if (type == "ByteFallback") return TokenDecoder::ByteFallback{};
  if (type == "Fuse") return TokenDecoder::Fuse{};
  if (type == "Strip") {
    const IntegerRange range{0, kMostStripped};
    return TokenDecoder::Strip{required_character(decoder, "content"),
                               decoder.required_integer("start", range),
                               decoder.required_integer("stop", range)};
  }
  if (type == "Metaspace") {
    return TokenDecoder::Metaspace{required_character(decoder, "replacement"),
                                   parse_prepend_scheme(decoder) != PrependScheme::kNever};
  }
  decoder.fail("type",
               "\"Replace\", \"ByteFallback\", \"Fuse\", \"Strip\", \"Metaspace\" or a \"Sequence\" of them");
}

}  // namespace

std::string TokenDecoder::decode(std::vector<std::string> tokens) const {
  for (const Step& step : steps_) std::visit([&](const auto& one) { take_step(one, tokens); }, step);
  take_step(Fuse{}, tokens);
  return std::move(tokens.front());
}

std::string TokenDecoder::bytes_of(std::string_view spelling) const {
  std::string bytes(spelling);
  for (const Step& step : steps_) {
    if (const auto* replace = std::get_if<Replace>(&step)) {
      bytes = replaced(bytes, replace->from, replace->to);
    } else if (const auto* metaspace = std::get_if<Metaspace>(&step)) {
      bytes = replaced(bytes, metaspace->replacement, " ");
    } else if (std::holds_alternative<ByteFallback>(step)) {
      if (const auto byte = byte_of_spelling(bytes)) bytes.assign(1, *byte);
    }
  }
  return bytes;
}

TokenDecoder parse_token_decoder(const JsonObject& decoder) {
  std::vector<TokenDecoder::Step> steps;
  for (const JsonObject& member : members_of(decoder, "decoders")) steps.push_back(parse_step(member));
  return TokenDecoder(std::move(steps));
}

}  // namespace buoy::text
