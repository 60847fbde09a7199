#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "buoy/questions/data/item_reader.h"

namespace buoy::questions {

struct Spread {
  std::size_t least = 0;
  double median = 0;
  std::size_t most = 0;
};

// What a data set holds, for people.
struct DataSummary {
  std::string file;
  bool compressed = false;
  Layout layout = Layout::kOther;
  FieldNames fields;
  std::size_t items = 0;
  std::size_t with_passages = 0;
  std::size_t with_gold = 0;        // items with a passage marked gold
  std::size_t with_has_answer = 0;  // items with a passage said to hold an answer
  std::size_t with_prompt = 0;
  std::size_t without_answers = 0;  // only where answers are not required
  std::size_t gold_passages = 0;
  std::size_t blank_passages = 0;
  std::size_t missing_ids = 0;  // replaced by numbers
  std::size_t changed_ids = 0;  // repeated, or no file names
  Spread passages;              // per item
  Spread answers;               // per item
};

// How often each size occurs; enough for a median without keeping the items.
class SizeCounts {
 public:
  void add(std::size_t size) { ++counts_[size]; }
  Spread spread() const;

 private:
  std::map<std::size_t, std::size_t> counts_;
};

// Reads the whole file once, an item at a time.
DataSummary summarise_data(const std::filesystem::path& path, const ReadOptions& options = {});

// Name and value of every line of the summary, in the order to show them in.
std::vector<std::pair<std::string, std::string>> summary_lines(const DataSummary& summary);

}  // namespace buoy::questions
