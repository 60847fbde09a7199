#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/file/json_file.h"

namespace buoy::questions {

// What the fields of a data set are called. Empty: to be detected, or, after detection, not there.
// kIgnored: not to be read even if it is there.
struct FieldNames {
  static constexpr std::string_view kIgnored = "-";

  std::string id;
  std::string question;
  std::string answers;      // text, number, or a list of them or of objects
  std::string answer_text;  // in those objects
  std::string passages;     // a list of objects, of texts or of key-value pairs
  std::string title;        // in a passage
  std::string text;         // in a passage
  std::string gold;         // in a passage
  std::string has_answer;   // in a passage
  std::string prompt;
  std::vector<std::string> labels;  // fields kept as Item::labels

  friend bool operator==(const FieldNames&, const FieldNames&) = default;
};

enum class Layout {
  kBuoy,      // question, answers, passages[].title/text/gold
  kFid,       // question, answers, ctxs[].title/text/isgold/hasanswer: FiD, DPR, lost-in-the-middle
  kAuthors,   // query or input, output, passage[].segment
  kKilt,      // input, output[].answer
  kKeyValue,  // ordered_kv_records, key, value: lost-in-the-middle
  kPlain,     // question and answers only
  kOther,     // field names given by the user
};

std::string_view name_of(Layout layout);
Layout layout_of(const FieldNames& found);

// Finds out what the fields of a file are called, record by record: a name once found stays, and a field that
// the first records leave out (passages of an item without any) may still turn up later.
class FieldDetector {
 public:
  explicit FieldDetector(FieldNames given) : names_(std::move(given)) {}

  void look_at(const Json& record);
  const FieldNames& names() const { return names_; }

 private:
  FieldNames names_;
};

// The names a field is looked for under, in this order: "question", "query", "input".
std::string question_candidates();
std::string answers_candidates();

}  // namespace buoy::questions
