#include "buoy/run/parts/answer_part.h"

#include <fmt/format.h>

#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/run/answer_file.h"

namespace buoy::run {

AnswerPart::AnswerPart(std::filesystem::path folder, const NumberOf& number_of) : folder_(std::move(folder)) {
  const auto partial = folder_ / kPartialAnswersFile, whole = folder_ / kAnswersFile;
  file_.emplace(partial, "a part of a run");
  complete_ = path_exists(whole);
  const auto& from = complete_ ? whole : partial;
  const std::string text = read_file(from, UINTMAX_MAX);
  std::size_t line = 1, end = 0, begin = 0;
  for (; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++line) {
    std::string one = text.substr(begin, end - begin);
    const auto number = number_of(parse_record(one, fmt::format("{}:{}", from.string(), line)));
    lines_.insert_or_assign(number, std::move(one));
  }
  if (!complete_ && begin < text.size()) file_->truncate(begin);
}

void AnswerPart::reopen() {
  file_->truncate(0);
  for (const auto& [number, line] : lines_) file_->append(line + '\n');
  file_->sync();
  std::filesystem::remove(folder_ / kAnswersFile);
  complete_ = false;
}

void AnswerPart::put(std::size_t number, const AnswerRecord& record) {
  if (complete_) reopen();
  std::string line = to_line(record);
  file_->append(line + '\n');
  lines_.insert_or_assign(number, std::move(line));
}

void AnswerPart::finish() {
  if (!complete_) {
    std::string text;
    for (const auto& [number, line] : lines_) text += line + '\n';
    write_file_atomically(folder_ / kAnswersFile, text);
  }
  file_->remove();
  file_.reset();
}

}  // namespace buoy::run
