#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/text/tokenizer/added_token.h"
#include "buoy/text/tokenizer/bpe.h"
#include "buoy/text/tokenizer/merge_table.h"
#include "buoy/text/tokenizer/steps/text_step.h"
#include "buoy/text/tokenizer/token_decoder.h"
#include "buoy/text/tokenizer/vocabulary.h"

namespace buoy::text {

// Everything a tokenizer's files say, checked.
struct TokenizerDefinition {
  std::string file;  // named in errors
  std::vector<AddedToken> added_tokens;
  Vocabulary vocabulary;
  MergeTable merges;
  BpeRules rules;
  TextSteps normalizer;              // before added tokens with `normalized` are looked for
  TextSteps pre_tokenizer;           // behind it
  TokenDecoder decoder;              // of a vocabulary over characters
  std::vector<std::int32_t> prefix;  // ids put around a text with add_special_tokens
  std::vector<std::int32_t> suffix;
};

// The object spelling -> id of a file. Ids must be unique and leave no gap that added tokens do not fill.
Vocabulary parse_vocabulary(const Json& json, std::span<const AddedToken> added_tokens,
                            const std::string& where, Alphabet alphabet = Alphabet::kBytes);

}  // namespace buoy::text
