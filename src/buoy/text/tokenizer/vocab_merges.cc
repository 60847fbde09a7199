#include "buoy/text/tokenizer/vocab_merges.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/utf8.h"

namespace buoy::text {
namespace {

constexpr std::string_view kQwenPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

void check_tokenizer_class(const std::filesystem::path& folder) {
  static constexpr std::array<std::string_view, 3> kKnown = {"DreamTokenizer", "Qwen2Tokenizer",
                                                             "Qwen2TokenizerFast"};
  const auto file = folder / "tokenizer_config.json";
  if (!path_exists(file)) return;
  const Json json = read_json_file(file);
  const JsonObject config(json, file.string());
  const auto name = config.text("tokenizer_class");
  if (name && std::find(kKnown.begin(), kKnown.end(), *name) == kKnown.end()) {
    config.fail("tokenizer_class", "DreamTokenizer or Qwen2Tokenizer, or a tokenizer.json in the folder");
  }
}

std::vector<std::string_view> merge_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (bool first = true; !text.empty(); first = false) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool header = first && line.starts_with("#version");
    if (!header && !line.empty()) lines.push_back(line);
  }
  return lines;
}

MergeTable read_merges(const std::filesystem::path& path, const Vocabulary& vocabulary) {
  const std::string file = path.string();
  const std::string text = read_file(path);
  if (const size_t bad = first_invalid_utf8(text); bad < text.size()) {
    throw_input_error({file, "well-formed UTF-8", fmt::format("a stray byte at offset {}", bad)});
  }
  const auto lines = merge_lines(text);
  MergeTable merges(lines.size());
  for (const std::string_view line : lines) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      throw_input_error({fmt::format("{}: merge {}", file, merges.size()), "two tokens with a space between",
                         fmt::format("\"{}\"", line.substr(0, 60))});
    }
    merges.add(vocabulary, line.substr(0, space), line.substr(space + 1), file);
  }
  return merges;
}

}  // namespace

TokenizerDefinition read_vocab_merges(const std::filesystem::path& folder) {
  const auto vocab_path = folder / "vocab.json";
  const std::string file = vocab_path.string();
  check_tokenizer_class(folder);
  std::vector<AddedToken> added_tokens = read_config_added_tokens(folder);
  add_missing_tokens(added_tokens, read_added_tokens_file(folder), (folder / "added_tokens.json").string());
  for (AddedToken& token : added_tokens) token.normalized = true;

  Vocabulary vocabulary = parse_vocabulary(read_json_file(vocab_path), added_tokens, file);
  check_added_tokens(added_tokens, vocabulary, file);
  MergeTable merges = read_merges(folder / "merges.txt", vocabulary);
  return {file,
          std::move(added_tokens),
          std::move(vocabulary),
          std::move(merges),
          BpeRules{},
          {NormalFormC{}},
          {Splitter(Pattern::expression(kQwenPattern, file), SplitBehavior::kIsolated)},
          TokenDecoder(),
          {},
          {}};
}

}  // namespace buoy::text
