#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::text {

std::filesystem::path data_file(const std::string& name);  // of tests/data/text

Json chat_renderings();  // what released chat templates render

// The small tokenizer of tests/data/text, as text, as JSON and loaded.
std::string tiny_tokenizer_text();
Json tiny_tokenizer_json();
Tokenizer tiny_tokenizer();
// The one over characters, as Llama 2's are.
Json tiny_characters_json();
Tokenizer tiny_characters();

std::filesystem::path fetched_tokenizers();  // the folder of tools/fetch_tokenizers

// A folder of tools/fetch_tokenizers ("llama3", "qwen2_5", ...); nothing when it was not fetched.
std::optional<std::filesystem::path> real_tokenizer_folder(const std::string& name);

// Random well-formed text that mixes scripts, marks, spaces, contractions and emoji.
std::string random_text(std::mt19937& random, size_t characters);

std::string repeat(std::string_view text, size_t bytes);  // whole repetitions only, at most `bytes`

// Begins and ends do not decrease, nothing of the text is left out, and none of it is beyond the end.
void expect_spans_cover(const Encoding& encoding, std::string_view text);

// The message of the Error of type T that `action` throws; fails the test when it does not.
template <typename T, typename Action>
std::string error_message(const Action& action) {
  try {
    action();
  } catch (const T& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

}  // namespace buoy::text

#define BUOY_NEEDS_TOKENIZER(folder, name)         \
  const auto folder = real_tokenizer_folder(name); \
  if (!folder) GTEST_SKIP() << "no " << name << " here; tools/fetch_tokenizers fetches it"
