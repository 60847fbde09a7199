#include "buoy/questions/data/field_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>

namespace buoy::questions {
namespace {

using Candidates = std::span<const std::string_view>;

// Those of Buoy first; where a record has several, the first wins.
constexpr std::string_view kIds[] = {"id", "_id", "qid", "question_id", "query_id"};
constexpr std::string_view kQuestions[] = {"question", "query", "input"};
constexpr std::string_view kAnswers[] = {"answers", "answer", "output", "golden_answers"};
constexpr std::string_view kAnswerTexts[] = {"answer", "text"};
constexpr std::string_view kPassages[] = {"passages", "ctxs", "passage"};
constexpr std::string_view kTitles[] = {"title"};
constexpr std::string_view kTexts[] = {"text", "segment", "contents"};
constexpr std::string_view kGolds[] = {"gold", "isgold", "is_gold"};
constexpr std::string_view kHasAnswers[] = {"has_answer", "hasanswer"};
constexpr std::string_view kPromptNames[] = {"prompt"};
constexpr std::string_view kLabels[] = {"source", "set", "dataset", "kind", "relation", "category"};
constexpr std::string_view kKeyValueRecords[] = {"ordered_kv_records"};
constexpr std::string_view kKeys[] = {"key"};
constexpr std::string_view kValueNames[] = {"value"};

bool holds(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

void detect(std::string& name, const Json& object, Candidates candidates) {
  if (!name.empty()) return;
  for (const std::string_view candidate : candidates) {
    if (holds(object, candidate)) {
      name = candidate;
      return;
    }
  }
}

void detect_in_elements(std::string& name, const Json& record, const std::string& list,
                        Candidates candidates) {
  const auto found = record.find(list);
  if (found == record.end() || !found->is_array()) return;
  for (const Json& element : *found) {
    if (!name.empty()) return;
    if (element.is_object()) detect(name, element, candidates);
  }
}

std::string quoted_list(Candidates candidates) {
  return fmt::format("\"{}\"", fmt::join(candidates, "\", \""));
}

}  // namespace

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::kBuoy:
      return "buoy";
    case Layout::kFid:
      return "fid";
    case Layout::kAuthors:
      return "authors";
    case Layout::kKilt:
      return "kilt";
    case Layout::kKeyValue:
      return "key-value";
    case Layout::kPlain:
      return "plain";
    case Layout::kOther:
      return "other";
  }
  return "other";
}

Layout layout_of(const FieldNames& found) {
  if (found.passages == kKeyValueRecords[0]) return Layout::kKeyValue;
  if (found.passages == "passages") return Layout::kBuoy;
  if (found.passages == "ctxs") return Layout::kFid;
  if (found.passages == "passage") return Layout::kAuthors;
  if (!found.passages.empty() && found.passages != FieldNames::kIgnored) return Layout::kOther;
  if (found.question == "input" && found.answers == "output") return Layout::kKilt;
  const auto among = [](const std::string& name, Candidates candidates) {
    return std::find(candidates.begin(), candidates.end(), name) != candidates.end();
  };
  if (!among(found.question, kQuestions) || !among(found.answers, kAnswers)) return Layout::kOther;
  return found.prompt.empty() ? Layout::kPlain : Layout::kBuoy;
}

void FieldDetector::look_at(const Json& record) {
  if (holds(record, kKeyValueRecords[0])) {
    detect(names_.passages, record, kKeyValueRecords);
    detect(names_.question, record, kKeys);
    detect(names_.answers, record, kValueNames);
  }
  detect(names_.id, record, kIds);
  detect(names_.question, record, kQuestions);
  detect(names_.answers, record, kAnswers);
  detect_in_elements(names_.answer_text, record, names_.answers, kAnswerTexts);
  detect(names_.passages, record, kPassages);
  detect_in_elements(names_.title, record, names_.passages, kTitles);
  detect_in_elements(names_.text, record, names_.passages, kTexts);
  detect_in_elements(names_.gold, record, names_.passages, kGolds);
  detect_in_elements(names_.has_answer, record, names_.passages, kHasAnswers);
  detect(names_.prompt, record, kPromptNames);
  for (const std::string_view label : kLabels) {
    const bool known = std::find(names_.labels.begin(), names_.labels.end(), label) != names_.labels.end();
    if (!known && holds(record, label) && record.find(label)->is_primitive())
      names_.labels.emplace_back(label);
  }
}

std::string question_candidates() {
  return quoted_list(kQuestions);
}

std::string answers_candidates() {
  return quoted_list(kAnswers);
}

}  // namespace buoy::questions
