#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace buoy::questions {

struct Passage {
  std::string title = {};  // may be empty
  std::string text = {};
  bool gold = false;                              // the data set marks it as the evidence
  std::optional<bool> has_answer = std::nullopt;  // the data set says whether an answer occurs in it
};

// One question with its accepted answers.
struct Item {
  std::string id;  // fit to name a file: see item_ids.h
  std::string question;
  std::vector<std::string> answers;  // at least one, none empty, no repeats
  std::vector<Passage> passages;
  std::optional<std::string> prompt;          // ready text to use instead of a template
  std::vector<std::string> source_titles;     // KILT provenance: pages that hold the answer
  std::map<std::string, std::string> labels;  // to group results by: set, kind, ...
};

}  // namespace buoy::questions
