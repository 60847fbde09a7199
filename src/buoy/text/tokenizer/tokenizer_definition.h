#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/text/tokenizer/added_token.h"
#include "buoy/text/tokenizer/merge_table.h"
#include "buoy/text/tokenizer/normalizer.h"
#include "buoy/text/tokenizer/pre_tokenizer.h"
#include "buoy/text/tokenizer/vocabulary.h"

namespace buoy::text {

// Everything a tokenizer's files say, checked.
struct TokenizerDefinition {
  std::string file;  // named in errors
  std::vector<AddedToken> added_tokens;
  Vocabulary vocabulary;
  MergeTable merges;
  bool ignore_merges = false;
  Normalization normalization = Normalization::kNone;
  PreTokenizer pre_tokenizer;
  std::vector<std::int32_t> prefix;  // ids put around a text with add_special_tokens
  std::vector<std::int32_t> suffix;
};

// The object spelling -> id of a file. Ids must be unique and leave no gap that added tokens do not fill.
Vocabulary parse_vocabulary(const Json& json, std::span<const AddedToken> added_tokens,
                            const std::string& where);

}  // namespace buoy::text
