#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/retrieve/passage_splitter.h"

namespace buoy::retrieve {

// Of the tables, the meaning of their columns and how text becomes passages: whatever makes old indexes
// answer differently from new ones.
inline constexpr std::int64_t kIndexVersion = 1;

struct SourceRecord {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;
  std::int64_t documents = 0, passages = 0;

  friend bool operator==(const SourceRecord&, const SourceRecord&) = default;
};

// What an index says of itself.
struct Description {
  std::string tokenizer;  // as FTS5 spells it
  PassageOptions passage_options;
  std::int64_t documents = 0;
  std::int64_t blank_documents = 0;  // among them: without a word, so without a passage
  std::int64_t passages = 0;
  std::string content_sha256;  // of every passage with its title, document and number
  std::vector<SourceRecord> sources;
};

// How FTS5 is to read words: case and diacritics do not count; `stem` also drops English endings.
std::string tokenizer_setting(bool stem);

// The sha256 that stands for what the index answers: version, tokenizer, and every passage with its
// document's id, which for a text file is its name as given.
std::string identity_of(const Description& description);

}  // namespace buoy::retrieve
