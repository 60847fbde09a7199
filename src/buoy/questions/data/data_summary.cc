#include "buoy/questions/data/data_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "buoy/questions/score/characters.h"

namespace buoy::questions {
namespace {

std::string show(const Spread& spread) {
  return fmt::format("{} to {}, median {}", spread.least, spread.most, spread.median);
}

// "passages[].text", or "not found".
std::string show_fields(const FieldNames& names) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::string& list, const std::string& name) {
    if (name.empty() || name == FieldNames::kIgnored) return;
    parts.push_back(list.empty() ? fmt::format("{}={}", what, name)
                                 : fmt::format("{}={}[].{}", what, list, name));
  };
  add("id", "", names.id);
  add("question", "", names.question);
  add("answers", names.answer_text.empty() ? "" : names.answers,
      names.answer_text.empty() ? names.answers : names.answer_text);
  add("passages", "", names.passages);
  add("title", names.passages, names.title);
  add("text", names.passages, names.text);
  add("gold", names.passages, names.gold);
  add("has_answer", names.passages, names.has_answer);
  add("prompt", "", names.prompt);
  if (!names.labels.empty()) parts.push_back(fmt::format("labels={}", fmt::join(names.labels, ",")));
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace

Spread SizeCounts::spread() const {
  if (counts_.empty()) return {};
  std::size_t total = 0;
  for (const auto& [size, count] : counts_) total += count;
  const auto at_rank = [&](std::size_t rank) {
    for (const auto& [size, count] : counts_) {
      if (rank < count) return size;
      rank -= count;
    }
    return counts_.rbegin()->first;
  };
  const double median =
      (static_cast<double>(at_rank((total - 1) / 2)) + static_cast<double>(at_rank(total / 2))) / 2;
  return {counts_.begin()->first, median, counts_.rbegin()->first};
}

DataSummary summarise_data(const std::filesystem::path& path, const ReadOptions& options) {
  ItemReader reader(path, options);
  DataSummary summary;
  SizeCounts passages, answers;
  while (const auto item = reader.next()) {
    ++summary.items;
    passages.add(item->passages.size());
    answers.add(item->answers.size());
    summary.with_passages += !item->passages.empty();
    summary.with_prompt += item->prompt.has_value();
    summary.without_answers += item->answers.empty();
    const auto count = [&](auto&& holds) {
      return static_cast<std::size_t>(std::count_if(item->passages.begin(), item->passages.end(), holds));
    };
    const std::size_t gold = count([](const Passage& passage) { return passage.gold; });
    summary.gold_passages += gold;
    summary.with_gold += gold > 0;
    summary.with_has_answer += count([](const Passage& p) { return p.has_answer.value_or(false); }) > 0;
    summary.blank_passages += count([](const Passage& passage) { return is_blank(passage.text); });
  }
  summary.file = path.string();
  summary.compressed = reader.compressed();
  summary.layout = reader.layout();
  summary.fields = reader.fields();
  summary.missing_ids = reader.ids().missing();
  summary.changed_ids = reader.ids().changed();
  summary.passages = passages.spread();
  summary.answers = answers.spread();
  return summary;
}

std::vector<std::pair<std::string, std::string>> summary_lines(const DataSummary& s) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"file", s.file + (s.compressed ? " (gzip)" : "")},
      {"layout", std::string(name_of(s.layout))},
      {"fields", show_fields(s.fields)},
      {"items", fmt::to_string(s.items)},
      {"answers per item", show(s.answers)},
      {"items with passages", fmt::to_string(s.with_passages)},
      {"passages per item", show(s.passages)},
      {"items with a gold passage", fmt::format("{} ({} passages)", s.with_gold, s.gold_passages)},
      {"items with a passage said to hold an answer", fmt::to_string(s.with_has_answer)},
  };
  const auto add_if_any = [&](const char* name, std::size_t count) {
    if (count > 0) lines.emplace_back(name, fmt::to_string(count));
  };
  add_if_any("items with a ready prompt", s.with_prompt);
  add_if_any("items without answers (buoy trace takes them, buoy eval does not)", s.without_answers);
  add_if_any("blank passages", s.blank_passages);
  add_if_any("ids missing, numbered", s.missing_ids);
  add_if_any("ids changed to be unique file names", s.changed_ids);
  return lines;
}

}  // namespace buoy::questions
