#pragma once

#include <filesystem>
#include <string>

#include "buoy/base/file/files.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::questions {

inline std::filesystem::path data_file(const std::string& name) {
  return std::filesystem::path(BUOY_TEST_DATA) / "questions" / name;
}

// Bytes are their own ids; the added tokens are in tests/data/text/tiny_tokenizer.json.
inline text::Tokenizer tiny_tokenizer() {
  const auto file = std::filesystem::path(BUOY_TEST_DATA) / "text/tiny_tokenizer.json";
  return text::Tokenizer::from_json(read_file(file), "tiny_tokenizer.json");
}

}  // namespace buoy::questions
